import { expect, test } from 'vitest';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import {
  agreements,
  decided,
  drawnEdits,
  evolve,
  favourites,
  missedOf,
  pairsOf,
  preferredOf,
  SHOWN,
  stateOf,
  type Verdicts,
} from '../../recipes/rewardharness/library.ts';
import { styleScore } from '../../worlds/style/family.ts';
import { ruleHolds } from '../../worlds/style/rules.ts';
import { policyPart } from './play-solver.ts';

const rewardHarness = shipped.find('rewardharness');

test('a library agrees with a preference where more of its rules hold for the preferred response, and by half in a tie', () => {
  const verdicts = new Map<string, Verdicts>([
    [
      'once',
      [
        [true, false],
        [true, true],
        [false, true],
        [true, null],
      ],
    ],
    [
      'long',
      [
        [false, true],
        [false, true],
        [false, true],
        [false, false],
      ],
    ],
  ]);
  const preferred = [0, 1, 0, 0] as const;
  expect(agreements(['once'], verdicts, preferred)).toEqual([1, 0.5, 0, 1]);
  expect(agreements(['once', 'long'], verdicts, preferred)).toEqual([0.5, 1, 0, 1]);
  expect(agreements([], verdicts, preferred)).toEqual([0.5, 0.5, 0.5, 0.5]);
});

test('an edit is kept where it raises the agreement, and every edit where there is no gate', () => {
  const add = (rule: string) => ({ adds: true, rule });
  const edits = [add('once'), add('big'), { adds: false, rule: 'long' }, add('once'), add('count')];
  // once is worth .2, count .1, long -.1 and big nothing.
  const worth: Readonly<Record<string, number>> = { once: 0.2, count: 0.1, long: -0.1 };
  const agreement = (rules: readonly string[]) => rules.reduce((sum, rule) => sum + (worth[rule] ?? 0), 0.5);
  expect(evolve(['long'], edits, agreement, true)).toEqual({ rules: ['once', 'count'], kept: 3 });
  expect(evolve(['long'], edits, agreement, false)).toEqual({ rules: ['once', 'big', 'count'], kept: 4 });
  const full = ['az', 'za', 'up', 'down', 'source', 'long', 'first', 'last'];
  expect(evolve(full, [add('once')], agreement, true)).toEqual({ rules: full, kept: 0 });
});

test('of the preferences the first forty are shown and the others decide', () => {
  const each = Array.from({ length: 100 }, (_, p) => (p === 3 ? 0 : p === 5 ? 0.5 : p < 70 ? 1 : 0));
  expect(missedOf(each)).toEqual([3, 5]);
  // 30 of the 60 from the fortieth on.
  expect(decided(each)).toBe(0.5);
});

test('the edits that were written most often are tried, at most eight', () => {
  const written = [
    '+big',
    '+once',
    '-long',
    '+once',
    '-long',
    '+once',
    '+az',
    '+za',
    '+up',
    '+down',
    '+last',
  ];
  expect(
    favourites([...written, '+ends', '+small']).map(({ adds, rule }) => `${adds ? '+' : '-'}${rule}`),
  ).toEqual(['+once', '-long', '+big', '+az', '+za', '+up', '+down', '+last']);
});

const EDITS = ['+once', '+big', '+once', '+big', 'nothing', '+az:az', '-long'];
/** A judge without errors; an orchestrator that writes the same edits whatever it is shown. */
const write = (responses: readonly string[]) => {
  let edits = 0;
  return (prompt: string, i: number): string => {
    const body = prompt.replace(/^<\w+>/, '').split('<sep>');
    if (prompt.startsWith('<propose>')) return `${EDITS[edits++ % EDITS.length]!}<eos>`;
    if (prompt.startsWith('<judge>'))
      return `${ruleHolds(body[0]!, body[1]!, body[2]!) ? '<right>' : '<wrong>'}<eos>`;
    return `${responses[i]!}<eos>`;
  };
};
const play = (more: WriteOptions = {}) =>
  playWritten(rewardHarness, write(['<answer>ana', '<answer>bel bel', '<answer>dim ana bel tok', 'x']), {
    tasks: 2,
    groupSize: 4,
    ...more,
  });

/** The agreement of a library on the deciding pairs, computed anew: of 60 pairs how many prefer by the count of rules. */
function agreementByHand(rules: readonly string[], round: Parameters<typeof pairsOf>[0]): number {
  let sum = 0;
  for (const { task, responses } of pairsOf(round).slice(SHOWN)) {
    const [first, second] = responses.map((one) => rules.filter((rule) => ruleHolds(rule, task, one)).length);
    const [a, b] = responses.map((one) => styleScore(task, one));
    sum += first === second ? 0.5 : Number(first! > second! === a! > b!);
  }
  return sum / 60;
}

