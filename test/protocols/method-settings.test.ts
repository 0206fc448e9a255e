import { expect, test } from 'vitest';
import type {
  LearnTools,
  PolicyItem,
  PolicyPart,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { meanCentred, raw } from '../../core/rl/estimators/index.ts';
import { withSettings } from '../../core/runs/set-path.ts';
import { episodeItems } from '../../protocols/episode-credit.ts';
import { methodSettings, withMethod } from '../../protocols/method-settings.ts';
import { creditedItems, groupItems, solverUpdate } from '../../protocols/solver.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { recordsOf, solved, verdict } from '../recipes/records.ts';

const tools = {} as LearnTools;
const set = (...assignments: string[]) => withSettings(methodSettings, {}, assignments);

/** A recipe with a plan of its own: every rollout, centred by its group. */
const base = {
  ...shipped.find('ttrl'),
  learn: ({ groups }: RoundRecords): TrainingPlan => ({
    updates: solverUpdate(groupItems(groups, meanCentred), {
      objective: { kind: 'reinforce' },
      aggregation: { mode: 'token-mean' },
    }),
  }),
};

// Two groups: rewards 1, 0, 0 and 1, 1. Texts of 3, 2 and 1 characters.
const records = recordsOf('ttrl', [
  { group: 'a', samples: [solved('123', 1), solved('12', 0), solved('1', 0)] },
  { group: 'b', samples: [solved('1', 1), solved('12', 1)] },
]);

async function partWith(...assignments: string[]): Promise<PolicyPart> {
  const { updates } = await withMethod(base, set(...assignments)).learn(records, tools);
  const part = updates[0]!.parts[0]!;
  if (part.kind !== 'policy') throw new Error('the part is the policy’s');
  return part;
}
const advantages = async (...assignments: string[]) =>
  (await partWith(...assignments)).items.map(({ advantage }) => advantage);
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

test('every objective is reached by its name, with defaults and options', async () => {
  const kinds = [
    'ppo-clip',
    'gspo',
    'gmpo',
    'cispo',
    'aipo',
    'sapo',
    'dppo-tv',
    'decoupled-ppo',
    'reinforce',
  ];
  for (const kind of kinds) expect((await partWith(`objective.kind=${kind}`)).objective.kind).toBe(kind);
  expect((await partWith('objective.kind=ppo-clip', 'objective.clipHigh=0.28')).objective).toEqual({
    kind: 'ppo-clip',
    clipLow: 0.2,
    clipHigh: 0.28,
  });
  expect((await partWith('objective.kind=gspo', 'objective.dualClip=3')).objective).toEqual({
    kind: 'gspo',
    clipLow: 3e-4,
    clipHigh: 4e-4,
    dualClip: 3,
  });
});

test('every estimator is reached by its name, worked by hand', async () => {
  // Mean 1/3, deviation √(1/3) with ddof 1 and √(2/9) with ddof 0.
  expect(await advantages('estimator=grpo')).toEqual(close([1.1547, -0.57735, -0.57735, 0, 0]));
  expect(await advantages('estimator=grpo', 'convention=atropos')).toEqual(
    close([Math.SQRT2, -Math.SQRT1_2, -Math.SQRT1_2, 0, 0]),
  );
  expect(await advantages('estimator=mean-centred')).toEqual(close([2 / 3, -1 / 3, -1 / 3, 0, 0]));
  expect(await advantages('estimator=rloo')).toEqual(close([1, -1 / 2, -1 / 2, 0, 0]));
  // Against the others' mean, divided by the group's deviation.
  const [first, ...others] = (await advantages('estimator=leave-one-out')) as number[];
  expect(first! / others[0]!).toBeCloseTo(-2, 4);
  const spread = Math.sqrt(2 / 15);
  expect(await advantages('estimator=batch-scaled')).toEqual(
    close([2 / 3 / spread, -1 / 3 / spread, -1 / 3 / spread, 0, 0]),
  );
  // Mean 3/5, variance 6/25 over the batch.
  const [up, down] = [0.4 / Math.sqrt(0.24), -0.6 / Math.sqrt(0.24)];
  expect(await advantages('estimator=whiten-batch')).toEqual(close([up, down, down, up, up]));
  expect(await advantages('estimator=maxrl')).toEqual(close([2, -1, -1, 0, 0]));
  expect(await advantages('estimator=raw')).toEqual([1, 0, 0, 1, 1]);
  // Tokens 1 1 1, 0 0, 0, 1, 1 1: mean 6/9, variance 9·(6/9)(3/9)/8 = 1/4.
  expect((await advantages('estimator=reinforce-plus-plus'))[1]).toEqual(close([-4 / 3, -4 / 3]));
});

/** What an estimator makes of the items that a recipe's plan has. */
async function estimatedItems(items: readonly PolicyItem[], estimator = 'mean-centred') {
  const own = {
    ...base,
    learn: (): TrainingPlan => ({
      updates: solverUpdate(items, { objective: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } }),
    }),
  };
  const { updates } = await withMethod(own, set(`estimator=${estimator}`)).learn(records, tools);
  const part = updates[0]!.parts[0]!;
  if (part.kind !== 'policy') throw new Error('the part is the policy’s');
  return part.items;
}

