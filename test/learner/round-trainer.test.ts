/** The trainer over real samples of the start policy: a small round of the flagship, in memory. */
import { beforeAll, expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyItem } from '../../core/plan/training-plan.ts';
import { sha256Hex } from '../../core/random.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { keys, type RoundSpec, roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import * as tf from '../../learner/tfjs.ts';
import { type RoundToTrain, RoundTrainer } from '../../learner/train/round-trainer.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf } from '../../recipes/run-order.ts';

const trio = shipped.find('trio');

const settings = {
  recipe: 'trio',
  seed: 7,
  policy: 'p',
  rewardFunction: 'mix',
  freeze: [] as string[],
  tasks: 6,
  groupSize: 4,
};
const roundAt = (index: number): RoundSpec => roundOf(settings, bindingsOf(trio, settings), index, index - 1);
const round = roundAt(1);
let seed: VersionFiles;
let records: Pick<RoundToTrain, 'proposals' | 'groups'>;

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  seed = await readPolicyFolder('models/arithmetic-base');
  const policy = await openVersion(nodeEngines, { name: 'p', version: 0 }, seed);
  const tokenizer = tokenizerOf(seed, 'p');
  const recipeState = () => Promise.resolve(undefined);
  records = await playStages(
    openRoundContext({ recipe: trio, round, tokenizer, recipeState, use: (_, work) => work(policy) }),
  );
  await policy.dispose();
});

const work = (change: Partial<RoundToTrain> = {}): RoundToTrain => ({
  recipe: trio,
  round,
  ...records,
  parent: 0,
  next: 1,
  load: () => Promise.resolve(seed),
  ...change,
});

/** trio, with the items of a role changed on their way to the trainer. */
const trioWith = (
  change: (items: readonly PolicyItem[]) => readonly PolicyItem[],
  roles: readonly string[] = ['solver'],
): RoundToTrain['recipe'] => ({
  ...trio,
  learn: async (all, tools) => {
    const plan = await trio.learn(all, tools);
    const updates = plan.updates.map((update) => ({
      ...update,
      parts: update.parts.map((part) =>
        part.kind === 'policy' && roles.includes(part.role) ? { ...part, items: change(part.items) } : part,
      ),
    }));
    return { ...plan, updates };
  },
});
const bytes = (files: VersionFiles, file: 'model.safetensors' | 'optimizer.safetensors') =>
  Buffer.from(files[file]!);

test('learner and rollouts agree: ratios are 1, and a policy has no distance from itself', async () => {
  const { report } = await new RoundTrainer().train(work());
  expect(report.mismatch.max).toBeLessThan(1e-3);
  expect(report.mismatch.mean).toBeLessThan(1e-4);
  expect(report.ratio.effectiveSampleShare).toBeGreaterThan(0.9999);
  for (const role of Object.values(report.roles)) expect(role.klToStart).toBeLessThan(1e-8);
  expect(report.updates).toBe(4);
});

test('training a round again gives the same bytes, from the stored version too', async () => {
  const once = await new RoundTrainer().train(work());
  const again = await new RoundTrainer().train(work());
  expect(bytes(again.files, 'model.safetensors').equals(bytes(once.files, 'model.safetensors'))).toBe(true);

  const next = { round: roundAt(2), parent: 1, next: 2 };
  const trainer = new RoundTrainer();
  await trainer.train(work());
  const held = await trainer.train(
    work({ ...next, load: (v) => Promise.resolve(v === 0 ? seed : once.files) }),
  );
  const loaded = await new RoundTrainer().train(
    work({ ...next, load: (v) => Promise.resolve(v === 0 ? seed : once.files) }),
  );
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
    expect(bytes(loaded.files, file).equals(bytes(held.files, file)), file).toBe(true);
  expect(bytes(held.files, 'model.safetensors').equals(bytes(once.files, 'model.safetensors'))).toBe(false);
});

test('micro-batches do not change the step beyond rounding', async () => {
  const whole = await new RoundTrainer().train(work());
  const split = await new RoundTrainer({ tokenBudget: 64 }).train(work());
  expect(split.report.loss).toBeCloseTo(whole.report.loss, 5);
  expect(split.report.gradientNorm).toBeCloseTo(whole.report.gradientNorm!, 4);
});

