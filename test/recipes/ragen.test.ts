import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyPart, Update } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { worldsAtRandom, worldsThatDiffer } from '../../protocols/episode-credit.ts';
import { shipped } from '../../recipes/index.ts';
import { bestLakeMoves, type Lake, lakeDistance } from '../../worlds/grids/lake.ts';
import { openGrid } from '../../worlds/grids/play.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';
import { recordsOf } from './records.ts';
import { groupOf, turnsOf } from './turns.ts';

const ragen = shipped.find('ragen');

/** Three worlds of four episodes: returns 1 1 0 0, then 1 1 1 0, then all 1. */
const worlds = [
  [1, 1, 0, 0],
  [1, 1, 1, 0],
  [1, 1, 1, 1],
].map((returns, w) =>
  groupOf(
    `world-${w}`,
    w,
    `lake ${w}`,
    returns.flatMap((value, i) => turnsOf(`${w}/${i}`, 'agent', i === 0 ? 2 : 1, value, { token: i % 3 })),
  ),
);

test('the filter keeps the share of the worlds whose returns differ most', () => {
  // deviations 1/2, √3/4 and 0: a quarter of three is one world, of six two
  expect(worldsThatDiffer(worlds, 0.25)).toEqual(['world-0']);
  expect(worldsThatDiffer(worlds, 2 / 3)).toEqual(['world-0', 'world-1']);
  expect(worldsThatDiffer(worlds, 1)).toHaveLength(3);
  const twice = [...worlds, ...worlds.map((world) => ({ ...world, group: `${world.group}-again` }))];
  expect(new Set(worldsThatDiffer(twice, 0.25))).toEqual(new Set(['world-0', 'world-0-again']));
});

async function planIn(variant: string): Promise<{ update: Update; part: PolicyPart; worlds: string[] }> {
  const records = recordsOf('ragen', worlds, { variant, rewardFunction: 'return' });
  const { updates } = await planTraining(ragen, records, {} as LearnTools);
  const part = updates[0]!.parts[0] as PolicyPart;
  const taught = new Set(part.items.map(({ sample }) => sample.id));
  const kept = worlds.filter(({ samples }) => samples.some(({ id }) => taught.has(id)));
  return { update: updates[0]!, part, worlds: kept.map(({ group }) => group) };
}

test('StarPO-S trains on the world that differs most: no KL, a wider clip upwards, an entropy bonus', async () => {
  const { update, part, worlds: kept } = await planIn('');
  expect(kept).toEqual(['world-0']);
  // Returns 1 1 0 0: deviation √(1/3) over four episodes, of which the first has two turns.
  const advantages = [1, 1, 1, -1, -1].map((sign) => expect.closeTo(sign * 0.5 * Math.sqrt(3), 4));
  expect(part.items.map(({ advantage }) => advantage)).toEqual(advantages);
  expect(part.objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 });
  expect([part.kl, part.entropy]).toEqual([undefined, 1e-3]);
  // A quarter of eight steps, once.
  expect([update.minibatches, update.epochs]).toEqual([2, 1]);
});

test('its ablations: no filter, as many worlds at random, plain StarPO, five passes', async () => {
  const all = await planIn('filter-100');
  expect([all.worlds.length, all.update.minibatches]).toEqual([3, 8]);
  const drawn = await planIn('random-25');
  expect(drawn.worlds).toEqual(worldsAtRandom(worlds, 0.25, recordsOf('ragen', worlds).round.id));
  const plain = await planIn('starpo');
  expect(plain.worlds).toHaveLength(3);
  expect(plain.part).toMatchObject({
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
    kl: { weight: 1e-3, estimator: 'k3', reference: { set: 'main', version: 0 } },
    entropy: 0,
  });
  expect((await planIn('reuse')).update.epochs).toBe(5);
});

test('worlds at random are as many, whatever their returns, and others in another round', () => {
  const many = Array.from({ length: 16 }, (_, i) => ({ ...worlds[i % 3]!, group: `world-${i}` }));
  const drawn = Array.from({ length: 40 }, (_, round) => worldsAtRandom(many, 0.25, `round-${round}`));
  for (const kept of drawn) expect(new Set(kept).size).toBe(4);
  expect(worldsAtRandom(many, 0.25, 'round-7')).toEqual(drawn[7]);
  // A world is left out of all 40 rounds with a probability of (3/4)^40, one in a hundred thousand.
  expect(new Set(drawn.flat()).size).toBe(16);
  expect(worldsAtRandom(worlds, 0.1, 'round-0')).toHaveLength(1);
});

const settings = {
  recipe: 'ragen',
  seed: 0,
  policy: 'p',
  rewardFunction: 'return',
  freeze: [],
  tasks: 2,
  groupSize: 2,
};

function stageOf(
  write: (prompt: string, id: string, i: number) => string,
  rewardFunction = 'return',
): RoundContext<Recipe> {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, write);
  return openRoundContext({
    recipe: ragen,
    round: roundOf({ ...settings, rewardFunction }, { agent: {} }, 1, 3),
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(policy),
  });
}

test('an agent that makes one good move a turn reaches the goal and is paid 1 less its moves for every turn', async () => {
  const context = stageOf(() => '');
  const { tasks } = await ragen.propose(context);
  const lakeTask = { ...tasks[0]!, task: 'lake 5' };
  const start = openGrid('lake 5').start().state as Lake;
  const way: string[] = [];
  for (let at = start.at; start.map[at] !== 'g'; ) {
    // With no move to spare only those that lead straight there are best.
    const [move] = bestLakeMoves(start.map, at, lakeDistance(start.map, at)!, 0);
    way.push(move!);
    at += { u: -4, d: 4, l: -1, r: 1 }[move!];
  }
  const turnOf = (prompt: string) => prompt.split('<answer>').length - 1;
  const player = stageOf((prompt) => `<answer>${way[turnOf(prompt)]}<eos>`);
  const groups = await ragen.judge(player, await ragen.rollOut(player, [lakeTask]));
  const { samples, answersExact } = groups[0]!;
  expect(samples).toHaveLength(2 * way.length);
  for (const { rewards } of samples) expect(rewards.reward).toBeCloseTo(1 - 0.1 * way.length, 12);
  expect(answersExact.every((success) => success === true)).toBe(true);
  expect(samples.slice(0, way.length).map(({ turn }) => turn)).toEqual(way.map((_, i) => i));
  expect(samples[way.length - 1]!.of).toBe(way.length > 1 ? samples[0]!.id : undefined);
});

test('text outside the grammar costs a refused action a turn, and five turns are all there are', async () => {
  const { groups } = await playStages(stageOf(() => 'up<eos>'));
  for (const { samples } of groups) {
    expect(samples).toHaveLength(10);
    for (const sample of samples) {
      expect(sample.outcome).toBe('off-grammar');
      expect(sample.rewards.reward).toBeCloseTo(-5 * (0.1 + 0.1), 12);
    }
  }
});

test('the controls pay for grammar and for nothing', async () => {
  const format = await playStages(stageOf((_p, _id, i) => (i ? '<answer>u<eos>' : 'x<eos>'), 'format'));
  expect(format.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toContain(0);
  const random = await playStages(stageOf(() => '<answer>u<eos>', 'random'));
  const paid = random.groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  expect(paid.every((reward) => reward === 0 || reward === 1)).toBe(true);
});
