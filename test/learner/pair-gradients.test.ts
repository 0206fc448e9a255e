/**
 * What losses of pairs have beyond the plain pair, on both devices: spans, offsets and weights of pairs, T-REG's token rewards, and a token
 * KL beside the pairs. Values and gradients by hand; gradients by states and by the model's weights against differences in float64.
 */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type {
  DistillationPart,
  PreferenceObjective,
  PreferencePair,
  PreferencePart,
  Sequence,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import type { AdamW } from '../../learner/nn/adamw.ts';
import { backward } from '../../learner/nn/backward.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import * as tf from '../../learner/tfjs.ts';
import { kindOfPart, unitsOf } from '../../learner/train/parts/index.ts';
import { sumOf, type Unit, type UnitScores } from '../../learner/train/parts/kind.ts';
import type { Model } from '../../learner/train/readouts.ts';
import { RoundScores, readEach } from '../../learner/train/scores.ts';
import { updateStep } from '../../learner/train/update.ts';
import { parseConfig } from '../../model/config.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { expectClose } from './losses/finite-difference.ts';
import { sequences, sum, tensorsOf, version } from './plan-fixture.ts';

// Chromium's software driver, where no other is configured.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

const ln = Math.log;
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const START = { set: 'main', version: 0 };
const about = { role: 'solver', weight: 1 } as const;
const pairPart = (objective: PreferenceObjective, pairs: readonly PreferencePair[]): PreferencePart => ({
  ...about,
  kind: 'preference',
  pairs,
  objective,
  reference: START,
});

/** Two responses of three and two tokens. All have log π = 0, so that a log-ratio is what the reference lacks. */
const HAND = { chosen: { prompt: [1], ids: [2, 3, 4] }, rejected: { prompt: [1], ids: [5, 6] } };
const REFERENCE = Float32Array.of(-ln(2), -ln(3), -ln(5), -ln(7), ln(2));

/** Value of pairs of these two responses, and its gradient by their tokens’ log-probabilities. */
async function byHand(objective: PreferenceObjective, ...pairs: PreferencePair[]) {
  const part = pairPart(objective, pairs);
  const kind = kindOfPart(part);
  const units = unitsOf(part);
  const logprobs = tf.zeros([units.length * REFERENCE.length]);
  const { value, grads } = tf.tidy(() => {
    const slice = { units, weights: kind.weights(part, units), model: {} as Model, outputs: [logprobs] };
    const scores = units.map(() => ({ reference: () => REFERENCE }));
    return backward(() => kind.loss(part, { ...slice, scores }).loss, [logprobs]);
  });
  const [[loss], gradient] = await Promise.all([value.data(), grads[0]!.data()]);
  tf.dispose([logprobs, value, grads[0]!]);
  return { loss: loss!, gradient: [...gradient] };
}

async function expectHandWorked(): Promise<void> {
  const dpo = { kind: 'dpo', beta: 1 } as const;
  const expectPairs = (
    { loss, gradient }: Awaited<ReturnType<typeof byHand>>,
    [wanted, slopes]: [number, number[]],
  ) => {
    expectClose([loss], [wanted], 1e-6);
    expectClose(gradient, slopes, 1e-6);
  };
  // ln 2 + ln 3 + ln 5 of the one and ln 7 − ln 2 of the other: a margin of ln(60/7), odds of 60 : 7.
  const whole = [-7, -7, -7, 7, 7].map((x) => x / 67);
  expectPairs(await byHand(dpo, HAND), [ln(67 / 60), whole]);
  // By the second token of the one and the last of the other alone: ln 3 + ln 2, odds of 6 : 1.
  const spans = [
    [0, 1, 0],
    [0, 1],
  ] as const;
  expectPairs(await byHand(dpo, { ...HAND, spans }), [ln(7 / 6), [0, -1 / 7, 0, 0, 1 / 7]]);
  // An offset of ln 2 makes 3 : 1 of them. This pair weighs 3 and a whole one beside it 1/2, as a mean over two pairs.
  const offset = ln(2);
  expectPairs(await byHand(dpo, { ...HAND, spans, offset, weight: 3 }, { ...HAND, weight: 0.5 }), [
    (3 * ln(4 / 3) + 0.5 * ln(67 / 60)) / 2,
    [0, -3 / 8, 0, 0, 3 / 8, ...whole.map((x) => x / 4)],
  ]);
  // T-REG: the pair still weighs 1/4, so that 2 · 1/4 of a token's reward pulls at it, where the pair is compared.
  const tokenRewards = [
    [9, 0.5, 9],
    [9, -0.25],
  ] as const;
  const tReg = { kind: 't-reg', beta: 1, alpha: 2 } as const;
  expectPairs(await byHand(tReg, { ...HAND, spans, offset, tokenRewards }), [
    ln(4 / 3),
    [0, -1 / 4 - 1 / 4, 0, 0, 1 / 4 + 1 / 8],
  ]);
}

const [first, second, third] = sequences(4, 7, 3) as [Sequence, Sequence, Sequence];
const GIVEN = [first, second, third];
const PAIRS: readonly PreferencePair[] = [
  {
    chosen: first,
    rejected: second,
    spans: [
      [0, 1, 1, 0],
      [1, 0, 0, 0, 0, 0, 1],
    ],
    offset: 0.7,
    weight: 3,
  },
  { chosen: third, rejected: first, weight: 0.5 },
];
const random = new Random('pair gradients');
const normals = (count: number): number[] => Array.from({ length: count }, () => random.normal());
const REWARDED: readonly PreferencePair[] = PAIRS.map((pair) => ({
  ...pair,
  tokenRewards: [normals(pair.chosen.ids.length), normals(pair.rejected.ids.length)],
}));
const tokenKl: DistillationPart = {
  ...about,
  weight: 2,
  kind: 'distillation',
  items: PAIRS.map(({ chosen }) => chosen),
  teacher: START,
  divergence: { kind: 'forward-kl' },
};
const DPO = pairPart({ kind: 'dpo', beta: 0.8 }, PAIRS);
const CASES: Readonly<Record<string, readonly UpdatePart[]>> = {
  'spans, offsets and weights': [DPO],
  'a token KL beside them': [DPO, tokenKl],
  'token rewards': [pairPart({ kind: 't-reg', beta: 0.8, alpha: 1.5 }, REWARDED)],
};

/** Log-probabilities of the next token before each token of a sequence, [tokens][vocabulary]. */
type Of = (sequence: Sequence) => readonly (readonly number[])[];

/** Of the sequences that are given, from hidden states [tokens][width] and an output matrix [vocabulary][width], in float64. */
function predictions(states: readonly (readonly number[])[], output: readonly (readonly number[])[]): Of {
  const rows = states.map((state) => {
    const logits = output.map((column) => sum(state.map((x, i) => x * column[i]!)));
    const total = ln(sum(logits.map(Math.exp)));
    return logits.map((x) => x - total);
  });
  return (sequence) => {
    const before = GIVEN.slice(0, GIVEN.indexOf(sequence));
    const from = sumOf(before, ({ ids }) => ids.length);
    return rows.slice(from, from + sequence.ids.length);
  };
}

/** A part’s loss from its definition. No gradient flows through the weight of T-REG’s term: it is taken from `fixed`. */
function lossOf(part: UpdatePart, now: Of, fixed: Of, start: Of): number {
  if (part.kind === 'distillation') {
    const each = part.items.flatMap((item) =>
      now(item).map((row, t) =>
        sum(row.map((q, v) => Math.exp(start(item)[t]![v]!) * (start(item)[t]![v]! - q))),
      ),
    );
    return (part.weight * sum(each)) / each.length;
  }
  const { pairs, objective } = part as PreferencePart;
  const { beta, alpha = 0 } = objective as { readonly beta: number; readonly alpha?: number };
  const each = pairs.map(({ chosen, rejected, spans, offset = 0, weight = 1, tokenRewards }) => {
    /** Σ of numbers of the tokens of a response by which the pair is compared. */
    const over = (which: 0 | 1, number: (t: number, id: number, sequence: Sequence) => number) => {
      const sequence = which ? rejected : chosen;
      return sum(sequence.ids.map((id, t) => (spans && spans[which][t] === 0 ? 0 : number(t, id, sequence))));
    };
    const beyond = (of: Of) => {
      const ratio = (which: 0 | 1) =>
        over(which, (t, id, sequence) => of(sequence)[t]![id]! - start(sequence)[t]![id]!);
      return beta * (ratio(0) - ratio(1)) - offset;
    };
    const pulled = (which: 0 | 1) =>
      over(which, (t, id, sequence) => now(sequence)[t]![id]! * (tokenRewards ? tokenRewards[which][t]! : 0));
    const term = alpha * sigmoid(-beyond(fixed)) * beta * (pulled(0) + pulled(1));
    return weight * (-ln(sigmoid(beyond(now))) - term);
  });
  return sum(each) / pairs.length;
}
const totalOf = (parts: readonly UpdatePart[], now: Of, fixed: Of, start: Of): number =>
  sum(parts.map((part) => lossOf(part, now, fixed, start)));

/** A student and a start of four numbers a state: all that a head knows of a model. */
const matrix = (rows: number): number[][] => Array.from({ length: rows }, () => normals(4));
const [STUDENT, TEACHER] = [
  { states: matrix(14), output: matrix(13) },
  { states: matrix(14), output: matrix(13) },
];
const startOf = predictions(TEACHER.states, TEACHER.output);

/** The loss of parts and its slopes by every state and output weight of the student, by differences of the formulas. */
function headSlopes(parts: readonly UpdatePart[]): { loss: number; slopes: number[][] } {
  const fixed = predictions(STUDENT.states, STUDENT.output);
  const slopes = (['states', 'output'] as const).map((which) =>
    STUDENT[which].flatMap((row, r) =>
      row.map((_, c) => {
        const at = (delta: number) => {
          const moved = STUDENT[which].map((other, i) =>
            i === r ? other.map((x, j) => (j === c ? x + delta : x)) : other,
          );
          const { states, output } = STUDENT;
          const now = which === 'states' ? predictions(moved, output) : predictions(states, moved);
          return totalOf(parts, now, fixed, startOf);
        };
        return (at(1e-5) - at(-1e-5)) / 2e-5;
      }),
    ),
  );
  return { loss: totalOf(parts, fixed, fixed, startOf), slopes };
}

/** The same as the learner’s parts compute it on the active device. */
async function headGradients(parts: readonly UpdatePart[]): Promise<{ loss: number; slopes: number[][] }> {
  const leaves = [tf.tensor2d(STUDENT.states), tf.tensor2d(STUDENT.output)];
  const teacher = tf.tensor2d(TEACHER.output);
  const { value, grads } = tf.tidy(() =>
    backward(() => {
      const [states, output] = leaves as [tf.Tensor2D, tf.Tensor2D];
      const all: tf.Tensor2D = tf.logSoftmax(tf.matMul(states, output, false, true));
      const params = { config: { tiedEmbeddings: true }, get: () => output };
      const losses = parts.map((part) => {
        const kind = kindOfPart(part);
        const units = unitsOf(part);
        const read = units.flatMap((unit) => unit.sequences);
        const rows = tf.tensor1d(read.flatMap(rowsOf), 'int32');
        const targets = tf.oneHot(
          tf.tensor1d(
            read.flatMap(({ ids }) => ids),
            'int32',
          ),
          13,
        );
        const outputs =
          kind.readout === 'states'
            ? [tf.gather(states, rows)]
            : [tf.sum(tf.mul(tf.gather(all, rows), targets), 1)];
        const scores = units.map((unit) => ({ ...scoresOfStart(unit), ...teacherOf(unit, teacher) }));
        const model = { params } as unknown as Model;
        return kind.loss(part, { units, weights: kind.weights(part, units), scores, model, outputs }).loss;
      });
      return losses.reduce((total, loss) => tf.add(total, loss));
    }, leaves),
  );
  const [[loss], ...slopes] = await Promise.all([value.data(), ...grads.map((gradient) => gradient!.data())]);
  tf.dispose([...leaves, teacher, value, ...grads.map((gradient) => gradient!)]);
  return { loss: loss!, slopes: slopes.map((each) => [...each]) };
}
/** The places of a sequence’s tokens among all that are given. */
function rowsOf(sequence: Sequence): number[] {
  const from = sumOf(GIVEN.slice(0, GIVEN.indexOf(sequence)), ({ ids }) => ids.length);
  return sequence.ids.map((_, t) => from + t);
}
const scoresOfStart = ({ sequences: read }: Unit): UnitScores => ({
  reference: () => Float32Array.from(read.flatMap((each) => each.ids.map((id, t) => startOf(each)[t]![id]!))),
});
const teacherOf = ({ sequences: read }: Unit, output: tf.Tensor2D): Pick<UnitScores, 'teacher'> => ({
  teacher: {
    states: Float32Array.from(read.flatMap((each) => rowsOf(each).flatMap((row) => TEACHER.states[row]!))),
    output,
  },
});

const [now, before] = [version('now'), version('start')];
const config = parseConfig(JSON.parse(new TextDecoder().decode(now['config.json'])));
const WEIGHTS = tensorsOf(now);
const modelOf = (tensors: Tensors) => ({ params: paramsFrom(config, tensors) }) satisfies Model;
/** What a transformer of these weights predicts: its states by the active device, the rest in float64. */
async function predictionsUnder(tensors: Tensors): Promise<Of> {
  const model = modelOf(tensors);
  const read = await readEach(model, GIVEN, 'states', 8192);
  model.params.dispose();
  const { data, shape } = tensors.get('model.embed_tokens.weight')!;
  const rows = (numbers: Float32Array) =>
    Array.from({ length: numbers.length / shape[1]! }, (_, r) =>
      Array.from(numbers.subarray(r * shape[1]!, (r + 1) * shape[1]!)),
    );
  return predictions(
    read.flatMap(([states]) => rows(states!)),
    rows(data),
  );
}

/** Wide enough that float32 states leave a slope four digits; the error by its square is taken out. */
const STEP = 0.02;
interface Slope {
  readonly tensor: string;
  /** Of length 1, drawn. */
  readonly direction: Float32Array;
  /** Of each case. */
  readonly slopes: ReadonlyMap<string, number>;
}

/** The losses of the cases, and their slopes along a direction in every tensor of the model. */
async function modelSlopes(): Promise<{ losses: Map<string, number>; along: Slope[] }> {
  const [fixed, start] = [await predictionsUnder(WEIGHTS), await predictionsUnder(tensorsOf(before))];
  const at = (moved: Of) =>
    new Map(Object.entries(CASES).map(([name, parts]) => [name, totalOf(parts, moved, fixed, start)]));
  const along: Slope[] = [];
  for (const [tensor, { shape, data }] of WEIGHTS) {
    const drawn = normals(data.length);
    const direction = Float32Array.from(drawn, (x) => x / Math.hypot(...drawn));
    const moved = async (by: number) => {
      const own = { shape, data: data.map((x, i) => x + by * direction[i]!) };
      return at(await predictionsUnder(new Map([...WEIGHTS, [tensor, own]])));
    };
    const [up, down] = [await moved(STEP), await moved(-STEP)];
    const [halfUp, halfDown] = [await moved(STEP / 2), await moved(-STEP / 2)];
    const slope = (name: string) =>
      (4 * ((halfUp.get(name)! - halfDown.get(name)!) / STEP) -
        (up.get(name)! - down.get(name)!) / (2 * STEP)) /
      3;
    along.push({
      tensor,
      direction,
      slopes: new Map(Object.keys(CASES).map((name) => [name, slope(name)])),
    });
  }
  return { losses: at(fixed), along };
}

/** The loss of a training step on some parts, and the gradients that the optimiser is given. */
async function trainingStep(parts: readonly UpdatePart[]) {
  const units = parts.flatMap(unitsOf);
  const [model, start] = [modelOf(WEIGHTS), modelOf(tensorsOf(before))];
  const scores = new RoundScores(8192, async () => start);
  await scores.add('main', model, units);
  const given = new Map<string, tf.Tensor>();
  const optimizer = {
    step(gradients: ReadonlyMap<string, tf.Tensor>) {
      for (const [name, gradient] of gradients) given.set(name, tf.keep(gradient.clone()));
      return tf.scalar(0);
    },
  } as unknown as AdamW;
  const options = { rate: 0, optimistic: false, tokenBudget: 8192 };
  const { numbers } = updateStep({ ...model, trainable: model.params, optimizer }, units, scores, options);
  const [loss] = await numbers.data();
  const gradients = new Map<string, ArrayLike<number>>();
  for (const [name, gradient] of given) gradients.set(name, await gradient.data());
  tf.dispose([numbers, ...given.values()]);
  scores.dispose();
  for (const { params } of [model, start]) params.dispose();
  return { loss: loss!, gradients };
}

const cpu = await openDevice({ device: 'cpu', threads: 1 });
const wanted = await modelSlopes();
cpu.close();

describe.each(['cpu', 'webgpu'] as const)('on %s', (kind) => {
  const open = () => openDevice({ device: kind, threads: 1 }).catch((error: Error) => error.message);

  test('by hand, and by the states and the output matrix against differences', async (context) => {
    const device = await open();
    if (typeof device === 'string') return context.skip(device);
    await expectHandWorked();
    for (const parts of Object.values(CASES)) {
      const [mine, formula] = [await headGradients(parts), headSlopes(parts)];
      expectClose([mine.loss], [formula.loss], 3e-6);
      for (const i of [0, 1]) expectClose(mine.slopes[i]!, formula.slopes[i]!, 3e-5);
    }
    device.close();
  });

  // A software driver compiles the shaders of a whole model for ten seconds of a core.
  const left = kind === 'webgpu';
  test.skipIf(left && !NIGHT)(
    `by the weights of a model, as the optimiser is given them${left ? IN_THE_NIGHT : ''}`,
    async (context) => {
      const device = await open();
      if (typeof device === 'string') return context.skip(device);
      for (const [name, parts] of Object.entries(CASES)) {
        const { loss, gradients } = await trainingStep(parts);
        expect(gradients.size).toBe(WEIGHTS.size);
        expectClose([loss], [wanted.losses.get(name)!], 1e-5);
        // Differences over float32 states are off by 1e-5, where slopes are 0.003 to 0.5.
        for (const { tensor, direction, slopes } of wanted.along) {
          const mine = sum(Array.from(direction, (x, i) => x * gradients.get(tensor)![i]!));
          expectClose([mine], [slopes.get(name)!], 4e-5);
        }
      }
      device.close();
    },
  );
});
