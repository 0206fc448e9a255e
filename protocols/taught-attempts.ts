/**
 * Attempts at arithmetic chains, for a teacher that reads an aid beside the task. Each recipe makes its own aid; the one that two recipes share is
 * here, that of SDPO (arXiv:2601.20802): a right solution by a sibling, or the checker's feedback on the attempt.
 */

import type {
  Divergence,
  LearnTools,
  RoundRecords,
  TrainingPlan,
  WeightsRef,
} from '../core/plan/training-plan.ts';
import { solutionOf } from '../core/recipe/task-family.ts';
import { grpo } from '../core/rl/estimators/index.ts';
import { mean } from '../core/rl/statistics.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { aidedPrompt } from '../worlds/arithmetic/aided.ts';
import { arithmetic } from '../worlds/arithmetic/family.ts';
import { feedbackOn, firstFault, partOfTokens } from '../worlds/arithmetic/feedback.ts';
import { groupItems, solverUpdate } from './solver.ts';
import { surprise, type TaughtSample, teacherPass } from './teacher-pass.ts';

/** What the teacher may be told: a sibling's solution or else feedback, or only one of the two. */
export type Told = 'both' | 'sibling' | 'feedback';

type Group = Pick<ScoredGroup, 'task' | 'samples'>;
type Texts = Pick<LearnTools, 'decode' | 'encode'>;

/** The text beside the task for the teacher of a group's sample number `sample`; null where there is nothing to tell. */
export type AidFor = (group: Group, sample: number) => string | null;

/** The text of a solution without its stop token, as an aid. */
const withoutStop = (text: string): string => text.slice(0, -arithmetic.stop!.length);

/** `checked`: whether the run's reward comes from the checker. Only then is the teacher told what the checker says. */
export const siblingOrFeedback =
  (
    tools: Pick<Texts, 'decode'>,
    { told, checked }: { readonly told: Told; readonly checked: boolean },
  ): AidFor =>
  (group, sample) => {
    const paid = group.samples.map(({ rewards: { reward } }) => (reward ?? 0) > 0);
    const sibling = told === 'feedback' ? -1 : paid.findIndex((isPaid, i) => isPaid && i !== sample);
    if (sibling >= 0) return withoutStop(tools.decode(group.samples[sibling]!.ids));
    if (told === 'sibling' || !checked || paid[sample]) return null;
    const attempt = solutionOf(arithmetic, group.task, group.samples[sample]!, tools);
    return attempt.ok ? feedbackOn(group.task, attempt.value) : null;
  };

/** An attempt with its teacher’s prompt and its task, and where its first fault is by the oracle. */
export interface TaughtAttempt extends TaughtSample {
  readonly sample: ScoredGroup['samples'][number];
  /** Whether each token belongs to the first wrong part [ids]; null for an attempt that is exact or does not parse, and where no oracle knows steps. */
  readonly atFault: readonly boolean[] | null;
  readonly exact: boolean;
}

/** The attempts of a round whose teachers have something to read. `shuffled`: each teacher reads what belongs to the next group’s task. */
export function taughtAttempts(
  groups: readonly Group[],
  tools: Texts,
  aidFor: AidFor,
  { shuffled = false }: { readonly shuffled?: boolean } = {},
): TaughtAttempt[] {
  const tags = ['<step>', '<answer>'].flatMap((tag) => tools.encode(tag));
  return groups.flatMap((group, g) =>
    group.samples.flatMap((sample, s): TaughtAttempt[] => {
      const from = shuffled ? groups[(g + 1) % groups.length]! : group;
      const aid = from.samples[s] && sample.ids.length ? aidFor(from, s) : null;
      if (aid === null) return [];
      const solution = solutionOf(arithmetic, group.task, sample, tools);
      const fault = solution.ok ? firstFault(group.task, solution.value) : null;
      return [
        {
          sample,
          context: tools.encode(aidedPrompt(group.task, aid)),
          atFault: fault === null ? null : partOfTokens(sample.ids, tags).map((part) => part === fault),
          exact: solution.ok && fault === null,
        },
      ];
    }),
  );
}

/** What the figures of `taughtAlone` mean. */
export const TAUGHT_FIGURES = {
  taught: 'Share of the attempts that a teacher corrected.',
  atFault:
    'Mean log-ratio of the policy to the teacher at the first wrong step of wrong attempts, nats per token; above 0 the teacher disagrees.',
  elsewhere:
    'Mean log-ratio of the policy to the teacher at all other tokens of wrong attempts, nats per token.',
  inExact: 'Mean log-ratio of the policy to the teacher in exact attempts, nats per token.',
  inOthers:
    'Mean log-ratio of the policy to the teacher in attempts that are not exact and whose steps cannot be checked, nats per token.',
} as const;

/**
 * Means of the log-ratio of policy to teacher (`surprise`, nats), by the oracle: in wrong attempts at the first fault and elsewhere, in exact
 * attempts, and in those of which it knows no more than that they are not exact. A mean over no tokens is left out.
 */
async function surpriseFigures(
  tools: Pick<LearnTools, 'score'>,
  attempts: readonly TaughtAttempt[],
  teacher: WeightsRef,
): Promise<Record<string, number>> {
  const ratios = await surprise(tools, attempts, teacher.set, teacher.version);
  const over = (chosen: (attempt: TaughtAttempt, token: number) => boolean) =>
    ratios.flatMap((row, i) => row.filter((_, t) => chosen(attempts[i]!, t)));
  const figures = {
    atFault: over(({ atFault }, t) => atFault?.[t] === true),
    elsewhere: over(({ atFault }, t) => atFault?.[t] === false),
    inExact: over(({ exact }) => exact),
    inOthers: over(({ exact, atFault }) => !exact && atFault === null),
  };
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, values]) => (values.length ? [[name, mean(values)]] : [])),
  );
}

/** How the attempts of a round are taught. */
export interface Teaching {
  /** The parameter set of the teacher. */
  readonly set: string;
  /** The version of the teacher's weights; default the one that the round trains from. */
  readonly version?: number;
  readonly divergence: Divergence;
}

/**
 * A round that is trained by teachers alone, where every token of an attempt counts the same. `attempts`: those of the round whose teachers have
 * something to read. Its figures are the share of attempts that were taught, and where policy and teacher disagree.
 */
export async function taughtAlone(
  { groups, version: parent }: Pick<RoundRecords, 'groups' | 'version'>,
  tools: Pick<LearnTools, 'score'>,
  attempts: readonly TaughtAttempt[],
  { set, version = parent, divergence }: Teaching,
): Promise<TrainingPlan> {
  const samples = groups.reduce((sum, group) => sum + group.samples.length, 0);
  const taught = { taught: samples ? attempts.length / samples : 0 };
  if (attempts.length === 0) return { updates: [], figures: taught };
  return {
    updates: [{ set: MAIN_SET, parts: [teacherPass(attempts, { set, version, weight: 1, divergence })] }],
    figures: { ...taught, ...(await surpriseFigures(tools, attempts, { set, version })) },
  };
}

/** A round without a teacher, to compare with: rewards train all attempts, by GRPO with a clip of 0.2 and a mean over tokens. */
export const rewardsAlone = (groups: RoundRecords['groups']): TrainingPlan => ({
  updates: solverUpdate(groupItems(groups, grpo), {
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'token-mean' },
  }),
});