test('where the machine has little memory the blocks are recomputed and no logits kept, to the same bytes', async () => {
  // A block that is recomputed is an op with a gradient of its own, as others are.
  const ops = vi.spyOn(tf.engine(), 'customGrad');
  const kernels = vi.spyOn(tf.engine(), 'runKernel');
  const trained = async (availableBytes: number) => {
    ops.mockClear();
    kernels.mockClear();
    vi.spyOn(process, 'availableMemory').mockReturnValue(availableBytes);
    const { files } = await new RoundTrainer().train(work());
    const keptLogits = kernels.mock.calls.some(
      ([name, , attributes]) => name === 'TokenLogProb' && attributes?.keepLogits,
    );
    return { files, ops: ops.mock.calls.length, keptLogits };
  };
  const roomy = await trained(8 * 1024 ** 3);
  const tight = await trained(0);
  vi.restoreAllMocks();
  expect(tight.ops).toBeGreaterThan(roomy.ops);
  expect([roomy.keptLogits, tight.keptLogits]).toEqual([true, false]);
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
    expect(bytes(tight.files, file).equals(bytes(roomy.files, file)), file).toBe(true);
});

test('a round without a single advantage is refused by name', async () => {
  const empty = work({ recipe: trioWith(() => [], ['proposer', 'solver', 'judge']) });
  await expect(new RoundTrainer().train(empty)).rejects.toMatchObject({
    kind: 'give-up',
    code: 'learner.empty-round',
  });
});

test('the report says how many samples of policies have an advantage', async () => {
  const only = (advantages: readonly number[]) =>
    trioWith(
      ([first]) => advantages.map((advantage) => ({ ...first!, advantage })),
      ['proposer', 'solver', 'judge'],
    );
  const { report } = await new RoundTrainer().train(work({ recipe: only([1, 0, 0, 0]) }));
  expect(report.withAdvantage).toBeCloseTo(1 / 4);
});

test('a damaged sample stops the round: nothing comes back to publish, and the trainer goes on from the parent', async () => {
  const trainer = new RoundTrainer();
  const damaged = trioWith(([first, ...rest]) => [{ ...first!, advantage: Number.NaN }, ...rest]);
  await expect(trainer.train(work({ recipe: damaged }))).rejects.toMatchObject({
    code: 'learner.non-finite',
  });
  const after = await trainer.train(work());
  const fresh = await new RoundTrainer().train(work());
  expect(bytes(after.files, 'model.safetensors').equals(bytes(fresh.files, 'model.safetensors'))).toBe(true);
});

test('samples of an older version are corrected, not taken at face value', async () => {
  const shifted = trioWith((items) =>
    items.map(({ sample, advantage }) => ({
      advantage,
      sample: { ...sample, logprobs: sample.logprobs.map((logprob) => logprob - 5) },
    })),
  );
  const { report } = await new RoundTrainer().train(work({ recipe: shifted }));
  expect(report.ratio.max).toBeGreaterThan(100);
  expect(Number.isFinite(report.loss)).toBe(true);
  expect(report.mismatch.mean).toBeGreaterThan(1e-3);
});

/** Teaches the solver by imitation alone. */
const imitating: RoundToTrain['recipe'] = {
  ...trio,
  learn: ({ groups }) => {
    const items = groups.flatMap(({ samples }) => samples.map(({ prompt, ids }) => ({ prompt, ids })));
    return { updates: [{ set: 'main', parts: [{ kind: 'sft', role: 'solver', weight: 1, items }] }] };
  },
};

