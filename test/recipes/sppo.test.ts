/** SPPO's game by hand: who is preferred to whom, and which pair a group makes. */
import { expect, test } from 'vitest';
import type { LearnTools, Sequence } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import {
  openEvaluationContext,
  openRoundContext,
  type RoundContextParts,
} from '../../core/recipe/round-context.ts';
import { exploitability } from '../../core/rl/measures/exploitability.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { winRatePairs } from '../../protocols/win-rates.ts';
import { sppo } from '../../recipes/sppo/recipe.ts';
import { isHeldOutStyle, styleScore } from '../../worlds/style/family.ts';
import { mixtureOf, preference, STYLE_WINS, styleGameTask, styleOf } from '../../worlds/style/game.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';

const TASK = 'az 2-4:tok bel ana dim';
const SETTINGS = {
  recipe: 'sppo',
  seed: 0,
  policy: 'p',
  rewardFunction: 'preference',
  freeze: [],
  tasks: 2,
  groupSize: 5,
};
const logit = (p: number) => Math.log(p / (1 - p));

test('styles are by number of words', () => {
  expect(['ana', 'ana bel', 'ana bel dim', 'ana bel dim tok', 'a a a a a'].map(styleOf)).toEqual([
    0, 0, 1, 2, 2,
  ]);
});

test('short beats medium beats long beats short, by the same odds', () => {
  const [short, medium, long] = ['ana bel', 'ana bel dim', 'ana bel dim tok'] as const;
  for (const [winner, loser] of [
    [short, medium],
    [medium, long],
    [long, short],
  ] as const) {
    expect(logit(preference(TASK, winner, loser))).toBeCloseTo(2, 10);
    expect(logit(preference(TASK, loser, winner))).toBeCloseTo(-2, 10);
    expect(preference(TASK, winner, winner)).toBe(0.5);
  }
});

test('a point of the rubric counts a quarter of a logit', () => {
  // Same style, out of order: one point less.
  expect(logit(preference(TASK, 'ana bel', 'bel ana'))).toBeCloseTo(0.25, 10);
  // A repeated word that is not of the source: two points less.
  expect(logit(preference(TASK, 'ana bel', 'zzz zzz'))).toBeCloseTo(0.5, 10);
  // A text that is no response has no points at all, and no style to win by: five points less.
  expect(logit(preference(TASK, 'ana bel', null))).toBeCloseTo(1.25, 10);
  expect(preference(TASK, null, null)).toBe(0.5);
});

test('tasks of the game admit every style with all points, and keep to their side of the split', () => {
  const random = new Random('style game');
  for (const heldOut of [false, true]) {
    const task = styleGameTask(random, heldOut);
    const sorted = [...new Set(task.split(':')[1]!.split(' '))].sort();
    expect(isHeldOutStyle(task)).toBe(heldOut);
    expect(sorted.length).toBeGreaterThanOrEqual(4);
    for (const words of [2, 3, 4])
      expect(styleScore(task.replace(/^\w+/, 'az'), sorted.slice(0, words).join(' '))).toBe(5);
  }
});

test('the win matrix has its equilibrium at the even mixture alone', () => {
  const win = 1 / (1 + Math.exp(-2));
  for (const [i, p] of [0.5, win, 1 - win].entries()) expect(STYLE_WINS[0]![i]).toBeCloseTo(p, 12);
  expect(exploitability(STYLE_WINS, [1 / 3, 1 / 3, 1 / 3])).toBeCloseTo(0, 12);
  expect(exploitability(STYLE_WINS, [0, 1, 0])).toBeCloseTo(win - 0.5, 12);
  expect(exploitability(STYLE_WINS, [0.4, 0.3, 0.3])).toBeCloseTo(0.1 * (win - 0.5), 12);
});

test('the mixture of styles leaves out what is no response', () => {
  expect(mixtureOf(['ana', 'ana bel dim', null, 'ana bel dim tok', 'ana bel'])).toEqual([0.5, 0.25, 0.25]);
  expect(mixtureOf([null, null])).toBeNull();
});

const group = (rates: readonly (number | null)[]): ScoredGroup => ({
  round: '0'.repeat(32),
  group: '1'.repeat(32),
  index: 0,
  task: TASK,
  proposal: null,
  judgments: [],
  answersExact: rates.map(() => null),
  solutionsExact: rates.map(() => null),
  samples: rates.map((reward, i) => ({
    id: String(i).repeat(32),
    role: 'responder',
    policy: { name: 'p', version: 0 },
    prompt: [9],
    ids: [i],
    logprobs: [0],
    stopped: true,
    outcome: 'ok',
    rewards: { reward },
  })),
});

