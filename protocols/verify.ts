/** A verifier reads solutions and says of each step and of the whole whether they are right, several times where votes are asked for. What its verdicts are worth is for a recipe to say. */
import { type RoundContext, sampleOf } from '../core/round-context.ts';
import { judgmentId } from '../core/sample-ids.ts';
import type { RolloutGroup, Sample } from '../core/schema/sample.ts';
import {
  invalid,
  type Judgment,
  type ParseResult,
  rendered,
  type Solution,
  type TaskFamily,
} from '../core/task-family.ts';

export interface Verification {
  /** Without rewards; `of` is the solution's sample. */
  readonly sample: Sample;
  readonly parsed: ParseResult<Judgment>;
}

/** What a group's samples say [samples]. */
export const parseGroup = (
  given: TaskFamily,
  context: Pick<RoundContext, 'tokenizer' | 'renderer'>,
  { task, samples }: RolloutGroup,
): ParseResult<Solution>[] => {
  const family = rendered(given, context);
  return samples.map(({ ids, outcome }) =>
    outcome === 'ok' ? family.parseSolution(task, context.tokenizer.decode(ids)) : invalid(outcome),
  );
};

export interface Votes {
  readonly family: TaskFamily;
  readonly role: string;
  /** Verdicts sampled for each solution. */
  readonly votes: number;
  /** How many of a group's samples are shown to the verifier, the first ones; default all. */
  readonly shown?: number;
}

/** Verdicts [groups][samples][votes]; none on what is no solution. Prompts of all groups share one batch. */
export async function verify(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  solutionsGS: readonly (readonly ParseResult<Solution>[])[],
  { family: given, role, votes, shown = Number.POSITIVE_INFINITY }: Votes,
): Promise<Verification[][][]> {
  const { tokenizer } = context;
  const family = rendered(given, context);
  const asked = groups.flatMap((group, g) =>
    group.samples.slice(0, shown).flatMap((sample, s) => {
      const solution = solutionsGS[g]![s]!;
      if (!solution.ok) return [];
      const ids = tokenizer.encode(family.judgePrompt(group.task, solution.value));
      const sampleIds = Array.from({ length: votes }, (_, i) => judgmentId(sample.id, role, i));
      return [{ g, s, of: sample.id, solution: solution.value, prompt: { ids, sampleIds } }];
    }),
  );
  const completions = await context.generate(
    role,
    asked.map(({ prompt }) => prompt),
  );
  const out: Verification[][][] = groups.map(({ samples }) => samples.map(() => []));
  for (const [a, { g, s, of, solution, prompt }] of asked.entries())
    out[g]![s] = completions[a]!.map((completion, i) => {
      const parsed = completion.stopped
        ? family.parseJudgment(solution, tokenizer.decode(completion.ids))
        : invalid('cut-off');
      const outcome = parsed.ok ? 'ok' : parsed.reason;
      const sample = sampleOf(context, role, prompt.sampleIds[i]!, prompt.ids, completion, outcome);
      return { sample: { ...sample, of }, parsed };
    });
  return out;
}
