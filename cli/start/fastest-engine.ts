/**
 * `--engine fastest`: measures, before a run begins, which engine samples fastest on this machine from the policy that the run begins from.
 * The choice then is part of the run's identity like one that was named, so the same run can be had on any machine.
 */
import { wrongInput } from '../../core/errors.ts';
import { type Engine, kernelEngineOf, type Policy, type SmallerWeights } from '../../core/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { Engines } from '../../infer/engines.ts';
import { openVersion } from '../../infer/open-version.ts';

/** `kernels-plain` is left out: it is for hosts that cannot fuse multiply-adds, and never faster than `kernels`. */
const CANDIDATES = ['onnx', 'kernels'] as const satisfies readonly Engine[];
/** A batch as a round has it: prompts × samples of one prompt. */
const PROMPTS = 4;
const SAMPLES = 8;
const PROMPT_TOKENS = 24;
const NEW_TOKENS = 24;
/** In the first turns code is compiled. */
const WARM_UP = 2;
const TURNS = 5;
/** The default engine stays unless another takes at most this share of its time: less is within what two measurements differ by. */
const WORTHWHILE = 0.9;

export interface EngineTrial {
  readonly engine: Engine;
  /** The median CPU time of one batch, in ms; absent where this machine or this policy cannot use the engine. */
  readonly cpuMs?: number;
  /** Why not. */
  readonly fault?: string;
}

export interface FastestEngine {
  readonly engine: Engine;
  readonly trials: readonly EngineTrial[];
}

/** Measures the engines in turns, by this process's CPU time. Throws `wrong-input` where none can compute the policy. */
export async function fastestEngine(
  engines: Engines,
  files: VersionFiles,
  weights?: SmallerWeights,
): Promise<FastestEngine> {
  const opened: { engine: Engine; policy?: Policy; fault?: string; times: number[] }[] = [];
  for (const engine of CANDIDATES) {
    const name = kernelEngineOf(engine);
    const ref = { name: 'start', version: 0, ...(weights && { weights }), ...(name && { engine: name }) };
    try {
      opened.push({ engine, policy: await openVersion(engines, ref, files), times: [] });
    } catch (error) {
      opened.push({ engine, fault: error instanceof Error ? error.message : String(error), times: [] });
    }
  }
  for (let turn = 0; turn < WARM_UP + TURNS; turn++)
    for (const { policy, times } of opened) {
      const cpuMs = policy && (await cpuTimeOfBatch(policy));
      if (cpuMs !== undefined && turn >= WARM_UP) times.push(cpuMs);
    }
  for (const { policy } of opened) await policy?.dispose();
  return choose(
    opened.map(({ engine, fault, times }) => ({
      engine,
      ...(times.length > 0 ? { cpuMs: times.toSorted((a, b) => a - b)[times.length >> 1]! } : {}),
      ...(fault === undefined ? {} : { fault }),
    })),
  );
}

/** The engine to take: the first that was measured, unless a later one is faster by more than chance. */
export function choose(trials: readonly EngineTrial[]): FastestEngine {
  let best: EngineTrial | undefined;
  for (const trial of trials)
    if (trial.cpuMs !== undefined && (!best || trial.cpuMs <= WORTHWHILE * best.cpuMs!)) best = trial;
  if (best) return { engine: best.engine, trials };
  throw wrongInput('engine.none', 'No engine can compute the policy that the run begins from.', {
    expected: trials.map(({ engine, fault }) => `${engine}: ${fault}`).join('; '),
    next: 'Leave --weights out, or begin from another policy.',
  });
}

/** What the measurement found, in a sentence for the terminal. */
export function fastestWords({ engine, trials }: FastestEngine): string {
  const tokens = PROMPTS * SAMPLES * NEW_TOKENS;
  const figures = trials.map(({ engine: name, cpuMs, fault }) =>
    cpuMs === undefined
      ? `${name} cannot (${fault})`
      : `${name} ${Math.round((1000 * tokens) / cpuMs)} tokens/s`,
  );
  return `Fastest engine here: ${engine} (${figures.join(', ')} of one core). The run is the same as with --engine ${engine}.`;
}

async function cpuTimeOfBatch(policy: Policy): Promise<number> {
  const from = process.cpuUsage();
  await policy.generate(
    Array.from({ length: PROMPTS }, (_, p) => ({
      // Any tokens do: the time does not depend on which.
      ids: Array.from({ length: PROMPT_TOKENS }, (_, i) => (i + p) % 8),
      sampleIds: Array.from({ length: SAMPLES }, (_, s) => `${p}/${s}`),
    })),
    { maxNew: NEW_TOKENS, temperature: 1, stop: [] },
  );
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