test('a role that is trained by imitation is watched as one with a policy objective is', async () => {
  const solver = trioWith((items) => items);
  const byPolicy = (await new RoundTrainer().train(work({ recipe: solver }))).report.roles.solver!;
  const { files, report } = await new RoundTrainer().train(work({ recipe: imitating }));
  // The policy objective has an item for every sample, so that both look at the same tokens.
  expect(report.roles.solver).toMatchObject({ samples: byPolicy.samples, tokens: byPolicy.tokens });
  expect(report.roles.solver!.entropy).toBeCloseTo(byPolicy.entropy!, 5);
  expect(report.roles.solver!.klToStart).toBeLessThan(1e-8);
  expect(report.mismatch.max).toBe(0);

  const load = (version: number) => Promise.resolve(version === 0 ? seed : files);
  const later = { recipe: imitating, round: roundAt(2), parent: 1, next: 2, load };
  const moved = (await new RoundTrainer().train(work(later))).report.roles.solver!;
  expect(moved.klToStart).toBeGreaterThan(1e-5);
  expect(moved.entropy).not.toBeCloseTo(byPolicy.entropy!, 3);
});

test('a role that speaks with older weights is not watched', async () => {
  const frozen = { ...roundAt(2), roles: { ...roundAt(2).roles, judge: { name: 'p', version: 0 } } };
  const later = { recipe: imitating, round: frozen, parent: 1, next: 2 };
  const { report } = await new RoundTrainer().train(work(later));
  expect(Object.keys(report.roles)).toEqual(['solver']);
});

test('where nobody speaks with the trained weights, they are watched on what they imitate', async () => {
  const { files, report: first } = await new RoundTrainer().train(work({ recipe: imitating }));
  const load = (version: number) => Promise.resolve(version === 0 ? seed : files);
  const old = { name: 'p', version: 0 };
  const round = { ...roundAt(2), roles: { proposer: old, solver: old, judge: old } };
  const later = work({ recipe: imitating, round, parent: 1, next: 2, load });
  const { solver, ...others } = (await new RoundTrainer().train(later)).report.roles;
  const { samples, tokens } = first.roles.solver!;
  expect(solver).toMatchObject({ samples, tokens });
  expect(solver!.klToStart).toBeGreaterThan(1e-5);
  expect(others).toEqual({});
});

/** The mesh of the round, whose version 1 another learner has committed by the time that the first upload comes. */
function meshOfTwoLearners() {
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const bytesOf = new Map([[keys.proposals(round.id), encode(records.proposals)]]);
  const listed = records.groups.map((scored) => {
    const { group, index, task } = scored;
    bytesOf.set(keys.scored(round.id, group), encode(scored));
    const sha256 = sha256Hex(encode(scored));
    return { group, index, task, state: 'scored' as const, sha256, mac: null, failure: null };
  });
  const loaded: number[] = [];
  let current = 0;
  const gateway = {
    getPolicy: async () => ({ name: 'p', current, next: current + 1, versions: [] }),
    getObject: async (key: string) => bytesOf.get(key)!,
    getVersion: async ({ version }: { version: number }) => {
      // Version 0 is also read for the distance to it.
      if (version > 0) loaded.push(version);
      return seed;
    },
    report: async () => {},
    putVersion: async () => {
      if (current++ === 0) throw new RollmeshError('give-up', 'version.committed', 'It has other contents.');
    },
  };
  const state = { id: round.id, spec: round, state: 'training', proposalsSha256: null, manifests: {} };
  const messages = listed.map(({ group, index, sha256 }) => {
    const key = keys.scored(round.id, group);
    return { v: 1 as const, round: round.id, group, index, key, sha256, mac: '0'.repeat(64) };
  });
  const learn = (trainer: RoundTrainer) =>
    trainRound(gateway as never, trainer, state as never, listed, messages, {
      recipes: shipped,
      maxStaleness: 2,
      leaseMs: 1,
      longestIdleMs: 1,
      device: 'test',
    });
  return { learn, loaded };
}

test('a learner that lost the race for a version goes on from the one that was committed, not from its own', async () => {
  const { learn, loaded } = meshOfTwoLearners();
  const trainer = new RoundTrainer();
  await expect(learn(trainer)).rejects.toMatchObject({ code: 'version.committed' });
  await learn(trainer);
  expect(loaded).toEqual([1]);
  // What was published is trained on without loading it.
  await learn(trainer);
  expect(loaded).toEqual([1]);
  trainer.dispose();
});
