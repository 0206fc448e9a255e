/**
 * A Policy over the project's own kernels. A completion's tokens and log-probabilities are a function of the weights, the form, the prompt, the
 * sample's id and the settings alone, to the last bit: they depend neither on the other rows of a batch nor on what ran before. A score
 * has the same bits as the log-probability that generation gave at temperature 1.
 */
import { wrongInput } from '../../core/errors.ts';
import {
  type Completion,
  type GeneratePrompt,
  type HeadKind,
  LONGEST_CONTEXT,
  type Policy,
  type PolicyRef,
  type SamplingSettings,
  type TokenIds,
  type TokenScores,
  type Watch,
} from '../../core/policy/policy.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { HeadWeights } from '../../model/head.ts';
import type { Tensor } from '../../model/safetensors.ts';
import type { TensorPiece } from '../../model/safetensors-stream.ts';
import { noPlaces } from '../alternatives.ts';
import { checkIds, checkSettings } from '../settings.ts';
import type { Builds } from './builds.ts';
import { cacheBytes } from './cache.ts';
import { Decoder } from './decoder.ts';
import { ARITHMETIC, formOf } from './forms.ts';
import { type BatchPrompt, openBatch } from './generate-batch.ts';
import { Areas, Heap, START } from './heap.ts';
import { KeptTurns } from './kept-turns.ts';
import { openKernels } from './open-kernels.ts';
import { scoreSequence } from './score-sequence.ts';
import { layOutEnded, type SharedWeights, wholeOf, windowOf } from './shared-weights.ts';
import { Weights } from './weights.ts';

/** The most rows that are generated together. More would not make the matrix products faster. */
const MAX_ROWS = 64;
const MIB = 1 << 20;
/** The bytes that a policy may take of an isolate's 128 MB: weights, caches of a batch, and what the last turns of episodes keep. */
export const ISOLATE_BYTES = 104 * MIB;
/** The largest shares of these bytes that a batch's caches, logits and work areas, and last turns take. The smaller the weights, the more. */
const MOST_BATCH = 48 / 104;
const MOST_KEPT = 16 / 104;
/** What they take at least, however large the weights are. */
const LEAST_BATCH = 8 * MIB;
const LEAST_KEPT = 2 * MIB;

/** A policy whose weights are still being loaded. */
export interface KernelLoading {
  /** Takes pieces of tensors in any order; each is checked as it comes. */
  write(piece: TensorPiece): void;
  /** Returns the policy; call it when all tensors have come. `head`: the head on the hidden states, if the parameter set has one. */
  finish(head?: HeadWeights): KernelPolicy;
}

/**
 * Reserves memory for a policy in the form that its reference names. `hostBytes` is what the host has for it; it bounds how many rows are
 * generated together, and changes no token. `shared`: the weights are laid out there, for other threads as well.
 */
export function loadKernelPolicy(
  builds: Builds,
  ref: PolicyRef,
  config: ModelConfig,
  hostBytes = ISOLATE_BYTES,
  shared?: SharedWeights,
): KernelLoading {
  const form = formOf(ref);
  const instance = openKernels(builds, form, shared && new Heap(shared.memory, wholeOf(shared)));
  const { planes } = ARITHMETIC[form];
  const weights = new Weights(instance, config, planes > 0);
  return {
    write: (piece) => weights.write(piece),
    finish: (head) => {
      weights.complete();
      if (!shared)
        return new KernelPolicy(ref, new Decoder(instance, config, weights, planes, head), hostBytes);
      layOutEnded(shared, weights.end);
      return shareKernelPolicy(builds, ref, config, hostBytes, shared, head);
    },
  };
}

/** A batch is planned for this share of a thread's window: work areas, and prompts so long that one sample takes more, need the rest. */
const WINDOW_SHARE = 3 / 4;

