/** Makes a round's report, for the mesh's learner and for a run in one process alike: the same round gives the same report. */
import { monitorRound } from '../monitor/monitors.ts';
import { missingReasons, warningsOf } from '../monitor/warnings.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { openEvaluationContext, type RoundContextParts } from '../recipe/round-context.ts';
import type {
  Earnings,
  EvaluationReport,
  RoundMonitors,
  RoundReport,
  TrainingReport,
} from '../schema/report.ts';
import type { RunSettings } from '../schema/round.ts';
import type { Proposals, ScoredGroup } from '../schema/sample.ts';
import { changesOf } from '../statistics/change.ts';
import { aheadOf } from './rounds-ahead.ts';

/** A round that was trained. */
export interface TrainedRecords {
  readonly recipe: Pick<Recipe, 'describe' | 'staleness' | 'rewards' | 'isMeasured'>;
  readonly settings: Pick<RunSettings, 'weights' | 'ahead' | 'rewardFunction'>;
  /** The monitors of the run's first round; absent in that round. */
  readonly first?: RoundMonitors | undefined;
  readonly decode: (ids: readonly number[]) => string;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  readonly trained: {
    readonly report: TrainingReport;
    readonly figures: Readonly<Record<string, number>>;
    readonly earnings: Earnings;
  };
  /** What was left out of the training, and why, in words. */
  readonly refusals?: readonly string[];
}

export interface RoundTimes {
  /** From the round's creation until its last group was judged, ms; absent where it is not known. */
  readonly rolloutMs?: number;
  readonly learnerMs: number;
}

/** How many characters of a question a sentence about it repeats. */
const SHOWN = 60;

/** What is said of tasks that were not asked; empty where all were. */
function leftOutWords({ leftOut = [] }: Proposals, { title }: NonNullable<Recipe['describe']>): string[] {
  const [longest] = [...leftOut].sort((a, b) => b.tokens - a.tokens);
  if (!longest) return [];
  const text = title
    ? title(longest.task)
        .map((part) => part.text)
        .join(' ')
    : longest.task;
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const what = leftOut.length === 1 ? '1 question was' : `${leftOut.length} questions were`;
  return [
    `${what} left out because prompt and answer do not fit the policy’s positions: up to ${longest.tokens} tokens (“${shown}”).`,
  ];
}

export function reportRound(
  { recipe, settings, first, decode, proposals, groups: all, trained, refusals = [] }: TrainedRecords,
  times: RoundTimes,
): RoundReport {
  const groups = all.filter(({ task }) => !recipe.isMeasured?.(task));
  const { report: training, figures, earnings } = trained;
  const ownScale = recipe.rewards[settings.rewardFunction]?.ownScale === true;
  const monitors = monitorRound({ ...recipe, ownScale }, decode, proposals, groups);
  const sampled = {
    weights: settings.weights,
    stale: aheadOf(settings) + (recipe.staleness ?? 0) > 0,
    first,
  };
  return {
    monitors,
    training,
    figures,
    ...(Object.keys(earnings).length ? { earnings } : {}),
    warnings: [
      ...warningsOf(monitors, training, sampled, missingReasons(groups)),
      ...leftOutWords(proposals, recipe.describe ?? {}),
      ...refusals,
    ],
    ...times,
  };
}

/**
 * Runs the held-out evaluation of a version. `kept` holds what evaluations of one run share; `start` is that of the version that the run began from,
 * which may still be made.
 */
export const evaluateVersion = async (
  { evaluate }: Pick<Recipe, 'evaluate'>,
  parts: RoundContextParts,
  version: number,
  kept: Map<string, Promise<unknown>>,
  start?: EvaluationReport | Promise<EvaluationReport | undefined>,
): Promise<EvaluationReport> => {
  const evaluated = await evaluate(openEvaluationContext(parts, version, kept));
  const from = await start;
  return {
    version,
    ...evaluated,
    ...(from ? { changes: changesOf(from, evaluated) } : {}),
  };
};
