/** Credit for the tokens of each step of a solution, by a verifier's marks on the steps. */
import type { LearnTools } from '../core/plan/training-plan.ts';
import type { TokenIds } from '../core/policy/policy.ts';
import { type Judgment, type ParseResult, rendered, type TaskFamily } from '../core/recipe/task-family.ts';
import { processGrpo, spreadSteps } from '../core/rl/estimators/index.ts';
import { mean } from '../core/rl/statistics.ts';
import type { Sample, ScoredGroup } from '../core/schema/sample.ts';

/** A solution with the first verdict on it, parsed; `stepsExact` [steps] is the oracle's result for each step, for reports alone. */
export interface Verified {
  readonly group: string;
  readonly sample: Sample;
  readonly verdict: ParseResult<Judgment> | undefined;
  readonly stepsExact: readonly boolean[];
}

export const readVerified = (
  given: TaskFamily,
  groups: readonly ScoredGroup[],
  tools: Pick<LearnTools, 'decode' | 'renderer'>,
): Verified[] => {
  const family = rendered(given, tools);
  const { decode } = tools;
  return groups.flatMap(({ group, task, samples, judgments }) =>
    samples.map((sample) => {
      const solution = family.parseSolution(task, decode(sample.ids));
      const first = judgments.find(({ of }) => of === sample.id);
      if (!solution.ok) return { group, sample, verdict: undefined, stepsExact: [] };
      const verdict = first && family.parseJudgment(solution.value, decode(first.ids));
      return { group, sample, verdict, stepsExact: family.exactJudgment(task, solution.value).steps };
    }),
  );
};

/** ±1/K for each of K steps, so that long solutions are not paid more; all 0 where no verdict parses. -> [steps] */
export function stepRewards({
  verdict,
  stepsExact: { length },
}: Pick<Verified, 'verdict' | 'stepsExact'>): number[] {
  const marks = verdict?.ok ? verdict.value.steps : [];
  return Array.from({ length }, (_, s) => (marks.length === length ? (marks[s] ? 1 : -1) / length : 0));
}

/**
 * The step that each token belongs to [tokens]. A step begins with the token `opens` and ends with the token `closes`; -1 is a token outside every
 * step.
 */
export function stepOfToken(ids: TokenIds, opens: number, closes: number): number[] {
  let step = -1;
  let inside = false;
  return ids.map((id) => {
    if (id === opens) step++;
    inside = id === opens || (inside && id !== closes);
    return inside ? step : -1;
  });
}

/** Says which step each token of a family's solutions belongs to; where a solution is one step, all tokens belong to it. */
export function stepReader(
  { renderedBy }: Pick<TaskFamily, 'renderedBy'>,
  encode: LearnTools['encode'],
): (ids: TokenIds) => number[] {
  if (renderedBy) return (ids) => ids.map(() => 0);
  const [opens, closes] = encode('<step><answer>') as [number, number];
  return (ids) => stepOfToken(ids, opens, closes);
}

/** Step rewards, standardised over the group and summed to go, on the tokens of each step [solutions][tokens]. */
export function stepAdvantages(
  verified: readonly Verified[],
  stepsOf: (ids: TokenIds) => number[],
): number[][] {
  const steps = processGrpo(
    verified.map(stepRewards),
    verified.map(({ group }) => group),
    { epsilon: 1e-6 },
  );
  // A text that does not parse may hold tags of steps, and still has no steps.
  return verified.map(({ sample: { ids }, stepsExact }, i) =>
    stepsExact.length ? spreadSteps(steps[i]!, stepsOf(ids)) : ids.map(() => 0),
  );
}

/** What the figures of `approvalFigures` mean. */
export const APPROVAL_FIGURES = {
  approved: 'Share of the steps that verdicts mark as right, over the verdicts that parse.',
  approvalGap:
    'Share of the steps that verdicts mark as right, less the share that is right by the oracle; above 0 the verifier overrates.',
  unread: 'Share of the solutions whose verdict does not parse.',
} as const;

/** How much the verifier overrates the steps, by the oracle; for the report alone. */
export function approvalFigures(verified: readonly Verified[]): Record<string, number> {
  const read = verified.flatMap(({ verdict, stepsExact }) =>
    verdict?.ok ? [{ marks: verdict.value.steps, stepsExact }] : [],
  );
  const share = (marks: readonly boolean[]) => mean(marks.map(Number));
  const approved = share(read.flatMap(({ marks }) => marks));
  return {
    approved,
    approvalGap: approved - share(read.flatMap(({ stepsExact }) => stepsExact)),
    unread: share(verified.map(({ verdict }) => verdict !== undefined && !verdict.ok)),
  };
}
