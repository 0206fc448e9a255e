/** Distillation from hidden states, block by block: values worked by hand, gradients by differences in float64, memory, both devices. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Divergence, DivergenceOver } from '../../../core/plan/training-plan.ts';
import { Random } from '../../../core/random.ts';
import { openDevice } from '../../../learner/device/node-host.ts';
import { backward } from '../../../learner/nn/backward.ts';
import { distilStates, rowsOfBlock } from '../../../learner/nn/distil-states.ts';
import * as tf from '../../../learner/tfjs.ts';
import { expectClose } from './finite-difference.ts';

// Chromium's software driver, where no other is configured.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

interface Spec {
  readonly divergence: Divergence;
  readonly top?: DivergenceOver;
  readonly entropyBeta?: number;
}

const FORWARD = { kind: 'forward-kl' } as const;
const REVERSE = { kind: 'reverse-kl' } as const;
const HALF = { kind: 'jensen-shannon', beta: 0.5 } as const;

/** Rows of numbers, [rows][width]. */
type Rows = readonly (readonly number[])[];

interface Case {
  readonly student: Rows;
  readonly output: Rows;
  readonly teacher: Rows;
  readonly teacherOutput: Rows;
  readonly weights: readonly number[];
}

const random = new Random('distil-states');
const draw = (rows: number, width: number): number[][] =>
  Array.from({ length: rows }, () => Array.from({ length: width }, () => random.normal()));
/** Seven tokens over a vocabulary of 8; the teacher is wider than the student. */
const drawn: Case = {
  student: draw(7, 4),
  output: draw(8, 4),
  teacher: draw(7, 12),
  teacherOutput: draw(8, 12),
  weights: [0.3, 0, 0.1, 0.25, 0.5, 0.15, 0.2],
};

const product = (rows: Rows, output: Rows): number[][] =>
  rows.map((row) => output.map((column) => row.reduce((sum, x, i) => sum + x * column[i]!, 0)));
const probabilities = (row: readonly number[]): number[] => {
  const total = row.reduce((sum, x) => sum + Math.exp(x), 0);
  return row.map((x) => Math.exp(x) / total);
};
const kl = (p: readonly number[], q: readonly number[]): number =>
  p.reduce((sum, x, i) => sum + x * Math.log(x / q[i]!), 0);

/** Σ weights · divergence in float64, written from the definitions. */
function formula(
  { student, output, teacher, teacherOutput, weights }: Case,
  { divergence, top, entropyBeta = 0 }: Spec,
): number {
  const own = product(student, output).map(probabilities);
  const theirs = product(teacher, teacherOutput).map(probabilities);
  return own.reduce((sum, row, t) => {
    let [p, q] = [theirs[t]!, row];
    const entropy = p.reduce((h, x) => h - x * Math.log(x), 0);
    if (top) {
      const by = top.of === 'teacher' ? p : q;
      const kept = by.map((x) => by.filter((other) => other > x).length < top.k);
      const coarse = (all: readonly number[]) => [
        ...all.filter((_, i) => kept[i]),
        all.reduce((rest, x, i) => (kept[i] ? rest : rest + x), 0),
      ];
      [p, q] = [coarse(p), coarse(q)];
    }
    const beta = divergence.kind === 'jensen-shannon' ? divergence.beta : 0;
    const m = p.map((x, i) => beta * x + (1 - beta) * q[i]!);
    const value =
      divergence.kind === 'forward-kl'
        ? kl(p, q)
        : divergence.kind === 'reverse-kl'
          ? kl(q, p)
          : beta * kl(p, m) + (1 - beta) * kl(q, m);
    return sum + weights[t]! * Math.exp(-entropyBeta * entropy) * value;
  }, 0);
}

/** The derivative of the formula by each number of a matrix, by central differences. */
const slopes = (given: Case, of: 'student' | 'output', spec: Spec): number[] =>
  given[of].flatMap((row, r) =>
    row.map((_, c) => {
      const at = (delta: number) => {
        const moved = given[of].map((other, i) =>
          i === r ? other.map((x, j) => (j === c ? x + delta : x)) : other,
        );
        return formula({ ...given, [of]: moved }, spec);
      };
      return (at(1e-5) - at(-1e-5)) / 2e-5;
    }),
  );

const matrix = (rows: Rows): tf.Tensor2D => tf.tensor2d(rows.map((row) => [...row]));

/** Value and gradients by the active device. */
async function measured(given: Case, spec: Spec, rows?: number, trainsOutput = true) {
  const [states, output] = [matrix(given.student), matrix(given.output)];
  const { value, grads } = tf.tidy(() => {
    const teacher = { states: matrix(given.teacher), output: matrix(given.teacherOutput) };
    const weights = tf.tensor1d([...given.weights]);
    return backward(
      () => distilStates({ student: { states, output }, trainsOutput, teacher, weights }, spec, rows),
      [states, output],
    );
  });
  const [[loss], dStates, dOutput] = await Promise.all([value.data(), grads[0]!.data(), grads[1]?.data()]);
  tf.dispose([states, output, value, ...grads.flatMap((gradient) => gradient ?? [])]);
  return { loss: loss!, dStates: [...dStates], dOutput: dOutput && [...dOutput] };
}

const SPECS: readonly Spec[] = [
  ...[FORWARD, REVERSE, HALF, { kind: 'jensen-shannon', beta: 0.2 } as const].map((divergence) => ({
    divergence,
  })),
  { divergence: FORWARD, top: { k: 3, of: 'teacher' } },
  { divergence: HALF, top: { k: 3, of: 'student' } },
  { divergence: HALF, entropyBeta: 1 },
  { divergence: FORWARD, top: { k: 3, of: 'teacher' }, entropyBeta: 0.5 },
];