test('an estimator keeps which tokens a recipe trains, and compares with all that the recipe compared', async () => {
  const samples = [solved('123', 1), solved('12', 0), solved('1', 0)];
  const [right, wrong] = creditedItems(samples, [1, 0, 0], ['a', 'a', 'a'], raw);
  const items = [{ ...right!, mask: [1, 0, 0], band: { low: 0, high: 1 } }, wrong!];
  const [masked, other, ...none] = await estimatedItems(items);
  // Mean 1/3 over three rollouts, of which two are trained.
  expect(masked).toMatchObject({
    sample: samples[0],
    advantage: expect.closeTo(2 / 3),
    mask: [1, 0, 0],
    band: { low: 0, high: 1 },
  });
  expect(other).toMatchObject({ sample: samples[1], advantage: expect.closeTo(-1 / 3) });
  expect(none).toEqual([]);
});

test('an estimator compares within the groups that the recipe compares within, and a missing reward with none', async () => {
  const samples = ['1', '2', '3', '4', '5'].map((text) => solved(text, 1));
  const items = await estimatedItems(
    creditedItems(samples, [1, 0, 1, null, 0], ['a', 'a', 'b', 'b', 'b'], raw),
  );
  expect(items.map(({ sample }) => sample)).toEqual([0, 1, 2, 4].map((i) => samples[i]));
  expect(items.map(({ advantage }) => advantage)).toEqual(close([1 / 2, -1 / 2, 1 / 2, -1 / 2]));
});

test('the turns of an episode have its advantage, and of one for each token their own part', async () => {
  const turns = (texts: readonly string[], reward: number) =>
    texts.map((text, turn) => ({
      ...solved(text, reward),
      turn,
      ...(turn ? { of: `${reward}`.repeat(32) } : { id: `${reward}`.repeat(32) }),
    }));
  const samples = [...turns(['12', '1'], 1), ...turns(['1'], 0)];
  const items = episodeItems([{ group: 'a', samples }], raw);
  expect((await estimatedItems(items)).map(({ advantage }) => advantage)).toEqual(
    close([1 / 2, 1 / 2, -1 / 2]),
  );
  // Returns 1 1 1 and 0: mean 3/4, variance 4·(3/4)(1/4)/3 = 1/4.
  expect((await estimatedItems(items, 'reinforce-plus-plus')).map(({ advantage }) => advantage)).toEqual([
    close([1 / 2, 1 / 2]),
    close([1 / 2]),
    close([-3 / 2]),
  ]);
});

test('an estimator is refused where a recipe credits more than one reward a rollout', async () => {
  const [first] = creditedItems([solved('12', 1)], [1], ['a'], raw);
  const { credit: _, ...byToken } = { ...first!, advantage: [1, 2] };
  await expect(estimatedItems([byToken])).rejects.toThrow(
    /the estimator mean-centred, which needs one reward a rollout, means nothing/,
  );
});

