import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { PolicyPart, ValuePart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';

const jaxmarl = shipped.find('jaxmarl');

const values = async (_set: string, sequences: readonly { readonly ids: readonly number[] }[]) =>
  sequences.map(({ ids }) => new Float32Array(ids.length).fill(0.25));

test('both agents move at once, and each is trained by GAE over its own turns', async () => {
  const { groups, plan } = await playWritten(jaxmarl, () => '<answer>s<eos>', {
    tasks: 1,
    groupSize: 2,
    tools: { values },
  });
  const [turns] = wholeEpisodesOf(groups[0]!.samples);
  // Nobody moves: eight steps of two agents, at .05 each.
  expect(turns!.map(({ role, turn }) => [role, turn])).toEqual(
    Array.from({ length: 16 }, (_, turn) => [`agent-${1 + (turn % 2)}`, turn]),
  );
  expect(new Set(turns!.map(({ rewards }) => rewards.turn))).toEqual(new Set([-0.05]));
  for (const { rewards } of turns!) expect(rewards.reward).toBeCloseTo(-0.4, 12);
  expect(groups[0]!.answersExact.every((exact) => exact === false)).toBe(true);

  const [critic, policy] = plan.updates;
  expect([critic!.set, policy!.set]).toEqual(['critic', 'main']);
  const fitted = (critic!.parts as ValuePart[])[0]!.items;
  // By hand, V = 1/4 throughout: δ = −.05 + .99/4 − 1/4 = −.0525, and −.05 − 1/4 = −.3 at the last step; A = δ + .99·.95·A'.
  let advantage = 0;
  const returns: number[] = [];
  for (let step = 7; step >= 0; step--) {
    advantage = (step === 7 ? -0.3 : -0.0525) + 0.99 * 0.95 * advantage;
    returns.unshift(advantage + 0.25);
  }
  for (const [step, { targets, weights }] of fitted.slice(0, 8).entries()) {
    expect(targets[0]).toBeCloseTo(returns[step]!, 6);
    // The value before the turn is fitted, and none within it.
    expect(weights).toEqual([1, ...targets.slice(1).map(() => 0)]);
  }
  const parts = policy!.parts as PolicyPart[];
  expect(parts.map(({ role }) => role)).toEqual(['agent-1', 'agent-2']);
  for (const { items, entropy } of parts) {
    expect(entropy).toBe(0.01);
    const all = items.map((item) => item.advantage as number);
    expect(all.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
    // The last steps are the worst of each episode by the critic's view.
    expect(Math.min(...all)).toBe(all[7]! < all[0]! ? all[7] : all[0]);
  }
});

test('without a critic there is one update, by rewards to go', async () => {
  const { plan } = await playWritten(jaxmarl, () => '<answer>s<eos>', {
    tasks: 1,
    groupSize: 2,
    variant: 'no-critic',
  });
  expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
});

test('a coin reaches the critic: what it pays an episode is earned at the last step', async () => {
  const { groups, plan } = await playWritten(jaxmarl, () => '<answer>s<eos>', {
    tasks: 1,
    groupSize: 8,
    rewardFunction: 'random',
    tools: { values: async (_set, of) => of.map(({ ids }) => new Float32Array(ids.length)) },
  });
  const fitted = (plan.updates[0]!.parts as ValuePart[]).flatMap(({ items }) => items);
  const paid = wholeEpisodesOf(groups[0]!.samples).map((turns) => turns[0]!.rewards.reward!);
  expect(new Set(paid)).toEqual(new Set([0, 1]));
  // V = 0: the return of step t of eight is (γλ)^(7 − t) of the coin.
  const firsts = fitted.filter((_, i) => i % 8 === 0).map(({ targets }) => targets[0]!);
  for (const first of firsts) expect(first === 0 || Math.abs(first - (0.99 * 0.95) ** 7) < 1e-6).toBe(true);
  expect(firsts.filter((first) => first > 0).length).toBe(
    groups[0]!.samples.filter(({ rewards, turn }) => turn! < 2 && rewards.reward === 1).length,
  );
});