test.for(['cpu', 'webgpu'] as const)(
  'on %s: values by hand, and value and gradients of the formula, in blocks of any size',
  async (kind, context) => {
    const device = await openDevice({ device: kind, threads: 1 }).catch((error: Error) => error.message);
    if (typeof device === 'string') return context.skip(device);
    // Output matrices of ones on the diagonal make states logits: teacher (1/2, 1/4, 1/8, 1/8), student (1/8, 1/4, 1/2, 1/8).
    const diagonal = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => Number(i === j)));
    const worked: Case = {
      student: [[1 / 8, 1 / 4, 1 / 2, 1 / 8].map(Math.log)],
      output: diagonal,
      teacher: [[1 / 2, 1 / 4, 1 / 8, 1 / 8].map(Math.log)],
      teacherOutput: diagonal,
      weights: [1],
    };
    const ln = Math.log;
    const byHand: [Spec, number][] = [
      // 1/2 ln 4 + 1/8 ln 1/4, and the same the other way round
      [{ divergence: FORWARD }, (3 / 8) * ln(4)],
      [{ divergence: REVERSE }, (3 / 8) * ln(4)],
      // the mixture is (5/16, 1/4, 5/16, 1/8)
      [{ divergence: HALF }, (1 / 2) * ln(8 / 5) + (1 / 8) * ln(2 / 5)],
      // 1/2 against 1/8, and the rest 1/2 against 7/8
      [{ divergence: FORWARD, top: { k: 1, of: 'teacher' } }, (1 / 2) * ln(4) + (1 / 2) * ln(4 / 7)],
      // by the student's likeliest: its 1/2 against 1/8, and the rest 1/2 against 7/8
      [{ divergence: REVERSE, top: { k: 1, of: 'student' } }, (1 / 2) * ln(4) + (1 / 2) * ln(4 / 7)],
      [{ divergence: FORWARD, top: { k: 9, of: 'teacher' } }, (3 / 8) * ln(4)],
      // the teacher's entropy is (1/2 + 2/4 + 3/8 + 3/8) ln 2 = 7/4 ln 2, also where only its likeliest token is compared
      [{ divergence: FORWARD, entropyBeta: 1 }, 2 ** -1.75 * (3 / 8) * ln(4)],
      [
        { divergence: FORWARD, top: { k: 1, of: 'teacher' }, entropyBeta: 2 },
        2 ** -3.5 * ((1 / 2) * ln(4) + (1 / 2) * ln(4 / 7)),
      ],
    ];
    for (const [spec, value] of byHand) expectClose([(await measured(worked, spec)).loss], [value], 3e-6);
    for (const spec of SPECS)
      for (const rows of kind === 'cpu' ? [1, 3, 7, undefined] : [3]) {
        const { loss, dStates, dOutput } = await measured(drawn, spec, rows);
        expectClose([loss], [formula(drawn, spec)], 3e-6);
        expectClose(dStates, slopes(drawn, 'student', spec), 3e-5);
        expectClose(dOutput!, slopes(drawn, 'output', spec), 3e-5);
      }
    const frozen = await measured(drawn, SPECS[0]!, 3, false);
    expect(frozen.dOutput).toBeUndefined();
    expectClose(frozen.dStates, slopes(drawn, 'student', SPECS[0]!), 3e-5);
    device.close();
  },
);

test('no array of tokens by vocabulary is made, of the student or of the teacher', async () => {
  const device = await openDevice({ device: 'cpu', threads: 1 });
  // A block is larger than the output matrix, and all tokens are far more than a block.
  const [tokens, vocabulary, width, rows] = [160, 125, 4, 8];
  const given: Case = {
    student: draw(tokens, width),
    output: draw(vocabulary, width),
    teacher: draw(tokens, width),
    teacherOutput: draw(vocabulary, width),
    weights: new Array<number>(tokens).fill(1 / tokens),
  };
  const largest = async (spec: Spec, block: number) => {
    const before = tf.memory().numBytes;
    let after = 0;
    const profile = await tf.profile(async () => {
      await measured(given, spec, block);
      after = tf.memory().numBytes;
      return [];
    });
    const sizes = profile.kernels.flatMap(({ outputShapes }) =>
      outputShapes.map((shape) => shape.reduce((n, side) => n * side, 1)),
    );
    expect(after).toBe(before);
    return { values: Math.max(...sizes), bytes: profile.peakBytes - before };
  };
  for (const spec of SPECS) {
    const inBlocks = await largest(spec, rows);
    expect(inBlocks.values).toBe(rows * vocabulary);
    const whole = await largest(spec, tokens);
    expect(whole.values).toBe(tokens * vocabulary);
    // With the tape of its loss 30 to 80 arrays of a block at once; of all tokens it would be as many of those.
    expect(inBlocks.bytes).toBeLessThan(90 * 4 * rows * vocabulary);
    expect(inBlocks.bytes).toBeLessThan(whole.bytes / 8);
    expect(whole.bytes).toBeGreaterThan(4 * tokens * vocabulary);
  }
  device.close();
});

test('a block has as many rows as fit 4 MB, and one at least', () => {
  expect(rowsOfBlock(1024)).toBe(1024);
  expect(rowsOfBlock(151_936)).toBe(6);
  expect(rowsOfBlock(1 << 30)).toBe(1);
});
