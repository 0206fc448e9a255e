/**
 * How much one invocation may compute. A Worker that outlives its CPU limit is killed with all that it has done, and its clock
 * stands still while it computes: so time is reckoned beforehand, on the high side, and work that does not fit is put off.
 * Completions are functions of prompt, sample and version alone, so that work that was put off comes to the same bits.
 */
import * as v from 'valibot';
import type { Completion, GeneratePrompt, Policy, PolicyRef } from '../../core/policy.ts';
import { deriveId } from '../../core/random.ts';

/** Milliseconds of CPU time that an engine takes for a token of a row that is alone, at most; batches take a fraction of it. */
interface TokenTime {
  /** Whatever the policy's size. */
  readonly fixedMs: number;
  /** For each weight. */
  readonly weightMs: number;
}

/**
 * ONNX Runtime, with matrices that are not laid out for its kernels, was measured at 0.9 ns a weight
 * (docs/decisions/0006-generation-engine.md), and the nodes of the smallest policy's graph take longer than its products. Blocks of int8 and
 * int4 are turned into float32 whenever they are used, whatever the batch, which takes another 1.7 ns.
 */
const ONNX: TokenTime = { fixedMs: 1, weightMs: 1e-6 };
const ONNX_BLOCKS: TokenTime = { fixedMs: 1, weightMs: 2.7e-6 };
/**
 * The kernels engine was measured at .03 ms a token of 0.2 M weights, at .22 ns a weight in float32, and at .1 ns in 8 bits on a processor
 * without AVX-VNNI, 12.8 M weights each (docs/decisions/0010-kernels-engine.md). Twice that, for slower processors.
 */
const KERNELS: TokenTime = { fixedMs: 0.1, weightMs: 0.5e-6 };
const KERNELS_8_BITS: TokenTime = { fixedMs: 0.1, weightMs: 0.25e-6 };

function tokenTime({ weights, engine }: PolicyRef): TokenTime {
  if (engine) return weights ? KERNELS_8_BITS : KERNELS;
  return weights === 'int8' || weights === 'int4' ? ONNX_BLOCKS : ONNX;
}

/** Half of the 300 s that wrangler.toml asks for. */
const DEFAULT_SECONDS = 150;

/** The CPU budget of an invocation by its setting, in milliseconds. */
export function cpuBudgetMs(seconds: string | undefined): number {
  const value = Number(seconds);
  return 1000 * (value > 0 && Number.isFinite(value) ? value : DEFAULT_SECONDS);
}

/** Thrown where the CPU budget does not suffice. What was made until then is kept. */
export class BudgetExceeded extends Error {
  constructor() {
    super('internal: the CPU budget is used up');
  }
}

export class CpuBudget {
  #leftMs: number;
  #untouched = true;

  /** `ms`: estimated milliseconds of CPU time in all. */
  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** Of `wanted` rows that take `rowMs` each, how many may be made. The first are never refused altogether: there would be no progress. */
  take(wanted: number, rowMs: number): number {
    const affordable = rowMs > 0 ? Math.floor(this.#leftMs / rowMs) : wanted;
    const taken = Math.min(wanted, Math.max(affordable, this.#untouched ? 1 : 0));
    this.#leftMs -= taken * rowMs;
    this.#untouched &&= taken === 0;
    return taken;
  }
}

const completion = v.object({
  ids: v.array(v.number()),
  logprobs: v.array(v.number()),
  stopped: v.boolean(),
});
export const partialCompletions = v.record(v.string(), completion);
export type PartialCompletions = v.InferOutput<typeof partialCompletions>;

/** Completions that were made already, by what they are functions of. */
export class PartialResults {
  readonly #all = new Map<string, Completion>();
  #touched: Record<string, Completion> = {};

  add(completions: PartialCompletions): void {
    for (const [key, value] of Object.entries(completions)) this.#all.set(key, value);
  }

  get(key: string): Completion | undefined {
    const found = this.#all.get(key);
    if (found) this.#touched[key] = found;
    return found;
  }

  /** What was found since the last call. */
  takeTouched(): PartialCompletions {
    const touched = this.#touched;
    this.#touched = {};
    return touched;
  }
}

/** `how`: all of the sampling settings, as text. */
const keyOf = ({ ref }: Policy, { ids }: GeneratePrompt, sampleId: string, how: string) =>
  deriveId(ref.set ?? '', ref.version, sampleId, how, ids.join());

/** A policy that makes what is not kept yet, as far as `cpuBudget` goes; null = plays back what is kept. Throws Paused where anything is left. */
export function budgeted(policy: Policy, kept: PartialResults, cpuBudget: CpuBudget | null): Policy {
  return {
    ref: policy.ref,
    score: (sequences) => policy.score(sequences),
    dispose: () => policy.dispose(),
    async generate(prompts, settings) {
      const how = JSON.stringify(settings);
      const keys = prompts.map((prompt) => prompt.sampleIds.map((id) => keyOf(policy, prompt, id, how)));
      const found = keys.map((row) => row.map((key) => kept.get(key)));
      const missing = found.flatMap((row, p) => row.flatMap((had, s) => (had ? [] : [{ p, s }])));
      const longest = Math.max(0, ...missing.map(({ p }) => prompts[p]!.ids.length));
      const now = missing.slice(
        0,
        cpuBudget?.take(missing.length, rowMs(policy, longest + settings.maxNew)) ?? 0,
      );
      const chosen = [...new Set(now.map(({ p }) => p))].map((p) => ({
        p,
        samples: now.filter((one) => one.p === p).map(({ s }) => s),
      }));
      const made = chosen.length
        ? await policy.generate(
            chosen.map(({ p, samples }) => ({
              ids: prompts[p]!.ids,
              sampleIds: samples.map((s) => prompts[p]!.sampleIds[s]!),
            })),
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

/** A policy whose weights are elsewhere takes none of this Worker's time. */
function rowMs({ parameters, ref }: Policy, tokens: number): number {
  if (parameters === undefined) return 0;
  const { fixedMs, weightMs } = tokenTime(ref);
  return tokens * (fixedMs + parameters * weightMs);
}
