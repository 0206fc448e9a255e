/** `policy solve`: what search at test time buys on a file of questions, at equal tokens. */
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { solveQuestions, type Way } from '../../protocols/solve/solve-questions.ts';
import { WAYS, type WayName } from '../../protocols/solve/ways.ts';
import { tokensWith } from '../../protocols/trees/ground.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { percent, points, whole } from '../shared/figures.ts';
import { nameOfSet, type SetName } from '../shared/version-name.ts';
import { type AskedQuestions, openQuestions } from './evaluate.ts';
import { fetchRewardModel, openScorer } from './reward-scores.ts';
import { type LeftOut, leftOutLines, readTaskFiles } from './task-file-options.ts';

export interface SolveRequest extends AskedQuestions {
  readonly tasks: readonly string[];
  readonly limit?: number;
  /** Tokens that a question may take. */
  readonly tokens?: number;
  readonly temperatures: readonly number[];
  readonly alphas: readonly number[];
  readonly rewardModel?: SetName;
  /** The ways that are gone beside the greedy answer; default all that can be. */
  readonly search?: readonly WayName[];
  /** Tokens at most of a step, by which beams and trees grow. */
  readonly piece: number;
  readonly seed: number;
}

export interface Solved {
  readonly n: number;
  readonly tooLong: number;
  readonly leftOut: readonly LeftOut[];
  /** Tokens that a question might take. */
  readonly budget: number;
  readonly ways: readonly Way[];
}

/** Answers of the longest length that the budget has room for, where it is not named. */
const ANSWERS = 8;

/** `begin`: told the name of each way as it begins. */
export async function solveFile(
  gateway: GatewayClient,
  ref: PolicyRef,
  request: SolveRequest,
  begin: (way: string) => void,
): Promise<Solved> {
  const { search = WAYS, rewardModel } = request;
  if (request.search && !rewardModel) expectNoScorer(request.search);
  const leftOut: LeftOut[] = [];
  const read = await readTaskFiles(request.tasks, request, leftOut);
  const opened = await openQuestions(gateway, ref, read.slice(0, request.limit), request);
  const { files, policy, renderer, fit, tooLong, maxNew, checker, extract } = opened;
  const { temperatures, alphas, piece, seed } = request;
  const budget = request.tokens ?? ANSWERS * maxNew;
  try {
    const model = rewardModel && (await fetchRewardModel(gateway, rewardModel, ref, files));
    const scorer = model && (await openScorer(model));
    try {
      const ways = await solveQuestions(fit, {
        ...{ policy, renderer, checker, extract, maxNew, budget, seed, temperatures, alphas, piece, begin },
        ways: search,
        steps: tokensWith(textOf(files, ref.name).tokenizer, '\n'),
        scorer: scorer && { name: nameOfSet(rewardModel!), score: scorer.score },
      });
      return { n: fit.length, tooLong, leftOut, budget, ways };
    } finally {
      await scorer?.dispose();
    }
  } finally {
    await policy.dispose();
  }
}

/** Throws `solve.scorer` where a way was named that only a scorer shows. */
function expectNoScorer(search: readonly WayName[]): void {
  const way = search.find((one) => one === 'beams' || one === 'tree');
  if (way)
    throw wrongInput('solve.scorer', `Nothing says what an unfinished answer is worth, which ${way} needs.`, {
      expected: '--reward-model NAME@N: a version with a class head, or NAME@N/SET: a set of one with a head',
    });
}

export function solvedLines(
  name: string,
  version: number,
  { n, tooLong, leftOut, budget, ways }: Solved,
): string[] {
  const widest = Math.max(...ways.map(({ way }) => way.length));
  const columns = (way: string, ...others: string[]) =>
    `  ${way.padEnd(widest)} ${others.map((text, i) => text.padStart([9, 8, 19, 12, 20][i]!)).join('')}`.trimEnd();
  const range = (low: string, high: string) => `${low} to ${high}`;
  return [
    `${name} ${version} on ${n} questions, ${whole(budget)} tokens each${tooLong ? `; ${tooLong} too long for the model, not asked` : ''}`,
    ...leftOutLines(leftOut),
    columns('', 'tokens', 'right', '95 %', 'over greedy', '95 %'),
    ...ways.map(({ way, tokens, accuracy, overGreedy }, i) =>
      columns(
        way,
        whole(tokens),
        percent(accuracy.share, 1),
        range(percent(accuracy.low, 1), percent(accuracy.high, 1)),
        ...(i === 0 ? [] : [points(overGreedy.mean), range(points(overGreedy.low), points(overGreedy.high))]),
      ),
    ),
  ];
}