/** Opens a policy over weights that are laid out. */
export function shareKernelPolicy(
  builds: Builds,
  ref: PolicyRef,
  config: ModelConfig,
  hostBytes: number,
  shared: SharedWeights,
  head?: HeadWeights,
): KernelPolicy {
  const form = formOf(ref);
  const { planes } = ARITHMETIC[form];
  const { threads } = shared;
  const window = windowOf(shared);
  const instance = openKernels(builds, form, new Heap(shared.memory, window));
  const weights = new Weights(instance, config, planes > 0, new Areas(START));
  // All threads together take the weights once.
  const bytes = hostBytes + weights.end * (1 - 1 / threads);
  const batchBytes = WINDOW_SHARE * (window.end - window.start);
  return new KernelPolicy(ref, new Decoder(instance, config, weights, planes, head), bytes, batchBytes);
}

/** Opens a policy whose tensors are all in memory. */
export function createKernelPolicy(
  builds: Builds,
  ref: PolicyRef,
  config: ModelConfig,
  tensors: Iterable<readonly [name: string, tensor: Tensor]>,
  hostBytes = ISOLATE_BYTES,
  shared?: SharedWeights,
  head?: HeadWeights,
): KernelPolicy {
  const loading = loadKernelPolicy(builds, ref, config, hostBytes, shared);
  for (const [name, { shape, data }] of tensors) loading.write({ name, shape, row: 0, data });
  return loading.finish(head);
}

interface Batch {
  readonly prompts: (BatchPrompt & { readonly prompt: number })[];
  rows: number;
  bytes: number;
}

export class KernelPolicy implements Policy {
  readonly ref: PolicyRef;
  readonly parameters: number;
  readonly attended: number;
  readonly head: HeadKind | undefined;
  readonly #config: ModelConfig;
  readonly #batchBytes: number;
  /** What weights and batches may take together, bytes. */
  readonly #hostBytes: number;
  readonly #kept: KeptTurns;
  #decoder: Decoder | undefined;
  /** A generation that somebody watches, until it has ended: its batch lies on the heap between its turns, so that others wait. */
  #watched: Promise<void> | undefined;