test('every aggregation is reached, and gets the lengths and groups that it needs', async () => {
  for (const mode of ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum', 'token-sum'])
    expect((await partWith(`aggregation=${mode}`)).aggregation).toEqual({ mode });
  expect((await partWith('aggregation=seq-sum-constant')).aggregation).toEqual({
    mode: 'seq-sum-constant',
    length: base.roles.solver!.sampling.maxNew,
  });
  const [a, b] = ['a', 'b'];
  expect((await partWith('aggregation=prompt-mean')).aggregation).toEqual({
    mode: 'prompt-mean',
    groups: [a, a, a, b, b],
  });
});

test('penalties, passes, optimiser and adapters', async () => {
  expect((await partWith('kl.weight=0.1')).kl).toEqual({
    weight: 0.1,
    estimator: 'k3',
    reference: { set: 'main', version: 0 },
  });
  expect((await partWith('entropy=0.01')).entropy).toBe(0.01);
  const changed = withMethod(
    base,
    set('epochs=3', 'optimizer.schedule=cosine', 'optimizer.totalSteps=400', 'adapter.rank=8'),
  );
  expect((await changed.learn(records, tools)).updates[0]!.epochs).toBe(3);
  expect(changed.sets.main).toEqual({
    optimizer: { ...base.sets.main!.optimizer, schedule: 'cosine', totalSteps: 400 },
    adapter: { rank: 8, alpha: 16 },
  });
});

test('settings are part of the name, and of the method that is told', () => {
  const [one, other] = [withMethod(base, set('epochs=3')), withMethod(base, set('epochs=4'))];
  expect(one.name).toMatch(/^ttrl-[0-9a-f]{10}$/);
  expect(other.name).not.toBe(one.name);
  expect(withMethod(base, set('entropy=1', 'epochs=3')).name).toBe(
    withMethod(base, set('epochs=3', 'entropy=1')).name,
  );
  expect(one.differences.at(-1)).toBe('Settings of this run: {"epochs":3}.');
  expect(one).not.toHaveProperty('claim');
  for (const recipe of recipes)
    expect(withMethod(recipe, set('optimizer.clipNorm=2')).name).toContain(recipe.name);
});

test('what means nothing is refused, with what was expected', async () => {
  expect(() => set('estimater=grpo')).toThrow(/Expected estimator, perhaps/);
  expect(() => set('estimator=gae')).toThrow(/estimator=gae/);
  const refused = (...assignments: string[]) => expect(() => withMethod(base, set(...assignments)));
  refused('objective.clipHigh=0.3').toThrow(/objective\.clipHigh is set, and objective\.kind is not/);
  refused('objective.kind=gspo', 'objective.cap=2').toThrow(
    /gspo has no option cap\. Expected one of clipLow, clipHigh, dualClip/,
  );
  refused('convention=trl').toThrow(/without the estimator grpo/);
  refused('kl.estimator=k1').toThrow(/kl\.weight is not/);
  refused('optimizer.schedule=cosine').toThrow(/cosine has no optimizer\.totalSteps.*rounds × minibatches/);
  refused('optimizer.schedule=linear', 'optimizer.totalSteps=10').toThrow(
    /10 steps, of which 20 are warm-up/,
  );
  refused('optimizer.floor=0.1').toThrow(/constant schedule has neither/);
  const sft = {
    ...base,
    learn: () => ({
      updates: [
        {
          set: 'main',
          parts: [{ kind: 'sft' as const, role: 'solver', weight: 1, items: [{ prompt: [], ids: [1] }] }],
        },
      ],
    }),
  };
  await expect(withMethod(sft, set('entropy=0.1')).learn(records, tools)).rejects.toThrow(
    /has no policy gradient/,
  );
  const [sample] = records.groups[0]!.samples;
  const judge = {
    ...base,
    learn: () => ({
      updates: solverUpdate([{ sample: verdict(sample!, 'x', 1), advantage: 1 }], {
        objective: { kind: 'reinforce' },
        aggregation: { mode: 'token-mean' },
      }),
    }),
  };
  await expect(withMethod(judge, set('estimator=rloo')).learn(records, tools)).rejects.toThrow(
    /the estimator rloo, which needs one reward a rollout, means nothing/,
  );
});