test('best against worst with their win rates; a group of equals makes no pair', () => {
  expect(winRatePairs([group([0.5, 0.9, 0.1, 0.9, null]), group([0.5, 0.5])])).toEqual([
    { chosen: { prompt: [9], ids: [1] }, rejected: { prompt: [9], ids: [2] }, winRates: [0.9, 0.1] },
  ]);
});

test('a round: win rates within a group, itself counted as one half, become the targets of best and worst', async () => {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, (prompt, _id, i) => {
    // The first word of the source over and over: the same points for all, so that styles alone decide.
    const words = prompt.slice(prompt.indexOf(':') + 1, -'<sep>'.length).split(' ');
    return `<answer>${Array(i === 0 ? 3 : 2)
      .fill(words[0])
      .join(' ')}<eos>`;
  });
  const round = roundOf(SETTINGS, { responder: {} }, 1, 3);
  const recipeState = () => Promise.resolve(undefined);
  const context = openRoundContext({
    recipe: sppo,
    round,
    tokenizer,
    recipeState,
    use: (_ref, work) => work(policy),
  });
  const proposals = await sppo.propose(context);
  const groups = await sppo.judge(context, await sppo.rollOut(context, proposals.tasks));
  // One medium response against four equal short ones of the same points: it loses to each with odds e^2.
  const lost = 1 / (1 + Math.exp(2));
  for (const { samples } of groups) {
    const rates = samples.map(({ rewards }) => rewards.reward!);
    expect(rates[0]).toBeCloseTo((0.5 + 4 * lost) / 5, 10);
    for (const rate of rates.slice(1)) expect(rate).toBeCloseTo((4 * 0.5 + (1 - lost)) / 5, 10);
  }
  // Version 3 wrote the responses, and by now version 5 is the parent.
  const records = { round, proposals, groups, recipeState: undefined, version: 5 };
  const tools = (likelihood: number) =>
    ({
      decode: (ids: readonly number[]) => tokenizer.decode(ids),
      score: (_set: string, sequences: readonly Sequence[], version?: number) => {
        expect(version).toBeUndefined();
        return Promise.resolve(sequences.map((_, i) => Float32Array.of(likelihood, i)));
      },
    }) as unknown as LearnTools;
  const first = await sppo.learn(records, tools(-3));
  expect(first.updates[0]!.parts[0]).toMatchObject({
    kind: 'preference',
    objective: { kind: 'sppo', beta: 1 },
    reference: { set: 'main', version: 3 },
  });
  const dpo = { ...records, round: { ...round, settings: { ...round.settings, variant: 'dpo' } } };
  expect((await sppo.learn(dpo, tools(-3))).updates[0]!.parts[0]).toMatchObject({
    objective: { kind: 'dpo', beta: 0.1 },
    reference: { set: 'main', version: 3 },
  });
  expect(first.figures).not.toHaveProperty('chosen');
  // Two pairs: log-likelihoods -3 + 0 and -3 + 1, then -2.25 + 0 and -2.25 + 1, whichever version is the parent by then.
  const chosen = groups.map(({ samples }) => ({ prompt: samples[1]!.prompt, ids: samples[1]!.ids }));
  expect(first.recipeState).toEqual({ responses: chosen, likelihood: -2.5 });
  const second = await sppo.learn({ ...records, recipeState: first.recipeState, version: 9 }, tools(-2.25));
  expect(second.figures!.chosen).toBe(0.75);
});

test('a round without a pair leaves the weights as they are, and the next round no figure of what it chose', async () => {
  const round = roundOf(SETTINGS, { responder: {} }, 1, 3);
  const equal = group([0.5, 0.5]);
  const records = { round, proposals: { round: round.id, samples: [], tasks: [] }, version: 3 };
  const tools = { decode: () => '', score: () => Promise.resolve([]) } as unknown as LearnTools;
  const { updates, recipeState } = await sppo.learn(
    { ...records, groups: [equal], recipeState: undefined },
    tools,
  );
  expect(updates).toEqual([]);
  const next = await sppo.learn({ ...records, groups: [equal], recipeState }, tools);
  expect(next.figures).toEqual({ pairs: 0, points: 0 });
});

test('an evaluation in which nothing can be read has no exploitability', async () => {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, () => 'no answer<eos>');
  const round = roundOf(SETTINGS, { responder: {} }, 1, 3);
  const recipeState = () => Promise.resolve(undefined);
  const parts: RoundContextParts = {
    recipe: sppo,
    round,
    tokenizer,
    recipeState,
    use: (_ref, work) => work(policy),
  };
  const { figures, heldOut } = await sppo.evaluate(openEvaluationContext(parts, 3, new Map()));
  expect(heldOut.formatRate).toBe(0);
  expect(figures).not.toHaveProperty('exploitability');
  expect(figures).not.toHaveProperty('short');
});