  /** `batchBytes`: what a batch may take besides, at most, where its memory is shared; what is kept between turns lies elsewhere. */
  constructor(
    ref: PolicyRef,
    decoder: Decoder,
    hostBytes = ISOLATE_BYTES,
    batchBytes = Number.POSITIVE_INFINITY,
  ) {
    this.ref = ref;
    this.parameters = parameterCount(decoder.config);
    const { layers, heads, headDim } = decoder.config;
    this.attended = 2 * layers.length * heads * headDim;
    this.#config = decoder.config;
    this.#decoder = decoder;
    this.head = decoder.head?.kind;
    this.#hostBytes = hostBytes;
    const left = hostBytes - decoder.weightBytes;
    this.#batchBytes = Math.min(batchBytes, MOST_BATCH * hostBytes, Math.max(LEAST_BATCH, left));
    this.#kept = new KeptTurns(
      Math.min(MOST_KEPT * hostBytes, Math.max(LEAST_KEPT, left - this.#batchBytes)),
    );
  }

  /** The bytes of wasm memory, which only grows. */
  get heapBytes(): number {
    return this.#open().heap.memory.buffer.byteLength;
  }

  async generate(
    prompts: readonly GeneratePrompt[],
    settings: SamplingSettings,
    watch?: Watch,
  ): Promise<Completion[][]> {
    const { vocabSize } = this.#config;
    const { maxNew } = settings;
    checkSettings(settings, vocabSize);
    for (const { ids } of prompts) this.#check(ids, ids.length + maxNew);
    if (maxNew === 0)
      return prompts.map(({ sampleIds }) => sampleIds.map(() => ({ ids: [], logprobs: [], stopped: false })));
    while (this.#watched) await this.#watched;
    const going = this.#generate(prompts, settings, watch);
    if (watch) {
      const ended = () => {
        this.#watched = undefined;
      };
      this.#watched = going.then(ended, ended);
    }
    return going;
  }

  async #generate(
    prompts: readonly GeneratePrompt[],
    settings: SamplingSettings,
    watch: Watch | undefined,
  ): Promise<Completion[][]> {
    const decoder = this.#open();
    const out: Completion[][] = prompts.map(() => []);
    const known = this.#kept.take(prompts.map(({ ids }) => ids));
    let goesOn = true;
    const { mark } = decoder.heap;
    try {
      for (const { prompts: some } of this.#batches(decoder, prompts, settings)) {
        const opened = some.map((prompt) => ({ ...prompt, known: known[prompt.prompt] }));
        const batch = openBatch(decoder, opened, settings, (ids, parts) =>
          this.#kept.put(decoder, ids, parts),
        );
        batch.completions.forEach((completions, i) => {
          out[opened[i]!.prompt]!.push(...completions);
        });
        try {
          while (goesOn && batch.turn()) if (watch) goesOn = await watch(out);
        } finally {
          batch.close();
        }
        if (!goesOn) break;
      }
    } finally {
      // A batch for which there is no room leaves what it took until then.
      decoder.heap.backTo(mark);
    }
    return out;
  }

  /** Cuts the samples, in order, into batches that are as large as the bounds on rows and bytes allow, at least one sample each. */
  #batches(
    decoder: Decoder,
    prompts: readonly GeneratePrompt[],
    { maxNew, grammar }: SamplingSettings,
  ): Batch[] {
    const table = grammar ? 4 * this.#config.vocabSize : 0;
    const rowBytes = cacheBytes(this.#config, maxNew) + decoder.rowBytes + table;
    const batches: Batch[] = [];
    prompts.forEach(({ ids, sampleIds }, prompt) => {
      const promptBytes = cacheBytes(this.#config, ids.length - 1);
      for (let from = 0; from < sampleIds.length; ) {
        let batch = batches.at(-1);
        const roomFor = ({ rows, bytes }: Batch): number =>
          Math.min(MAX_ROWS - rows, Math.floor((this.#batchBytes - bytes - promptBytes) / rowBytes));
        if (!batch || roomFor(batch) < 1) {
          batch = { prompts: [], rows: 0, bytes: 0 };
          batches.push(batch);
        }
        const samples = sampleIds.slice(from, from + Math.max(1, roomFor(batch)));
        batch.prompts.push({ prompt, ids, sampleIds: samples });
        batch.rows += samples.length;
        batch.bytes += promptBytes + samples.length * rowBytes;
        from += samples.length;
      }
    });
    return batches;
  }

  async score(sequences: readonly TokenIds[], alternatives?: number): Promise<TokenScores[]> {
    for (const ids of sequences) this.#check(ids, ids.length);
    while (this.#watched) await this.#watched;
    const decoder = this.#open();
    const { mark } = decoder.heap;
    try {
      return sequences.map((ids) =>
        ids.length > 1 || decoder.head
          ? scoreSequence(decoder, ids, alternatives)
          : { logprobs: [], entropy: [], ...(alternatives === undefined ? {} : noPlaces()) },
      );
    } finally {
      decoder.heap.backTo(mark);
    }
  }

  /** Throws as `checkIds` does, and `policy.memory` for a sequence beyond the usual that the host has no room for. */
  #check(ids: TokenIds, length: number): void {
    const config = this.#config;
    checkIds(ids, length, { ...config, context: config.maxPositions });
    if (length <= LONGEST_CONTEXT) return;
    const room = this.#hostBytes - this.#open().weightBytes;
    const bytes = cacheBytes(config, length);
    if (bytes <= room) return;
    throw wrongInput(
      'policy.memory',
      `The keys and values of ${length} tokens take ${Math.ceil(bytes / MIB)} MiB.`,
      {
        expected: `at most ${Math.max(0, Math.floor(room / MIB))} MiB beside the weights`,
        next: 'Shorten the prompt or lower maxNew.',
      },
    );
  }

  async dispose(): Promise<void> {
    this.#decoder = undefined;
  }

  #open(): Decoder {
    if (this.#decoder) return this.#decoder;
    throw wrongInput('policy.disposed', `Policy ${this.ref.name} ${this.ref.version} has been disposed of.`, {
      next: 'Create it again.',
    });
  }
}
