/**
 * A verifier reads solutions and says whether each step and the whole are right, several times where votes are asked for. The recipe decides what its
 * verdicts are worth.
 */
import type { RoundContext } from '../core/recipe/round-context.ts';
import {
  type Judgment,
  type ParseResult,
  rendered,
  type Solution,
  solutionOf,
  type TaskFamily,
} from '../core/recipe/task-family.ts';
import type { RolloutGroup } from '../core/schema/sample.ts';
import { type Answer, ask } from './ask-about-samples.ts';

/** What a group's samples say [samples]. */
export const parseGroup = (
  given: TaskFamily,
  context: Pick<RoundContext, 'tokenizer' | 'renderer'>,
  { task, samples }: RolloutGroup,
): ParseResult<Solution>[] => {
  const family = rendered(given, context);
  return samples.map((sample) => solutionOf(family, task, sample, context.tokenizer));
};

export interface Votes {
  readonly family: TaskFamily;
  readonly role: string;
  /** Verdicts sampled for each solution. */
  readonly votes: number;
  /** How many of a group's samples are shown to the verifier (the first ones); default all. */
  readonly shown?: number;
}

/** Verdicts [groups][samples][votes]; none on a text that is not a solution. The prompts of all groups share one batch. */
export async function verify(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  solutionsGS: readonly (readonly ParseResult<Solution>[])[],
  { family: given, role, votes, shown = Number.POSITIVE_INFINITY }: Votes,
): Promise<Answer<Judgment>[][][]> {
  const family = rendered(given, context);
  const asked = groups.flatMap((group, g) =>
    group.samples.slice(0, shown).flatMap(({ id: of }, s) => {
      const solution = solutionsGS[g]![s]!;
      if (!solution.ok) return [];
      const prompt = family.judgePrompt(group.task, solution.value);
      const parse = (text: string) => family.parseJudgment(solution.value, text);
      return [{ g, s, question: { of, prompt, parse } }];
    }),
  );
  const answers = await ask(
    context,
    role,
    asked.map(({ question }) => question),
    votes,
  );
  const out: Answer<Judgment>[][][] = groups.map(({ samples }) => samples.map(() => []));
  for (const [a, { g, s }] of asked.entries()) out[g]![s] = answers[a]!;
  return out;
}
