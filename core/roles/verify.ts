/** A verifier reads solutions and says of each step and of the whole whether they are right, several times where votes are asked for. What its verdicts are worth is for a recipe to say. */
import { judgmentId } from '../sample-ids.ts';
import type { RolledGroup, Sample } from '../schema/sample.ts';
import { type Judgment, type Reading, refuse, type Solution, type TaskFamily } from '../tasks/family.ts';
import { type Stage, sampleOf } from './stage.ts';

export interface Verification {
  /** Without rewards; `of` is the solution's sample. */
  readonly sample: Sample;
  readonly reading: Reading<Judgment>;
}

/** What a group's samples say [samples]. */
export const readGroup = (
  family: TaskFamily,
  { tokenizer }: Pick<Stage, 'tokenizer'>,
  { task, samples }: RolledGroup,
): Reading<Solution>[] =>
  samples.map(({ ids, outcome }) =>
    outcome === 'ok' ? family.readSolution(task, tokenizer.decode(ids)) : refuse(outcome),
  );

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
  stage: Stage,
  groups: readonly RolledGroup[],
  solutionsGS: readonly (readonly Reading<Solution>[])[],
  { family, role, votes, shown = Number.POSITIVE_INFINITY }: Votes,
): Promise<Verification[][][]> {
  const { tokenizer } = stage;
  const asked = groups.flatMap((group, g) =>
    group.samples.slice(0, shown).flatMap((sample, s) => {
      const solution = solutionsGS[g]![s]!;
      if (!solution.ok) return [];
      const ids = tokenizer.encode(family.judgePrompt(group.task, solution.value));
      const sampleIds = Array.from({ length: votes }, (_, i) => judgmentId(sample.id, role, i));
      return [{ g, s, of: sample.id, solution: solution.value, prompt: { ids, sampleIds } }];
    }),
  );
  const completions = await stage.generate(
    role,
    asked.map(({ prompt }) => prompt),
  );
  const out: Verification[][][] = groups.map(({ samples }) => samples.map(() => []));
  for (const [a, { g, s, of, solution, prompt }] of asked.entries())
    out[g]![s] = completions[a]!.map((completion, i) => {
      const reading = completion.stopped
        ? family.readJudgment(solution, tokenizer.decode(completion.ids))
        : refuse('cut-off');
      const outcome = reading.ok ? 'ok' : reading.reason;
      const sample = sampleOf(stage, role, prompt.sampleIds[i]!, prompt.ids, completion, outcome);
      return { sample: { ...sample, of }, reading };
    });
  return out;
}
