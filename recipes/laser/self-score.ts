/** What a policy says of its own answers by the log-probability of a token that no answer has, and what that is used for. */
import { grpo } from '../../core/rl/estimators/index.ts';
import { positionsByKey } from '../../core/rl/groups.ts';
import { areaUnderRoc } from '../../core/rl/measures/area-under-roc.ts';
import { majority, weightedMajority } from '../../core/rl/rewards/index.ts';
import { deviation, mean } from '../../core/rl/statistics.ts';
import type { Key, Maybe } from '../../core/rl/types.ts';

/** The scale of the score, 1 / nat. */
export const BETA = 0.1;

/** logprobs [answers] and `reference`, nats -> scores [answers]: 0 where the token is as likely as at the start, 1 where it is ten nats likelier. */
export const scoresOf = (logprobs: readonly number[], reference: number): number[] =>
  logprobs.map((logprob) => BETA * (logprob - reference));

const clipped = (scores: readonly number[]): number[] =>
  scores.map((score) => Math.min(1, Math.max(0, score)));

/** Groups whose clipped scores spread less than this give no credit by them. */
const SPREAD = 0.1;
/** The weight of the scores' part in an advantage. */
const SHARE = 0.1;

/**
 * Advantages [answers] to which the self-scores add: 0.9·A + 0.1·z, with z the score, clipped to [0, 1], minus the group's mean and divided by
 * its deviation. In groups of which the scores hardly differ A stays as it is. groups [answers].
 */
export function withSelfScores(
  advantages: readonly Maybe[],
  scores: readonly number[],
  groups: readonly Key[],
): Maybe[] {
  const within = clipped(scores);
  const normal = grpo(within, groups);
  const spread = new Set(
    [...positionsByKey(groups)].flatMap(([group, at]) =>
      at.length > 1 &&
      deviation(
        at.map((i) => within[i]!),
        1,
      ) > SPREAD
        ? [group]
        : [],
    ),
  );
  return advantages.map((advantage, i) =>
    advantage === null || !spread.has(groups[i]!) ? advantage : (1 - SHARE) * advantage + SHARE * normal[i]!,
  );
}

/** An answer with its self-score; `answer` is null where the text holds none. */
export interface ScoredAnswer {
  readonly group: string;
  readonly answer: string | null;
  readonly exact: boolean;
  readonly score: number;
}

/**
 * How well self-scores tell right answers from wrong ones, by the oracle: the mean scores of both; `auc` over all answers, `groupAuc` as a mean over groups with answers
 * of both kinds; and the shares of groups whose majority is exact, counted (`vote`) and weighted by the clipped scores (`scoredVote`).
 */
export function scoreFigures(answers: readonly ScoredAnswer[]): Record<string, number> {
  const aucOf = (some: readonly ScoredAnswer[]) =>
    areaUnderRoc(
      some.map(({ score }) => score),
      some.map(({ exact }) => exact),
    );
  const groups = [...positionsByKey(answers.map(({ group }) => group)).values()].map((at) =>
    at.map((i) => answers[i]!),
  );
  const mixed = groups.filter((group) => new Set(group.map(({ exact }) => exact)).size === 2);
  const wins = (group: readonly ScoredAnswer[], winner: string | undefined) =>
    Number(group.some(({ answer, exact }) => exact && answer === winner));
  const counted = groups.map((group) => majority(group.map(({ answer }) => answer))?.answer);
  const weighted = groups.map(
    (group, g) =>
      weightedMajority(
        group.map(({ answer }) => answer),
        clipped(group.map(({ score }) => score)),
      )?.answer ?? counted[g],
  );
  const meanOf = (some: readonly ScoredAnswer[]) => mean(some.map(({ score }) => score));
  const [right, wrong] = [answers.filter(({ exact }) => exact), answers.filter(({ exact }) => !exact)];
  return {
    ...(right.length ? { scoreRight: meanOf(right) } : {}),
    ...(wrong.length ? { scoreWrong: meanOf(wrong) } : {}),
    auc: aucOf(answers),
    ...(mixed.length ? { groupAuc: mean(mixed.map(aucOf)) } : {}),
    vote: mean(groups.map((group, g) => wins(group, counted[g]))),
    scoredVote: mean(groups.map((group, g) => wins(group, weighted[g]))),
  };
}
