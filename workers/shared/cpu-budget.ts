/**
 * Limits the CPU time of one invocation. A Worker that exceeds its CPU limit is killed and loses all its work, and its clock
 * stands still while it computes: so the time is estimated beforehand, on the high side, and work that does not fit is postponed.
 * A completion depends on the prompt, the sample, the sampling settings and the version alone, so postponed work gives the same bits.
 */
import * as v from 'valibot';
import { measure, measurementKey } from '../../core/policy/measure.ts';
import type {
  Completion,
  GeneratePrompt,
  MeasuredSequence,
  Policy,
  PolicyRef,
  SamplingSettings,
} from '../../core/policy/policy.ts';
import { type Measurement, measurement } from '../../core/schema/measurement.ts';
import { completion } from '../../core/schema/work.ts';
import { grammarKey } from '../../core/text/token-grammar.ts';

/** Upper bound of an engine's CPU time for one token of a single row, in ms; rows of a batch take a fraction of it. */
interface TokenTime {
  /** The part that does not depend on the policy's size. */
  readonly fixedMs: number;
  /** The part for each weight. */
  readonly weightMs: number;
  /** The part for each value of an earlier token that attention reads. */
  readonly attendedMs: number;
}

/**
 * ONNX Runtime, with matrices that are not laid out for its kernels, was measured at 0.9 ns a weight
 * (docs/decisions/0006-generation-engine.md), and the nodes of the smallest policy's graph take longer than its products. Blocks of int8 and
 * int4 are turned into float32 at every use, whatever the batch size, which takes another 1.7 ns a weight.
 */
const ONNX: TokenTime = { fixedMs: 1, weightMs: 1e-6, attendedMs: 0 };
const ONNX_BLOCKS: TokenTime = { fixedMs: 1, weightMs: 2.7e-6, attendedMs: 0 };
/**
 * The kernels engine was measured at .03 ms a token of 0.2 M weights, at .22 ns a weight in float32, and at .1 ns in 8 bits on a processor
 * without AVX-VNNI, 12.8 M weights each (docs/decisions/0010-kernels-engine.md), and attention at .25 ns a value that it reads
 * (1.5 M weights, 9000 tokens). Twice that, for slower processors.
 */
const KERNELS: TokenTime = { fixedMs: 0.1, weightMs: 0.5e-6, attendedMs: 0.5e-6 };
const KERNELS_8_BITS: TokenTime = { ...KERNELS, weightMs: 0.25e-6 };

function tokenTime({ weights, engine }: PolicyRef): TokenTime {
  if (engine) return weights ? KERNELS_8_BITS : KERNELS;
  return weights === 'int8' || weights === 'int4' ? ONNX_BLOCKS : ONNX;
}

/** Half of the 300 s that wrangler.toml asks for. */
const DEFAULT_SECONDS = 150;

/** The CPU budget of an invocation in milliseconds, from its setting in seconds. */
export function cpuBudgetMs(seconds: string | undefined): number {
  const value = Number(seconds);
  return 1000 * (value > 0 && Number.isFinite(value) ? value : DEFAULT_SECONDS);
}

/** Thrown where the CPU budget does not suffice. Completions made before are kept as partial results. */
export class BudgetExceeded extends Error {
  constructor() {
    super('internal: the CPU budget is used up');
  }
}

export class CpuBudget {
  #leftMs: number;
  #untouched = true;

