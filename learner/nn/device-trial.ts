/**
 * `auto`: which device trains a policy faster, by a trial at its size. A training step of one of its blocks, with a part of its vocabulary, is
 * timed on the CPU device and then on the GPU, if there is one. What the GPU may take for it is bounded by what the CPU took.
 */
import { parameterCount, tensorShapes } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { Device, DeviceSettings } from '../device/device.ts';
import { openDevice } from '../device/node-host.ts';
import * as tf from '../tfjs.ts';
import { AdamW } from './adamw.ts';
import { disposeResult, lossAndGrads } from './loss-and-grads.ts';
import { packSequences } from './pack.ts';
import { ParamSet } from './params.ts';
import { tokenLogProbs } from './token-log-probs.ts';

/** Sequences of the step, as many as a small round has: a GPU takes a few milliseconds for each step, however small it is. */
const SEQUENCES = 64;
/** Of a wide policy fewer, so that the CPU device has so many multiply-adds at most to do in a forward pass, and four at least. */
const MOST_WORK = 2 ** 34;
const FEWEST = 4;
const LENGTH = 64;
/** A policy's output projection may be most of its work, but a tenth of it says as well which device is faster. */
const MOST_VOCAB = 4096;
/** Steps that are timed after the first, which reserves memory and compiles shaders. */
const STEPS = 3;
/** The first step on a GPU compiles its shaders. */
const FIRST_STEP_MS = 20_000;
/** Of a step on the CPU device, which is not given up. */
const LONGEST_MS = 2 ** 31 - 1;
/**
 * How many times as fast the GPU's step must be: a round also reads values back, and has smaller batches. Of two rounds of 64 samples at 0.2 million
 * parameters a GPU's step took half the CPU's time, and the learner twice (bench/results/gpu.json).
 */
const MARGIN = 3;
/** A GPU that takes so many times the CPU's time is not waited for. */
const PATIENCE = 4;

export interface ChoiceSettings extends Omit<DeviceSettings, 'device'> {
  readonly device: 'auto' | 'cpu' | 'webgpu';
  /** Try a software driver too, which computes on the CPU. Default false: it is never faster than the CPU device. */
  readonly software?: boolean;
}

export interface ChosenDevice {
  readonly device: Device;
  /** What the trial found, in words; undefined where there was none. */
  readonly why?: string;
}

/** The policy's first block and the first of its tokens. */
function pieceOf(config: ModelConfig): ModelConfig {
  const maxPositions = Math.min(config.maxPositions, LENGTH);
  return {
    ...config,
    layers: config.layers.slice(0, 1),
    vocabSize: Math.min(config.vocabSize, MOST_VOCAB),
    maxPositions,
  };
}

/** Resolves to whether the work ended in time. */
async function inTime(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Median time of a training step of the piece on the open device, ms; undefined where a step takes longer than `limitMs`. */
export async function stepMs(config: ModelConfig, limitMs = LONGEST_MS): Promise<number | undefined> {
  const piece = pieceOf(config);
  const params = new ParamSet(
    piece,
    new Map([...tensorShapes(piece)].map(([name, shape]) => [name, tf.keep(tf.fill([...shape], 0.01))])),
  );
  const optimiser = new AdamW(params, { lr: 1e-6 });
  const perSequence = piece.maxPositions * parameterCount(piece);
  const sequences = Math.max(FEWEST, Math.min(SEQUENCES, Math.floor(MOST_WORK / perSequence)));
  const batch = packSequences(
    Array.from({ length: sequences }, (_, s) => ({
      ids: Array.from({ length: piece.maxPositions }, (_, t) => (31 * s + t) % piece.vocabSize),
      from: 1,
    })),
  );
  const times: number[] = [];
  try {
    for (let i = 0; i <= STEPS; i++) {
      const began = performance.now();
      const result = lossAndGrads(
        params,
        () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar,
      );
      const norm = optimiser.step(result.grads);
      disposeResult(result);
      // Reading the norm waits for the step.
      const done = await inTime(norm.data(), i === 0 ? Math.max(limitMs, FIRST_STEP_MS) : limitMs);
      if (!done) return undefined;
      norm.dispose();
      const took = performance.now() - began;
      if (i > 0 && took > limitMs) return undefined;
      if (i > 0) times.push(took);
    }
  } finally {
    optimiser.dispose();
    params.dispose();
  }
  return times.sort((a, b) => a - b)[STEPS >> 1]!;
}

const inMs = (time: number): string => `${time < 10 ? time.toFixed(1) : time.toFixed(0)} ms`;

/** Opens the device that needs no trial: the one that is asked for by name, or the CPU where there is no GPU. Undefined where there is a choice. */
export async function openIfOnly({
  device: asked,
  software = false,
  ...settings
}: ChoiceSettings): Promise<ChosenDevice | undefined> {
  if (asked !== 'auto') return { device: await openDevice({ ...settings, device: asked }) };
  const { missingGpu } = await import('../device/webgpu/adapter.ts');
  const missing = await missingGpu(software);
  return missing === undefined ? undefined : { device: await openDevice({ ...settings, device: 'cpu' }) };
}

/** Opens the device that the settings name, or for `auto` the one that takes a step of this policy's size in less time. */
export async function chooseDevice(settings: ChoiceSettings, config: ModelConfig): Promise<ChosenDevice> {
  return (await openIfOnly(settings)) ?? (await fasterDevice(settings, config));
}

/** Which device is faster by the times of the step, ms; a GPU without one took longer than it may. Exported for tests. */
export function fasterOf(
  { hiddenSize }: ModelConfig,
  cpuMs: number,
  gpuMs: number | undefined,
): { readonly kind: 'cpu' | 'webgpu'; readonly why: string } {
  const gpu = gpuMs === undefined ? `more than ${inMs(PATIENCE * cpuMs)}` : inMs(gpuMs);
  return {
    kind: gpuMs !== undefined && MARGIN * gpuMs < cpuMs ? 'webgpu' : 'cpu',
    why: `a step of one block of ${hiddenSize} values takes the CPU ${inMs(cpuMs)} and the GPU ${gpu}`,
  };
}

async function fasterDevice(settings: ChoiceSettings, config: ModelConfig): Promise<ChosenDevice> {
  const cpu = { ...settings, device: 'cpu' as const };
  await openDevice(cpu);
  const cpuMs = (await stepMs(config))!;
  let why: string;
  try {
    const device = await openDevice({ ...settings, device: 'webgpu' });
    const faster = fasterOf(config, cpuMs, await stepMs(config, PATIENCE * cpuMs));
    if (faster.kind === 'webgpu') return { device, why: faster.why };
    why = faster.why;
  } catch (error) {
    why = `the GPU failed in its trial: ${error instanceof Error ? error.message : String(error)}`;
  }
  return { device: await openDevice(cpu), why };
}
