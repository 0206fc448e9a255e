/**
 * The distillation part in a round of training: its loss against one worked in plain numbers from the models' states, teachers of every
 * kind (a version, an average, another policy, another prompt), token weights, and what is refused.
 */
import { beforeAll, expect, test } from 'vitest';
import type { DistillationPart, Sequence } from '../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import * as tf from '../../learner/tfjs.ts';
import { unitsOf } from '../../learner/train/parts/index.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { RoundScores, readEach } from '../../learner/train/scores.ts';
import { parseConfig } from '../../model/config.ts';
import {
  scoresOf,
  sequences,
  sum,
  type Teaching,
  teach,
  tensorsOf,
  text,
  trained,
  version,
} from './plan-fixture.ts';

const versions = [version('start'), version('now')];
const both = sequences(4, 7);
const tokens = 11;

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

const partOf = (change: Partial<DistillationPart> = {}): DistillationPart => ({
  kind: 'distillation',
  role: 'solver',
  weight: 1,
  items: both,
  teacher: { set: 'main', version: 0 },
  divergence: { kind: 'forward-kl' },
  ...change,
});
const train = (part: DistillationPart, change: Partial<Teaching> = {}, minibatches = 1) =>
  teach({ updates: [{ set: 'main', parts: [part], minibatches }] }, { versions, ...change });

/** Next-token probabilities before each of the ids, [sequences][ids][vocabulary]; the embeddings are tied. */
function distributions(files: VersionFiles, given: readonly Sequence[]): number[][][] {
  const { data, shape } = tensorsOf(files).get('model.embed_tokens.weight')!;
  const width = shape[1]!;
  return scoresOf(files, given).states.map((states) =>
    states.map((state) => {
      const logits = Array.from({ length: shape[0]! }, (_, v) =>
        sum(state.map((x, i) => x * data[v * width + i]!)),
      );
      const total = sum(logits.map(Math.exp));
      return logits.map((x) => Math.exp(x) / total);
    }),
  );
}
const kl = (p: readonly number[], q: readonly number[]) => sum(p.map((x, i) => x * Math.log(x / q[i]!)));
/** KL(teacher‖student) at each token, [sequences][ids]. */
const klOf = (teacher: VersionFiles, student: VersionFiles, prompts?: readonly Sequence['prompt'][]) => {
  const theirs = distributions(
    teacher,
    both.map(({ prompt, ids }, s) => ({ prompt: prompts?.[s] ?? prompt, ids })),
  );
  return distributions(student, both).map((rows, s) => rows.map((q, t) => kl(theirs[s]![t]!, q)));
};
const mean = (rows: readonly (readonly number[])[]) => sum(rows.flat()) / tokens;

test('the mean divergence from an earlier version, in one micro-batch or many, and a round makes it smaller', async () => {
  const expected = mean(klOf(versions[0]!, versions[1]!));
  for (const tokenBudget of [8192, 1]) {
    const { report, figures, files } = await train(partOf(), { tokenBudget });
    expect(report.loss).toBeCloseTo(expected, 5);
    expect(report.kinds).toEqual(['distillation']);
    expect(figures['main/solver/distillation/loss']).toBeCloseTo(expected, 5);
    expect(mean(klOf(versions[0]!, files))).toBeLessThan(expected);
  }
  const halved = await train(partOf({ weight: 0.5 }));
  expect(halved.report.loss).toBeCloseTo(expected / 2, 5);
});

test('a token’s weight multiplies its divergence and leaves the divisor as it is', async () => {
  const each = klOf(versions[0]!, versions[1]!);
  const weights = both.map(({ ids }, s) => ids.map((_, t) => (s + t) % 3));
  const { report } = await train(
    partOf({ items: both.map((sequence, s) => ({ ...sequence, weights: weights[s]! })) }),
  );
  expect(report.loss).toBeCloseTo(mean(each.map((row, s) => row.map((x, t) => x * weights[s]![t]!))), 5);
});

test('a token counts the less the higher its teacher’s entropy, and the divisor stays', async () => {
  const each = klOf(versions[0]!, versions[1]!);
  const entropies = distributions(versions[0]!, both).map((rows) =>
    rows.map((p) => -sum(p.map((x) => x * Math.log(x)))),
  );
  const { report } = await train(partOf({ entropyBeta: 1 }));
  expect(report.loss).toBeCloseTo(
    mean(each.map((row, s) => row.map((x, t) => x * Math.exp(-entropies[s]![t]!)))),
    5,
  );
});

test('a teacher with another prompt, which is the policy itself and stays as it was while the policy moves', async () => {
  const prompts = [
    [1, 2, 3, 4, 5, 6],
    [7, 8],
  ];
  const items = both.map((sequence, s) => ({ ...sequence, teacherPrompt: prompts[s]! }));
  const part = partOf({ items, teacher: { set: 'main', version: 1 } });
  const { report } = await train(part);
  expect(report.loss).toBeCloseTo(mean(klOf(versions[1]!, versions[1]!, prompts)), 5);
  // Without another prompt a policy is its own teacher, and a step teaches it nothing.
  const still = await train(partOf({ teacher: { set: 'main', version: 1 } }));
  expect(still.report.loss).toBeCloseTo(0, 6);
  // The second of two steps over the same units starts from moved weights, and the teacher has not moved with them.
  const repeated = await teach(
    { updates: [{ set: 'main', parts: [part], epochs: 2 }] },
    { versions, sets: { main: { ...trained, optimizer: { ...trained.optimizer!, learningRate: 1e-2 } } } },
  );
  const once = await teach(
    { updates: [{ set: 'main', parts: [part] }] },
    { versions, sets: { main: { ...trained, optimizer: { ...trained.optimizer!, learningRate: 1e-2 } } } },
  );
  const first = mean(klOf(versions[1]!, versions[1]!, prompts));
  const second = mean(
    distributions(once.files, both).map((rows, s) => {
      const theirs = distributions(
        versions[1]!,
        both.map(({ ids }, i) => ({ prompt: prompts[i]!, ids })),
      );
      return rows.map((q, t) => kl(theirs[s]![t]!, q));
    }),
  );
  expect(repeated.report.loss).toBeCloseTo((first + second) / 2, 4);
  expect(Math.abs(second - first)).toBeGreaterThan(1e-3);
});

