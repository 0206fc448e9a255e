import { expect, test } from 'vitest';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { LearnTools, PolicyPart, Sequence, ValuePart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { deviation, mean, whiten } from '../../core/rl/statistics.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import {
  type PaidEpisode,
  processRewards,
  regression,
  statesOf,
  valuesBefore,
} from '../../recipes/q-evolve/process-rewards.ts';
import { expertPush } from '../../worlds/grids/demonstrations.ts';
import { openGrid, usefulTurns } from '../../worlds/grids/play.ts';
import { bestPushMoves, type PushWorld } from '../../worlds/grids/push.ts';

const qEvolve = shipped.find('q-evolve');

/** Two turns after the prompt 1 2 3: it writes 4 5, reads 6, and writes 7 8. */
const TWO: PaidEpisode = {
  turns: [
    { prompt: [1, 2, 3], ids: [4, 5] },
    { prompt: [1, 2, 3, 4, 5, 6], ids: [7, 8] },
  ],
  reward: 1,
};

test('the value before a turn is the one before its first token', () => {
  expect(statesOf(TWO)).toEqual({ prompt: [1, 2, 3], ids: [4, 5, 6, 7] });
  expect(valuesBefore(TWO, [0.5, 9, 9, 0.8])).toEqual([0.5, 0.8]);
});

test('advantages of turns, by hand', () => {
  // δ₂ = 1 − 0.8 = 0.2; δ₁ = 0.99·0.8 − 0.5 = 0.292; A₁ = 0.292 + 0.99·0.9·0.2 = 0.4702.
  expect(processRewards(TWO, [0.5, 0.8])).toEqual([expect.closeTo(0.4702, 10), expect.closeTo(0.2, 10)]);
  // It fails after a turn that had made the goal likelier: the first turn is better than the second.
  const [first, second] = processRewards({ ...TWO, reward: 0 }, [0.5, 0.8]);
  expect(first).toBeCloseTo(0.292 - 0.891 * 0.8, 10);
  expect(second).toBeCloseTo(-0.8, 10);
});

test('a value is drawn to what the turn earned and led to, and counts for more near a goal', () => {
  expect(regression(TWO, [0.5, 0.8])).toEqual({
    ...statesOf(TWO),
    targets: [expect.closeTo(0.99 * 0.8, 10), 0, 0, 1],
    weights: [1.5, 0, 0, 2],
  });
  expect(regression({ ...TWO, reward: 0 }, [0.5, 0.8])).toMatchObject({
    targets: [expect.closeTo(0.792, 10), 0, 0, 0],
    weights: [1, 0, 0, 1],
  });
});

test('an expert goes a shortest way in the room of the task', () => {
  for (const task of ['push 1', 'push 2', 'push a7']) {
    const turns = expertPush(task);
    const game = openGrid(task);
    let now = game.start();
    const shortest = game.distance(now)!;
    for (const { completion } of turns) now = game.turn(now, completion);
    expect([game.distance(now), game.taken(now)]).toEqual([0, shortest]);
    expect(turns[0]!.prompt).toBe(`<solve>${game.start().observation}<sep>`);
  }
});

test('a turn is useful where the goal is nearer after it', () => {
  const task = 'push 3';
  const [first] = expertPush(task).flatMap(({ completion }) =>
    completion.replace(/<answer>|<eos>/g, '').split(' '),
  );
  const back = { u: 'd', d: 'u', l: 'r', r: 'l' }[first!];
  const write = (move: string | undefined) => `<answer>${move}<eos>`;
  const game = openGrid(task);
  // The way there and back: nearer, and not. Text outside the grammar moves nothing.
  expect(usefulTurns(game, [write(first), 'x', write(back)])).toEqual([true, false, false]);
});

/** Every value is that of the sequence's length in tokens, so that it tells turns apart: longer = worth more. */
const values: LearnTools['values'] = async (_set, sequences) =>
  sequences.map(({ prompt, ids }: Sequence) => Float32Array.from(ids, (_, t) => (prompt.length + t) / 1000));

/** The room of a prompt's last board. */
function roomOf(prompt: string): PushWorld {
  const board = prompt
    .split('<sep>')
    .at(-2)!
    .replace(/^.*(?:<eos>|<solve>)/s, '');
  const cells = board.replaceAll('\n', '');
  return {
    floor: cells.replaceAll(/[^w]/g, '.'),
    target: cells.search(/[tq]/),
    at: cells.search(/[pq]/),
    box: cells.indexOf('b'),
  };
}

/** In each room one agent goes a shortest way, one move a turn, and another says five times what is not understood. */
async function play(more: WriteOptions = {}, recipe: Recipe = qEvolve) {
  const begun = new Set<string>();
  const { plan, groups } = await playWritten(
    recipe,
    (prompt) => {
      const lost = prompt.includes('x') || begun.has(prompt);
      begun.add(prompt);
      return lost ? 'x<eos>' : `<answer>${bestPushMoves(roomOf(prompt))[0]}<eos>`;
    },
    { tasks: 2, groupSize: 2, tools: { values }, ...more },
  );
  const policy = plan.updates.at(-1)!.parts[0] as PolicyPart;
  const critic = plan.updates.length > 1 ? (plan.updates[0]!.parts[0] as ValuePart) : null;
  return {
    plan,
    groups,
    policy,
    critic,
    advantages: policy.items.map(({ advantage }) => advantage as number),
  };
}