  /** `ms`: the whole budget in estimated milliseconds of CPU time. */
  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** How many of `wanted` rows of `rowMs` each may be made. Grants one row if none was made yet, so that there is progress. */
  take(wanted: number, rowMs: number): number {
    const affordable = rowMs > 0 ? Math.floor(this.#leftMs / rowMs) : wanted;
    const taken = Math.min(wanted, Math.max(affordable, this.#untouched ? 1 : 0));
    this.#leftMs -= taken * rowMs;
    this.#untouched &&= taken === 0;
    return taken;
  }
}

/** The completions of a sampling request, in the order asked. */
export const workResults = v.array(completion);
/** What an invocation left of a group: completions and measurements, by their keys. */
export const partialRecord = v.record(v.string(), v.union([completion, measurement]));
export type PartialRecord = v.InferOutput<typeof partialRecord>;

/** Completions and measurements that were made already, by a key of everything that they depend on. */
export class PartialResults {
  readonly #all = new Map<string, Completion | Measurement>();
  #touched: Record<string, Completion | Measurement> = {};

  add(results: PartialRecord): void {
    for (const [key, value] of Object.entries(results)) this.#all.set(key, value);
  }

  #get(key: string): Completion | Measurement | undefined {
    const found = this.#all.get(key);
    if (found) this.#touched[key] = found;
    return found;
  }

  completion(key: string): Completion | undefined {
    return this.#get(key) as Completion | undefined;
  }

  measurement(ref: PolicyRef, sequence: MeasuredSequence): Measurement | undefined {
    return this.#get(measurementKey(ref, sequence)) as Measurement | undefined;
  }

  /** Returns what was looked up and found since the last call. */
  takeTouched(): PartialRecord {
    const touched = this.#touched;
    this.#touched = {};
    return touched;
  }
}

/**
 * The keys of a prompt's completions, in the order of its samples: all that they depend on, as text, since every stage looks up every sample and
 * a hash in JavaScript takes longer than the rest of that. A grammar, which is as large as the vocabulary, is part of them by its own key.
 */
export function keysOf(
  ref: Pick<PolicyRef, 'set' | 'version'>,
  { ids, sampleIds }: GeneratePrompt,
  { grammar, ...settings }: SamplingSettings,
): string[] {
  const how = JSON.stringify(grammar ? { ...settings, grammar: grammarKey(grammar) } : settings);
  const asked = `${ref.set ?? ''} ${ref.version} ${how} ${ids.join()}`;
  return sampleIds.map((sample) => `${asked} ${sample}`);
}

/** Looks up what is kept of a call of `generate`; `missing` are the prompts and samples that are not, by their indices. */
export function lookUp(
  kept: PartialResults,
  ref: PolicyRef,
  prompts: readonly GeneratePrompt[],
  settings: SamplingSettings,
) {
  const keys = prompts.map((prompt) => keysOf(ref, prompt, settings));
  const found = keys.map((row) => row.map((key) => kept.completion(key)));
  const missing = found.flatMap((row, p) => row.flatMap((had, s) => (had ? [] : [{ p, s }])));
  return { keys, found, missing };
}

/** Those prompts and samples as a request of their own, with the index of each prompt. */
export function promptsOf(
  prompts: readonly GeneratePrompt[],
  some: readonly { readonly p: number; readonly s: number }[],
): { readonly p: number; readonly samples: readonly number[]; readonly prompt: GeneratePrompt }[] {
  return [...new Set(some.map(({ p }) => p))].map((p) => {
    const samples = some.filter((one) => one.p === p).map(({ s }) => s);
    const { ids, sampleIds } = prompts[p]!;
    return { p, samples, prompt: { ids, sampleIds: samples.map((s) => sampleIds[s]!) } };
  });
}

/** A policy that samples what is not kept yet while `cpuBudget` lasts (null = only plays back). Throws BudgetExceeded if anything is left. */
export function budgeted(policy: Policy, kept: PartialResults, cpuBudget: CpuBudget | null): Policy {
  return {
    ref: policy.ref,
    score: (sequences) => policy.score(sequences),
    measure: (sequences) => measureWithin(policy, kept, sequences, cpuBudget),
    dispose: () => policy.dispose(),
    async generate(prompts, settings) {
      const { keys, found, missing } = lookUp(kept, policy.ref, prompts, settings);
      const longest = Math.max(0, ...missing.map(({ p }) => prompts[p]!.ids.length));
      const now = missing.slice(
        0,
        cpuBudget?.take(missing.length, rowMs(policy, longest + settings.maxNew)) ?? 0,
      );
      const chosen = promptsOf(prompts, now);
      const made = chosen.length
        ? await policy.generate(
            chosen.map(({ prompt }) => prompt),
            settings,
          )
        : [];
      chosen.forEach(({ p, samples }, i) => {
        samples.forEach((s, j) => {
          found[p]![s] = made[i]![j]!;
          kept.add({ [keys[p]![s]!]: made[i]![j]! });
        });
      });
      if (now.length < missing.length) throw new BudgetExceeded();
      return found as Completion[][];
    },
  };
}

/** Measures what is not kept yet while the budget lasts. Throws BudgetExceeded if anything is left. */
export async function measureWithin(
  policy: Policy,
  kept: PartialResults,
  sequences: readonly MeasuredSequence[],
  cpuBudget: CpuBudget | null,
): Promise<Measurement[]> {
  const { ref } = policy;
  // The same sequence may be asked for twice.
  const unknown = sequences.filter((sequence) => !kept.measurement(ref, sequence));
  const byKey = new Map(unknown.map((sequence) => [measurementKey(ref, sequence), sequence]));
  const missing = [...byKey.values()];
  const longest = Math.max(0, ...missing.map(({ prompt, ids }) => prompt.length + ids.length));
  const now = missing.slice(0, cpuBudget?.take(missing.length, rowMs(policy, longest)) ?? 0);
  const made = now.length ? await measure(policy, now) : [];
  now.forEach((sequence, i) => void kept.add({ [measurementKey(ref, sequence)]: made[i]! }));
  const found = sequences.map((sequence) => kept.measurement(ref, sequence));
  if (now.length < missing.length) throw new BudgetExceeded();
  return found as Measurement[];
}

/** Estimated CPU time of a row, in ms; 0 for a policy whose weights are elsewhere, since it takes none of this Worker's time. */
export function rowMs(
  { parameters, attended = 0, ref }: Pick<Policy, 'parameters' | 'attended' | 'ref'>,
  tokens: number,
): number {
  if (parameters === undefined) return 0;
  const { fixedMs, weightMs, attendedMs } = tokenTime(ref);
  return tokens * (fixedMs + parameters * weightMs + (tokens / 2) * attended * attendedMs);
}
