/**
 * Attempts for a teacher that reads something beside the task. Each recipe decides what; the choice that two recipes share is here, that of SDPO
 * (arXiv:2601.20802): a right solution by a sibling, or else a checker's feedback on the attempt.
 */
import type { Game, Speaker } from '../core/game/game.ts';
import type {
  Divergence,
  LearnTools,
  RoundRecords,
  TrainingPlan,
  WeightsRef,
} from '../core/plan/training-plan.ts';
import { rendered, solutionOf } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { grpoUpdate } from './objectives.ts';
import { surprise, type TaughtSample, teacherPass } from './teacher-pass.ts';

/** What the teacher may be told: a sibling's solution or else feedback, or only one of the two. */
export type Told = 'both' | 'sibling' | 'feedback';

/** A game whose teachers can be told a solution, or what was said about an attempt. */
export type TaughtGame = Game<'solve' | 'retell' | 'correct'>;

type Group = Pick<ScoredGroup, 'task' | 'samples' | 'answersExact' | 'judgments'>;
type Texts = Pick<LearnTools, 'decode' | 'encode'> & Speaker;

/** What the teacher of a group's sample number `sample` is told beside a task, as a prompt for that task; null where there is nothing to tell. */
export type AidFor = (group: Group, sample: number) => ((task: string) => string) | null;

/** The solution in an attempt. */
export const attemptOf = (
  { family }: Pick<Game<never>, 'family'>,
  { task, samples }: Pick<Group, 'task' | 'samples'>,
  sample: number,
  tools: Pick<Texts, 'decode' | 'renderer'>,
) => solutionOf(rendered(family, tools), task, samples[sample]!, tools);

/** What was paid something. A reward that is missing says nothing. */
export const isPaid = ({ rewards: { reward } }: Pick<ScoredGroup['samples'][number], 'rewards'>): boolean =>
  typeof reward === 'number' && reward > 0;

/** How a recipe with a teacher differs from its paper where nobody checks steps. */
export const SIBLINGS_ALONE =
  'The teacher is told nothing but a right solution by a sibling: a checker of answers has no feedback that says more than right or wrong. Where no sibling is right there is nothing to tell.';

/** `checked`: whether the run's reward comes from the checker. Only then is the teacher told what the checker says. */
export const siblingOrFeedback =
  (
    { family, words, steps, said }: TaughtGame,
    tools: Texts,
    { told, checked }: { readonly told: Told; readonly checked: boolean },
  ): AidFor =>
  (group, sample) => {
    const { task, samples } = group;
    const sibling = told === 'feedback' ? undefined : samples.find((one, i) => i !== sample && isPaid(one));
    if (sibling) {
      const solution = said(tools.decode(sibling.ids), tools);
      return solution === '' ? null : (about) => words.retell.ask({ task: about, solution }, tools);
    }
    // Of an attempt without a reward nobody knows whether there is anything to correct.
    if (told === 'sibling' || !checked || !steps || samples[sample]!.rewards.reward !== 0) return null;
    const attempt = attemptOf({ family }, group, sample, tools);
    const feedback = attempt.ok ? steps.feedback(task, attempt.value) : null;
    return feedback === null ? null : (about) => words.correct.ask({ task: about, feedback }, tools);
  };

/** An attempt with its teacher’s prompt and its task, and where its first fault is by the oracle. */
export interface TaughtAttempt extends TaughtSample {
  readonly sample: ScoredGroup['samples'][number];
  /** Whether each token belongs to the first wrong part [ids]; null for an attempt that is exact or does not parse, and where no oracle knows steps. */
  readonly atFault: readonly boolean[] | null;
  readonly exact: boolean;
}

/** The attempts of a round whose teachers have something to read. `shuffled`: each teacher reads what belongs to the next group’s task. */
export const taughtAttempts = (
  { family, steps }: Pick<TaughtGame, 'family' | 'steps'>,
  groups: readonly Group[],
  tools: Texts,
  aidFor: AidFor,
  { shuffled = false }: { readonly shuffled?: boolean } = {},
): TaughtAttempt[] =>
  groups.flatMap((group, g) =>
    group.samples.flatMap((sample, s): TaughtAttempt[] => {
      const from = shuffled ? groups[(g + 1) % groups.length]! : group;
      const aid = from.samples[s] && sample.ids.length ? aidFor(from, s) : null;
      if (!aid) return [];
      const attempt = attemptOf({ family }, group, s, tools);
      const fault = steps && attempt.ok ? steps.firstFault(group.task, attempt.value) : null;
      return [
        {
          sample,
          context: tools.encode(aid(group.task)),
          atFault:
            steps && fault !== null
              ? steps.partsOf(sample.ids, tools.encode).map((part) => part === fault)
              : null,
          exact: steps ? attempt.ok && fault === null : group.answersExact[s] === true,
        },
      ];
    }),
  );

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
  updates: grpoUpdate(groups),
});
