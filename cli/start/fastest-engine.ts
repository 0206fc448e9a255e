/**
 * `--engine fastest` and `--weights fastest`: measures, before a run begins, which engine samples fastest on this machine from the policy that
 * the run begins from, and whether it does so faster in 8 bits. The choice then is part of the run's identity like one that was named, so
 * the same run can be had on any machine.
 */
import { wrongInput } from '../../core/errors.ts';
import { type Engine, kernelEngineOf, type Policy, type SmallerWeights } from '../../core/policy/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { Engines } from '../../infer/engines.ts';
import { openVersion } from '../../infer/open-version.ts';

/** `kernels-plain` is left out: it is for hosts that cannot fuse multiply-adds, and never faster than `kernels`. */
const MEASURED_ENGINES = ['onnx', 'kernels'] as const satisfies readonly Engine[];
/** A batch as a round has it: prompts × samples of one prompt. */
const PROMPTS = 4;
const SAMPLES = 8;
const PROMPT_TOKENS = 24;
const NEW_TOKENS = 24;
/** In the first turns code is compiled. */
const WARM_UP = 2;
const TURNS = 5;
/** The first stays unless another takes at most this share of its time: less is within what two measurements differ by. */
const WORTHWHILE = 0.9;

/** An engine and the form of its weights; absent = float32. */
export interface SampledForm {
  readonly engine: Engine;
  readonly weights?: SmallerWeights;
}

export interface FormTrial extends SampledForm {
  /** The median CPU time of one batch, in ms; absent where this machine or this policy cannot use the form. */
  readonly cpuMs?: number;
  /** Why not. */
  readonly fault?: string;
}

export interface FastestForm {
  readonly chosen: SampledForm;
  readonly trials: readonly FormTrial[];
}

/**
 * What is measured: the engine that is named, or both; with the weights that are named, or in float32 and, on the kernels, in `int8`, whose
 * activations lose nothing. What changes the policy more is taken only by name.
 */
export function candidates(
  engine: Engine | undefined,
  weights: SmallerWeights | 'measured' | undefined,
): SampledForm[] {
  const engines = engine === undefined ? MEASURED_ENGINES : [engine];
  if (weights !== 'measured') return engines.map((name) => ({ engine: name, ...(weights && { weights }) }));
  return engines.flatMap((name): SampledForm[] =>
    kernelEngineOf(name) ? [{ engine: name }, { engine: name, weights: 'int8' }] : [{ engine: name }],
  );
}

/** Measures the forms in turns, by this process's CPU time. Throws `wrong-input` where none can compute the policy. */
export async function fastestForm(
  engines: Engines,
  files: VersionFiles,
  forms: readonly SampledForm[],
): Promise<FastestForm> {
  const opened: { form: SampledForm; policy?: Policy; fault?: string; times: number[] }[] = [];
  for (const form of forms) {
    const name = kernelEngineOf(form.engine);
    const { weights } = form;
    const ref = { name: 'start', version: 0, ...(weights && { weights }), ...(name && { engine: name }) };
    try {
      opened.push({ form, policy: await openVersion(engines, ref, files), times: [] });
    } catch (error) {
      opened.push({ form, fault: error instanceof Error ? error.message : String(error), times: [] });
    }
  }
  for (let turn = 0; turn < WARM_UP + TURNS; turn++)
    for (const { policy, times } of opened) {
      const cpuMs = policy && (await cpuTimeOfBatch(policy));
      if (cpuMs !== undefined && turn >= WARM_UP) times.push(cpuMs);
    }
  for (const { policy } of opened) await policy?.dispose();
  return choose(
    opened.map(({ form, fault, times }) => ({
      ...form,
      ...(times.length > 0 ? { cpuMs: times.toSorted((a, b) => a - b)[times.length >> 1]! } : {}),
      ...(fault === undefined ? {} : { fault }),
    })),
  );
}

/** The form to take: the first that was measured, unless a later one is faster by more than chance. */
export function choose(trials: readonly FormTrial[]): FastestForm {
  let best: FormTrial | undefined;
  for (const trial of trials)
    if (trial.cpuMs !== undefined && (!best || trial.cpuMs <= WORTHWHILE * best.cpuMs!)) best = trial;
  if (best)
    return { chosen: { engine: best.engine, ...(best.weights && { weights: best.weights }) }, trials };
  throw wrongInput('engine.none', 'No engine can compute the policy that the run begins from.', {
    expected: trials.map((trial) => `${nameOf(trial)}: ${trial.fault}`).join('; '),
    next: 'Leave --weights out, or begin from another policy.',
  });
}

const nameOf = ({ engine, weights }: SampledForm): string => (weights ? `${engine} in ${weights}` : engine);

/** What the measurement found, in a sentence for the terminal. */
export function fastestWords({ chosen, trials }: FastestForm): string {
  const tokens = PROMPTS * SAMPLES * NEW_TOKENS;
  const figures = trials.map(({ cpuMs, fault, ...form }) =>
    cpuMs === undefined
      ? `${nameOf(form)} cannot (${fault})`
      : `${nameOf(form)} ${Math.round((1000 * tokens) / cpuMs)} tokens/s`,
  );
  const options = `--engine ${chosen.engine}${chosen.weights ? ` --weights ${chosen.weights}` : ''}`;
  return `Fastest here: ${nameOf(chosen)} (${figures.join(', ')} of one core). The run is the same as with ${options}.`;
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