test('a round that evolves: the judge applies each rule to every response, edits are kept by the gate, nothing is trained', async () => {
  const { round, proposals, groups, plan } = await play();
  expect(proposals.samples).toHaveLength(32);
  // Once and big are written most often; what is no edit is dropped; only rules to add are judged beside the library's.
  expect(groups.map(({ task }) => task)).toEqual(['source', 'long', 'once', 'big', 'az:az']);
  for (const { samples } of groups) {
    expect(samples).toHaveLength(200);
    expect(samples.every(({ rewards }) => rewards.reward === null)).toBe(true);
  }
  let library = ['source', 'long'];
  let kept = 0;
  for (const edit of ['+once', '+big', '+az:az', '-long']) {
    const rule = edit.slice(1);
    const next = edit.startsWith('+') ? [...library, rule] : library.filter((one) => one !== rule);
    if (agreementByHand(next, round) <= agreementByHand(library, round)) continue;
    library = next;
    kept++;
  }
  expect(library).toContain('once');
  const state = stateOf(plan.recipeState);
  expect(state.rules).toEqual(library);
  expect(plan.updates).toEqual([]);
  expect(plan.figures).toEqual({
    verdictsExact: 1,
    rules: library.length,
    tried: 4,
    kept,
    decided: expect.closeTo(agreementByHand(library, round)),
  });
});

test('the orchestrator is shown the preferences that were missed, the preferred response first', async () => {
  const { round, proposals, tokenizer } = await play({
    index: 2,
    recipeState: { rules: ['once'], missed: [7, 9] },
  });
  const shown = new Set(proposals.samples.map(({ prompt }) => tokenizer.decode(prompt)));
  const pairs = pairsOf(round);
  expect(shown).toEqual(
    new Set(
      [7, 9].map((p) => {
        const { task, responses } = pairs[p]!;
        const better = preferredOf(pairs[p]!);
        expect(styleScore(task, responses[better])).toBeGreaterThan(styleScore(task, responses[1 - better]!));
        return `<propose>once<sep>${task}<sep>${responses[better]}<sep>${responses[1 - better]}<sep>`;
      }),
    ),
  );
  expect(proposals.samples).toHaveLength(32);
});

test('a round that trains pays the share of the rules that hold', async () => {
  const { groups, plan } = await play({ index: 4, recipeState: { rules: ['once', 'long'], missed: [] } });
  // Once alone; neither; both; no response.
  const rewards = [0.5, 0, 1, 0];
  for (const { samples, judgments } of groups) {
    expect(samples.map((sample) => sample.rewards.reward)).toEqual(rewards);
    expect(judgments).toHaveLength(6);
  }
  // Mean .375, deviation √((.125² + .375² + .625² + .375²) / 3).
  const deviation = Math.sqrt((0.125 ** 2 + 0.375 ** 2 + 0.625 ** 2 + 0.375 ** 2) / 3);
  expect(
    policyPart(plan)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual(rewards.map((reward) => expect.closeTo((reward - 0.375) / deviation, 3)));
  expect(plan.recipeState).toBeUndefined();
  const points = groups.flatMap(({ task }) =>
    ['ana', 'bel bel', 'dim ana bel tok'].map((response) => styleScore(task, response) / 5),
  );
  const share = points.reduce((a, b) => a + b) / 8;
  expect(plan.figures!.points).toBeCloseTo(share);
  expect(plan.figures!.overpaid).toBeCloseTo(0.375 - share);
});

test('the start library is never edited, and no preference is read where it is not paid', async () => {
  for (const more of [
    { variant: 'start-library' },
    { rewardFunction: 'random' },
    { rewardFunction: 'format' },
  ]) {
    const { proposals, groups, plan } = await play(more);
    expect(proposals.samples).toEqual([]);
    expect(groups.map(({ task }) => task)).toEqual(['source', 'long']);
    expect(plan.recipeState).toBeUndefined();
  }
});

test('random edits are drawn, as many as are tried, and written by nobody', async () => {
  const { round, proposals, groups, plan } = await play({ variant: 'random-edits' });
  expect(proposals.samples).toEqual([]);
  expect(plan.figures!.tried).toBe(8);
  const added = drawnEdits(round, ['source', 'long']).flatMap(({ adds, rule }) => (adds ? [rule] : []));
  expect(groups.map(({ task }) => task)).toEqual([...new Set(['source', 'long', ...added])]);
});

test('without a gate every edit is kept; by a coin other preferences decide', async () => {
  const ungated = stateOf((await play({ variant: 'ungated' })).plan.recipeState);
  expect(ungated.rules).toEqual(['source', 'once', 'big', 'az:az']);
  const coin = stateOf((await play({ variant: 'coin-preferences' })).plan.recipeState);
  const told = stateOf((await play()).plan.recipeState);
  expect(coin.missed).not.toEqual(told.missed);
});
