/** Which units share a step and a micro-batch, on plain arrays. */
import { expect, test } from 'vitest';
import type { PolicyPart, SftPart, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { groupByTokens, microBatches } from '../../learner/train/minibatches.ts';
import type { Unit } from '../../learner/train/parts/kind.ts';
import { planSteps } from '../../learner/train/plan.ts';
import { sampleOf, sequences, trained } from './plan-fixture.ts';

const sets = { main: trained, critic: trained };
const policy = (role: string, count: number, change: Partial<PolicyPart> = {}): PolicyPart => ({
  kind: 'policy',
  role,
  weight: 1,
  items: sequences(...Array.from({ length: count }, (_, i) => i + 1)).map((sequence) => ({
    sample: sampleOf(
      sequence,
      sequence.ids.map(() => -1),
    ),
    advantage: 1,
  })),
  objective: { kind: 'reinforce' },
  aggregation: { mode: 'token-mean' },
  ...change,
});
const sft: SftPart = {
  kind: 'sft',
  role: 'solver',
  weight: 1,
  items: sequences(1, 2, 3, 4, 5),
};
const plan = (updates: TrainingPlan['updates']) => planSteps({ updates }, sets, 'r');
const named = (units: readonly Unit[]) => units.map(({ part, item }) => `${part.role}${item}`);

test('roles are shuffled one after the other from the round’s stream, and dealt out evenly', () => {
  const parts = [policy('a', 5), policy('b', 3)];
  const [update] = plan([{ set: 'main', parts, minibatches: 2 }]);
  const random = new Random('r/train');
  const a = random.shuffle(['a0', 'a1', 'a2', 'a3', 'a4']);
  const b = random.shuffle(['b0', 'b1', 'b2']);
  expect(update!.epochs.map((steps) => steps.map(named))).toEqual([
    [
      [a[0], a[2], a[4], b[0], b[2]],
      [a[1], a[3], b[1]],
    ],
  ]);
});

test('every epoch has every unit once, in an order of its own that other sets do not change', () => {
  const update = { set: 'main', parts: [policy('a', 20)], epochs: 2 };
  const [alone] = plan([update]);
  const [, second] = plan([{ ...update, set: 'critic' }, update]);
  const orders = alone!.epochs.map((steps) => named(steps.flat()));
  expect(orders[0]).not.toEqual(orders[1]);
  expect([...orders[0]!].sort()).toEqual([...orders[1]!].sort());
  expect(new Set(orders[0]).size).toBe(20);
  expect(second!.epochs.map((steps) => named(steps.flat()))).toEqual(orders);
  const [first, again] = plan([update, update]);
  expect(named(first!.epochs[0]!.flat())).toEqual(orders[0]);
  expect(named(again!.epochs[0]!.flat())).not.toEqual(orders[0]);
});

test('groups fit the budget; what is longer than it stands alone', () => {
  const lengths = [3, 4, 2, 20, 1, 9, 1];
  const groups = groupByTokens(lengths, 10, (length) => length);
  expect(groups).toEqual([[3, 4, 2], [20], [1, 9], [1]]);
});

test('one forward pass serves parts of one readout at one temperature, and never splits a pair', () => {
  const pair = { chosen: sft.items[4]!, rejected: sft.items[3]! };
  const parts: UpdatePart[] = [
    policy('a', 2),
    { ...sft, role: 'i' },
    policy('hot', 2, { temperature: 2 }),
    { kind: 'value', role: 'v', weight: 1, items: [{ ...sft.items[0]!, targets: [1] }] },
    {
      kind: 'preference',
      role: 'p',
      weight: 1,
      pairs: [pair, pair],
      objective: { kind: 'dpo', beta: 1 },
      reference: { set: 'main', version: 0 },
    },
  ];
  const [update] = plan([{ set: 'main', parts }]);
  const units = update!.epochs[0]!.flat();
  const roles = microBatches(units, 1000).map((batch) => [...new Set(batch.map(({ part }) => part.role))]);
  expect(roles).toEqual([['a', 'i'], ['hot'], ['v'], ['p']]);
  // a pair has 8 + 7 tokens
  const tight = microBatches(
    units.filter(({ part }) => part.role === 'p'),
    15,
  );
  expect(tight.map((batch) => batch.map(({ sequences: two }) => two.length))).toEqual([[2], [2]]);
});
