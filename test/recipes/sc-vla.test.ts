import { expect, test } from 'vitest';
import type { PolicyPart, RoundRecords } from '../../core/plan/training-plan.ts';
import { shipped } from '../../recipes/index.ts';
import { denseRewards, progressItems, returnsOf } from '../../recipes/sc-vla/progress.ts';

test('before turn t of T the head is drawn to t/T', () => {
  const turns = [
    { prompt: [1, 2], ids: [5, 6] },
    { prompt: [1, 2, 5, 6, 7, 8, 9], ids: [5, 4] },
  ];
  expect(progressItems(turns)).toEqual([
    { prompt: [1, 2], ids: [5], targets: [0] },
    { prompt: [1, 2, 5, 6, 7, 8, 9], ids: [5], targets: [0.5] },
  ]);
});

test('a turn is paid for how far the forecast moves, and the last one for success', () => {
  const rewards = denseRewards([0.1, 0.4, 0.3], 1);
  expect(rewards).toEqual([0.3, -0.1, 1].map((value) => expect.closeTo(value, 9)));
  // 1; −.1 + .95; .3 + .95 · .85.
  expect(returnsOf(rewards)).toEqual([1.1075, 0.85, 1].map((value) => expect.closeTo(value, 5)));
  expect(denseRewards([0.5], 0)).toEqual([0]);
});

/** A success of two turns, before which .1 and .4 are forecast, and a failure of one, before which .3 is. */
async function learn(variant?: string) {
  const turn = (id: number, reward: number, episode: number, at: number) => ({
    id: String(id),
    role: 'agent',
    prompt: [id],
    ids: [9, 8],
    logprobs: [-1, -1],
    outcome: 'ok',
    rewards: { reward },
    turn: at,
    episode,
    ...(at ? { of: '1' } : {}),
  });
  const samples = [turn(1, 1, 0, 0), turn(2, 1, 0, 1), turn(3, 0, 1, 0)];
  const forecasts: Readonly<Record<number, number>> = { 1: 0.1, 2: 0.4, 3: 0.3 };
  const records = {
    round: { id: 'round', index: 1, settings: { variant } },
    groups: [{ group: 'g', task: 'push 1', samples, answersExact: [true, true, false] }],
  };
  const plan = await shipped.find('sc-vla').learn(
    records as unknown as RoundRecords,
    {
      decode: () => 'x',
      values: async (set: string, states: readonly { readonly prompt: readonly number[] }[]) => {
        expect(set).toBe('progress');
        return states.map(({ prompt }) => Float32Array.from([forecasts[prompt[0]!]!]));
      },
    } as never,
  );
  const [head, robot] = plan.updates;
  return { head, robot, advantages: (robot!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage) };
}
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

test('the head learns from successes alone, and the robot by returns over the round', async () => {
  const { head, robot, advantages } = await learn();
  expect(head).toMatchObject({ set: 'progress', epochs: 2 });
  expect(head!.parts).toMatchObject([
    {
      kind: 'value',
      items: [
        { prompt: [1], ids: [9], targets: [0] },
        { prompt: [2], ids: [9], targets: [0.5] },
      ],
    },
  ]);
  expect(robot!.set).toBe('main');
  // Returns .3 + .95, 1 and 0: mean .75, deviation of a sample √(.875/2) = .661438.
  expect(advantages).toEqual(close([0.755929, 0.377964, -1.133893]));
});

test('variants: without a forecast success alone pays, and forecasts that change places pay something else', async () => {
  // Returns .95, 1 and 0: mean .65, deviation √(.635/2) = .563471.
  expect((await learn('sparse')).advantages).toEqual(close([0.532414, 0.62115, -1.153564]));
  const { head, advantages } = await learn('shuffled');
  expect(advantages).not.toEqual(close([0.755929, 0.377964, -1.133893]));
  expect(advantages).not.toEqual(close([0.532414, 0.62115, -1.153564]));
  expect(head).toEqual((await learn()).head);
});