test('a teacher that is a moving average of the student', async () => {
  const sets = { main: trained, teacher: { optimizer: null, average: { of: 'main', decay: 0.5 } } } as const;
  const teacher = (at: number) => partOf({ teacher: { set: 'teacher', version: at } });
  const one = await train(partOf(), { sets });
  const name = 'model.embed_tokens.weight';
  const [averaged, moved] = [tensorsOf(one.files, 'teacher.safetensors'), tensorsOf(one.files)];
  const start = tensorsOf(versions[0]!).get(name)!.data;
  for (const i of [0, 5, 100])
    expect(averaged.get(name)!.data[i]).toBeCloseTo((start[i]! + moved.get(name)!.data[i]!) / 2, 6);
  const { report } = await train(teacher(2), { sets, versions: [...versions, one.files] });
  const asMain = { ...one.files, 'model.safetensors': one.files['teacher.safetensors']! };
  expect(report.loss).toBeCloseTo(mean(klOf(asMain, one.files)), 5);
});

test('a teacher of another policy, wider and deeper than the student', async () => {
  const large = version('large', { hidden_size: 32, num_hidden_layers: 2 });
  const part = partOf({ teacher: { policy: 'large', set: 'main', version: 0 } });
  const { report } = await train(part, { others: { large } });
  expect(report.loss).toBeCloseTo(mean(klOf(large, versions[1]!)), 4);
  // A trainer that is used again gives the same bytes.
  const trainer = new RoundTrainer();
  const files = [];
  for (const _ of [0, 1]) files.push((await train(part, { others: { large }, trainer })).files);
  expect(files[1]!['model.safetensors']).toEqual(files[0]!['model.safetensors']);
  trainer.dispose();
});

test('what cannot be distilled from is said before anything is trained', async () => {
  const others = {
    wide: version('wide', { vocab_size: 17 }),
    strange: { ...version('strange'), 'tokenizer.json': text({ a: 1 }) },
  };
  const tokenized = versions.map((files) => ({ ...files, 'tokenizer.json': text({ a: 0 }) }));
  const of = (policy: string) => partOf({ teacher: { policy, set: 'main', version: 0 } });
  await expect(train(of('wide'), { others })).rejects.toThrow(/vocabulary of 17 tokens.* one of 13/);
  await expect(train(of('strange'), { others, versions: tokenized })).rejects.toThrow(
    /tokenizer of strange@0 is not that/,
  );
  await expect(train(of('stranger'), { others })).rejects.toThrow(
    /teacher stranger@0 plays no role of the round\. Expected a role that the recipe binds/,
  );
  const long = both.map((sequence) => ({ ...sequence, teacherPrompt: new Array<number>(58).fill(1) }));
  await expect(train(partOf({ items: long }))).rejects.toThrow(
    /teacher main\/0 would read 58 tokens of a prompt and 7 of an answer\. Expected at most 64 tokens together/,
  );
  const refused: [Partial<DistillationPart>, string][] = [
    [{ items: [{ ...both[0]!, weights: [1] }] }, 'training-plan.length'],
    [{ divergence: { kind: 'jensen-shannon', beta: 1 } }, 'training-plan.beta'],
    [{ divergence: { kind: 'jensen-shannon', beta: Number.NaN } }, 'training-plan.beta'],
    [{ top: { k: 0, of: 'teacher' } }, 'training-plan.top'],
    [{ entropyBeta: -1 }, 'training-plan.entropy-beta'],
    [{ entropyBeta: Number.NaN }, 'training-plan.entropy-beta'],
  ];
  for (const [change, code] of refused) await expect(train(partOf(change))).rejects.toMatchObject({ code });
});

test('of a teacher its hidden states are kept in host memory, and its output matrix once on the device: no row of the vocabulary for a token', async () => {
  const [vocabulary, width] = [1999, 16];
  const teacher = version('start', { vocab_size: vocabulary });
  const tensors = tensorsOf(teacher);
  const config = parseConfig(JSON.parse(new TextDecoder().decode(teacher['config.json'] as Uint8Array)));
  const model = { params: paramsFrom(config, tensors) };
  const part = partOf({ items: sequences(4, 7, 30, 21) });
  const units = unitsOf(part);
  const scores = new RoundScores(64, async () => model);
  // A model keeps its tables of positions from its first reading on.
  await readEach(model, part.items, 'states', 64);
  const before = tf.memory().numBytes;
  await scores.add('main', model, units);
  expect(tf.memory().numBytes - before).toBe(4 * vocabulary * width);
  for (const unit of units) {
    const [{ ids }] = unit.sequences as [Sequence];
    expect(scores.of(unit).teacher!.states).toHaveLength(ids.length * width);
  }
  scores.dispose();
  expect(tf.memory().numBytes).toBe(before);
  model.params.dispose();
});