test('the critic learns from all episodes and the experts, and the policy from its own turns', async () => {
  const { plan, groups, policy, critic, advantages } = await play();
  const turns = groups.flatMap(({ samples }) => samples);
  expect(plan.updates.map(({ set, epochs }) => [set, epochs])).toEqual([
    ['critic', 2],
    ['main', undefined],
  ]);
  // Two episodes and an expert's in each of two rooms.
  expect(critic!.items).toHaveLength(6);
  expect(critic!.expectile).toBe(0.7);
  expect(policy.items.map(({ sample }) => sample)).toEqual(turns);
  expect(policy.objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 });
  // Whitened over all turns.
  expect(mean(advantages)).toBeCloseTo(0, 6);
  expect(deviation(advantages, 1)).toBeCloseTo(1, 6);
  // The last turn of an episode that fails loses what its state was worth, and one that succeeds gains what was left.
  const last = (success: boolean) =>
    turns.flatMap(({ id, prompt }, i) => {
      const next = turns[i + 1];
      const ends = !next || next.turn === 0;
      return ends &&
        groups.some(
          ({ samples, answersExact }) => answersExact[samples.findIndex((s) => s.id === id)] === success,
        )
        ? [{ i, worth: prompt.length / 1000 }]
        : [];
    });
  const raw = [
    ...last(true).map(({ i, worth }) => [i, 1 - worth]),
    ...last(false).map(({ i, worth }) => [i, -worth]),
  ] as [number, number][];
  expect(raw).toHaveLength(4);
  const [[i, a], [j, b]] = [raw[0]!, raw.at(-1)!];
  const scale = (advantages[i]! - advantages[j]!) / (a - b);
  for (const [k, value] of raw) expect(advantages[k]! - advantages[i]!).toBeCloseTo(scale * (value - a), 6);
});

test('outcome: every turn has the advantage of its episode, and there is no critic', async () => {
  const { plan, policy, critic, advantages } = await play({ variant: 'outcome' });
  expect(critic).toBeNull();
  // Returns 1 and 0: mean 1/2, deviation 1/√2.
  const right = policy.items.map(({ sample }) => sample.rewards.reward === 1);
  expect(advantages).toEqual(right.map((won) => expect.closeTo(won ? Math.SQRT1_2 : -Math.SQRT1_2, 4)));
  // All turns that the winners took are useful, and none of the losers'.
  expect(plan.figures).toMatchObject({ auc: 1, failedAuc: 0.5 });
});

test('shuffled: advantages stay among turns of episodes that ended alike', async () => {
  const { groups, policy, advantages } = await play({ variant: 'shuffled' });
  const turns = policy.items.map(({ sample }) => sample);
  const inPlace = whiten(
    groups
      .flatMap(({ samples }) => episodesOf(samples))
      .flatMap((episode) =>
        processRewards(
          { turns: episode, reward: episode[0]!.rewards.reward! },
          episode.map(({ prompt }) => prompt.length / 1000),
        ),
      ),
  );
  const among = (values: readonly number[], reward: number) =>
    values.filter((_, i) => turns[i]!.rewards.reward === reward).toSorted((x, y) => x - y);
  expect(advantages).not.toEqual(inPlace);
  for (const reward of [0, 1])
    expect(among(advantages, reward)).toEqual(
      among(inPlace, reward).map((value) => expect.closeTo(value, 6)),
    );
});

test('variants and controls: no experts, means in place of expectiles', async () => {
  expect((await play({ variant: 'no-experts' })).critic!.items).toHaveLength(4);
  expect((await play({ variant: 'expectile-50' })).critic!.expectile).toBe(0.5);
  for (const rewardFunction of ['format', 'random']) {
    const { critic, groups } = await play({ rewardFunction });
    expect(critic!.items).toHaveLength(4);
    const paid = groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward));
    expect(paid.every((reward) => reward === 0 || reward === 1)).toBe(true);
  }
});

test('an episode whose return is missing teaches nobody, as if it had not been played', async () => {
  const unpaid = (groups: number): Recipe => ({
    ...qEvolve,
    judge: async (context, rolled) =>
      (await qEvolve.judge(context, rolled)).map((group, g) =>
        g < groups
          ? { ...group, samples: group.samples.map((sample) => ({ ...sample, rewards: { reward: null } })) }
          : group,
      ),
  });
  const { groups, policy, critic } = await play({}, unpaid(1));
  // Two episodes and both experts.
  expect(critic!.items).toHaveLength(4);
  expect(policy.items.map(({ sample }) => sample)).toEqual(groups[1]!.samples);
  const { plan } = await playWritten(unpaid(1), () => 'x<eos>', {
    tasks: 1,
    groupSize: 2,
    tools: { values },
  });
  expect(plan.updates).toEqual([]);
});
