/** What a solver's attempts at a question say by majority, where nobody knows the answer. */
import * as v from 'valibot';
import type { TaskFamily } from '../core/recipe/task-family.ts';
import { majority } from '../core/rl/rewards/index.ts';
import { mean } from '../core/rl/statistics.ts';
import { finite } from '../core/schema/numbers.ts';
import type { RolloutGroup } from '../core/schema/sample.ts';

/** A question, its most frequent answer among the solver's attempts, and that answer's share among all attempts; 0 where no attempt parses. */
export const vote = v.object({ task: v.string(), label: v.nullable(v.string()), share: finite });
export type Vote = Readonly<v.InferOutput<typeof vote>>;

/** What the attempts at each question say [groups]; of equally frequent answers the first one is the label. */
export const votesOf = (
  family: TaskFamily,
  groups: readonly Pick<RolloutGroup, 'task' | 'samples'>[],
  decode: (ids: readonly number[]) => string,
): Vote[] =>
  groups.map(({ task, samples }) => {
    const most = majority(
      samples.map(({ ids, outcome }) => {
        const parsed = outcome === 'ok' ? family.parseSolution(task, decode(ids)) : null;
        return parsed?.ok ? parsed.value.answer : null;
      }),
    );
    return { task, label: most?.answer ?? null, share: most?.share ?? 0 };
  });

/** Figures of some questions, for the report; no reward reads them. `labelAccuracy` is absent where the oracle knows none of the answers. */
export function voteFigures(family: TaskFamily, votes: readonly Vote[]) {
  const known = votes.filter(({ task }) => !family.isUnlabelled?.(task));
  const right = known.map(({ task, label }) =>
    Number(label !== null && family.answerIsExact(task, { steps: [], answer: label })),
  );
  return {
    agreement: mean(votes.map(({ share }) => share)),
    difficulty: mean(votes.map(({ task }) => family.difficulty(task))),
    ...(known.length || !votes.length ? { labelAccuracy: mean(right) } : {}),
  };
}
