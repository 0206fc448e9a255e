/**
 * A Policy over ONNX Runtime. It uses one session, computes each prompt once for all its samples, and samples inside the graph.
 *
 * Tests check this guarantee: on the wasm build, on one thread, a sample's tokens and log-probabilities are a function of
 * the weights, the prompt, the sample's id and the settings alone, to the last bit. They do not depend on the other rows
 * of the batch, on padding, on the platform (Node, workerd, Chromium), or on what ran before.
 */
import { wrongInput } from '../core/errors.ts';
import { tokensOf } from '../core/images/patches.ts';
import type {
  Alternative,
  Completion,
  GeneratePrompt,
  HeadKind,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from '../core/policy/policy.ts';
import { uniforms } from '../core/random.ts';
import { after } from '../core/text/token-grammar.ts';
import { parameterCount } from '../model/checkpoint.ts';
import type { ModelConfig } from '../model/config.ts';
import type { HeadWeights } from '../model/head.ts';
import { contextLength, policyGraph } from '../model/onnx/policy-graph.ts';
import { packWeights, type WeightType } from '../model/onnx/weights.ts';
import type { Tensors } from '../model/safetensors.ts';
import { addPlace, alternativesTo, hide, noPlaces } from './alternatives.ts';
import {
  alignedLength,
  batchesOf,
  chunksByLength,
  type Group,
  groupsOf,
  joinCaches,
  padRight,
  rowsOf,
} from './batches.ts';
import type { Runtime } from './runtime.ts';
import { type Draw, type KeyValues, PolicySession } from './session.ts';
import { checkIds, drawOf, type KnownIds } from './settings.ts';

/** The most rows that are generated together. More would cost memory and not make the matrix products faster. */
const MAX_ROWS = 64;
/** Fewer rows are slower, so up to this many rows may take more memory (`MOST_OWN_CACHE_BYTES`). */
const GOOD_ROWS = 16;
/** The bytes that the rows' own caches may take. The runtime's memory grows by about three times that (measured). */
const OWN_CACHE_BYTES = 8 << 20;
const MOST_OWN_CACHE_BYTES = 16 << 20;
/** Weights of up to this many bytes are prepacked by default: laid out a second time for the runtime's kernels. */
const MAX_PREPACKED = 32 << 20;
/** The most tokens that go through the decoder in one turn, and the most numbers held for their logits or for their attention. */
const MAX_TOKENS = 2048;
const MAX_NUMBERS = 1 << 22;

export interface PolicyOptions {
  readonly runtime: Runtime;
  readonly ref: PolicyRef;
  readonly config: ModelConfig;
  /** Checked tensors (`checkCheckpoint`), or a weight file from `packWeights` of the same weight type. */
  readonly weights: Tensors | Uint8Array;
  /**
   * How matrices are stored. int8 and w8a8 need a quarter of the memory, int4 an eighth; w8a8 is the faster one. Each is a different
   * policy, since its log-probabilities differ from those of float32; docs/decisions/0006-generation-engine.md says by how much.
   */
  readonly weightType?: WeightType;
  /**
   * Lets the runtime lay float32 matrices out for its kernels. That is a third faster in batches of 16 and three times as fast for
   * one row, and takes twice the weights' memory while loading. By default it is on for weights up to 32 MiB, for which an isolate has room.
   */
  readonly prepack?: boolean;
  /** The head on the hidden states, if the parameter set has one. */
  readonly head?: HeadWeights | undefined;
}

/** Opens a policy. If memory is short, first dispose of the policy before it: an isolate has room for one. */
export async function createPolicy(options: PolicyOptions): Promise<OnnxPolicy> {
  const { runtime, ref, config, weights, weightType, head } = options;
  const file = weights instanceof Uint8Array ? weights : packWeights(config, weights, weightType);
  const prepack = options.prepack ?? file.length <= MAX_PREPACKED;
  const graph = policyGraph(config, weightType, head);
  const session = await PolicySession.create(runtime, config, graph, file, prepack);
  return new OnnxPolicy(ref, config, session, runtime, head);
}

export class OnnxPolicy implements Policy {
  readonly ref: PolicyRef;
  readonly parameters: number;
  readonly head: HeadKind | undefined;
  readonly #outputs: number;
  readonly #config: ModelConfig;
  readonly #runtime: Runtime;
  #session: PolicySession | undefined;

  constructor(
    ref: PolicyRef,
    config: ModelConfig,
    session: PolicySession,
    runtime: Runtime,
    head?: HeadWeights,
  ) {
    this.ref = ref;
    this.head = head?.kind;
    this.#outputs = head?.outputs ?? 0;
    this.#runtime = runtime;
    this.parameters = parameterCount(config);
    this.#config = config;
    this.#session = session;
  }

  /** The bytes of wasm memory of the runtime, which all of its policies share. */
  get heapBytes(): number {
    return this.#runtime.heapBytes();
  }

  async generate(prompts: readonly GeneratePrompt[], settings: SamplingSettings): Promise<Completion[][]> {
    const { vocabSize } = this.#config;
    const { maxNew } = settings;
    const draw = drawOf(settings, vocabSize);
    for (const { ids } of prompts) checkIds(ids, ids.length + maxNew, this.#known);
    const out: Completion[][] = prompts.map(({ sampleIds }) =>
      sampleIds.map(() => ({ ids: [], logprobs: [], stopped: false })),
    );
    if (maxNew === 0) return out;
    const most = this.#rowsFor(maxNew);
    for (const batch of batchesOf(groupsOf(prompts, most), most)) {
      const completions = await this.#generateBatch(batch, maxNew, draw);
      batch.forEach(({ prompt, from }, i) => {
        out[prompt]!.splice(from, completions[i]!.length, ...completions[i]!);
      });
    }
    return settings.alternatives ? this.#withAlternatives(prompts, out, settings) : out;
  }

  /** The graph tells what it drew and no more, so the logits are computed again over the whole sequences. */
  async #withAlternatives(
    prompts: readonly GeneratePrompt[],
    drawn: readonly (readonly Completion[])[],
    settings: SamplingSettings,
  ): Promise<Completion[][]> {
    const { vocabSize } = this.#config;
    const out = drawn.map((completions) =>
      completions.map((completion) => ({ ...completion, alternatives: [] as Alternative[][] })),
    );
    const rows = out.flatMap((completions, p) =>
      completions.map((completion) => ({ prompt: prompts[p]!.ids, completion })),
    );
    const lengthOf = ({ prompt, completion }: (typeof rows)[number]) =>
      prompt.length + completion.ids.length - 1;
    for (const chunk of chunksByLength(rows, lengthOf, this.#bounds())) {
      const inputs = chunk.map(({ prompt, completion }) => [...prompt, ...completion.ids.slice(0, -1)]);
      const length = alignedLength(Math.max(...inputs.map((ids) => ids.length)));
      const picks = chunk.flatMap(({ prompt, completion }, row) =>
        completion.ids.map((_, t) => row * length + prompt.length - 1 + t),
      );
      const logits = await this.#open().logits(padRight(inputs, length), chunk.length, picks);
      let at = 0;
      for (const { completion } of chunk) {
        let state = 0;
        for (const [t, id] of completion.ids.entries()) {
          const own = logits.subarray(at, at + vocabSize);
          // At the edge of what truncation keeps, its last bits may leave out what was drawn.
          const logit = own[id]!;
          const { grammar } = settings;
          hide(own, grammar && ((token) => after(grammar, state, token) >= 0), settings);
          own[id] = logit;
          completion.alternatives.push(alternativesTo(id, completion.logprobs[t]!, own, settings));
          if (grammar) state = after(grammar, state, id);
          at += vocabSize;
        }
      }
    }
    return out;
  }

  /** How many rows of up to `maxNew` new tokens are generated together, within the bounds on the rows' own caches. */
  #rowsFor(maxNew: number): number {
    const { layers, kvHeads, headDim } = this.#config;
    const bytesPerRow = 4 * 2 * layers.length * kvHeads * headDim * maxNew;
    const good = Math.min(GOOD_ROWS, Math.floor(MOST_OWN_CACHE_BYTES / bytesPerRow));
    return Math.min(MAX_ROWS, Math.max(1, good, Math.floor(OWN_CACHE_BYTES / bytesPerRow)));
  }

  /** Generates the completions [groups][samples] of a batch of equally large groups. */
  async #generateBatch(batch: readonly Group[], maxNew: number, draw: Draw): Promise<Completion[][]> {
    const prefixes = batch.map(({ ids }) => ids.slice(0, -1));
    const cache = await this.#fill(prefixes);
    const asked = batch[0]!.sampleIds.length;
    const samples = asked === 1 && cache.length > this.#loneRowLimit() ? 2 : asked;
    const rows = samples * batch.length;
    const drawn = new Float32Array(maxNew * rows).fill(0.5);
    batch.forEach(({ sampleIds }, prompt) => {
      sampleIds.forEach((id, sample) => {
        const row = prompt * samples + sample;
        uniforms(id, maxNew).forEach((uniform, turn) => {
          drawn[turn * rows + row] = uniform;
        });
      });
    });
    const { tokens, logprobs } = await this.#open().generate(
      {
        samples,
        cache,
        lengths: prefixes.map((prefix) => prefix.length),
        lastIds: batch.map(({ ids }) => ids.at(-1)!),
        uniforms: drawn,
      },
      draw,
    );
    const { classes, classOf, next, goesOn } = draw.automaton;
    const turns = tokens.length / rows;
    const completionOf = (row: number): Completion => {
      const ids: number[] = [];
      let [state, stopped] = [0, false];
      for (let turn = 0; turn < turns && !stopped; turn++) {
        const id = Number(tokens[turn * rows + row]);
        ids.push(id);
        const at = state * classes + Number(classOf[id]);
        stopped = goesOn[at] === 0;
        state = Number(next[at]);
      }
      return { ids, logprobs: ids.map((_, turn) => logprobs[turn * rows + row]!), stopped };
    };
    return batch.map(({ sampleIds }, prompt) =>
      sampleIds.map((_, sample) => completionOf(prompt * samples + sample)),
    );
  }

  /**
   * The longest cache for which a prompt's only row has the same bits as it would have beside others. The runtime cuts longer
   * sums into blocks, but not in a product of a single row. For longer caches a second row, which is discarded, makes it do so.
   */
  #loneRowLimit(): number {
    const columns = Math.max(16, 2 ** Math.ceil(Math.log2(this.#config.headDim)));
    return (128 * 128) / columns;
  }

  /** Computes the caches of prompts, in the order given; a prompt may be empty. */
  async #fill(prompts: readonly TokenIds[]): Promise<KeyValues> {
    const session = this.#open();
    const order = [...new Map(prompts.map((ids, prompt) => [prompt, ids]))];
    const caches: KeyValues[] = [];
    // The prompts of a batch come sorted by length, so the chunks keep their order, and so do the joined caches.
    for (const chunk of chunksByLength(order, ([, ids]) => ids.length, this.#bounds())) {
      const length = Math.max(alignedLength(1), ...chunk.map(([, ids]) => alignedLength(ids.length)));
      const rows = chunk.map(([, ids]) => ids);
      caches.push(await session.fill(padRight(rows, length), rows.length));
    }
    return joinCaches(caches, this.#config.kvHeads, this.#config.headDim);
  }

  async score(sequences: readonly TokenIds[], alternatives?: number): Promise<TokenScores[]> {
    for (const ids of sequences) checkIds(ids, ids.length, this.#known);
    const least = this.#outputs ? 1 : 2;
    const items = sequences.map((ids, index) => ({ ids, index })).filter(({ ids }) => ids.length >= least);
    const out: TokenScores[] = sequences.map(() => ({
      logprobs: [],
      entropy: [],
      ...(alternatives === undefined ? {} : noPlaces()),
    }));
    for (const chunk of chunksByLength(items, ({ ids }) => ids.length, this.#bounds())) {
      const rows = chunk.map(({ ids }) => ids);
      const scores = await this.#scoreRows(rows);
      if (alternatives !== undefined) await this.#addPlaces(rows, scores, alternatives);
      chunk.forEach(({ index }, i) => {
        out[index] = scores[i]!;
      });
    }
    return out;
  }

  async #scoreRows(rows: readonly TokenIds[]): Promise<TokenScores[]> {
    // Without a head the last token is left out of the inputs, since what follows it is not scored.
    const outputs = this.#outputs;
    const inputs = outputs ? rows : rows.map((ids) => ids.slice(0, -1));
    const length = alignedLength(Math.max(...inputs.map((ids) => ids.length)));
    const picks = inputs.flatMap((ids, row) => ids.map((_, i) => row * length + i));
    const targets = rows.flatMap((ids) => (outputs ? [...ids.slice(1), 0] : ids.slice(1)));
    const scored = await this.#open().score(
      padRight(inputs, length),
      rows.length,
      picks,
      targets,
      outputs > 0,
    );
    let at = 0;
    return rows.map((ids, row) => {
      const from = at;
      at += inputs[row]!.length;
      const end = from + ids.length - 1;
      const heads = scored.heads?.subarray(from * outputs, at * outputs);
      return {
        logprobs: [...scored.logprobs.subarray(from, end)],
        entropy: [...scored.entropy.subarray(from, end)],
        ...(heads ? { heads: rowsOf(heads, outputs) } : {}),
      };
    });
  }

  /** The graph that scores tells of the tokens that are there, so the logits are computed again. */
  async #addPlaces(rows: readonly TokenIds[], scores: TokenScores[], most: number): Promise<void> {
    const { vocabSize, vision } = this.#config;
    const inputs = rows.map((ids) => ids.slice(0, -1));
    const length = alignedLength(Math.max(1, ...inputs.map((ids) => ids.length)));
    const picks = inputs.flatMap((ids, row) => ids.map((_, t) => row * length + t));
    const logits = picks.length
      ? await this.#open().logits(padRight(inputs, length), rows.length, picks)
      : new Float32Array(0);
    let at = 0;
    for (const [row, ids] of rows.entries()) {
      const places = noPlaces();
      for (const [t, id] of tokensOf(ids.slice(1), vision).entries()) {
        addPlace(places, id, scores[row]!.logprobs[t]!, logits.subarray(at, at + vocabSize), most);
        at += vocabSize;
      }
      scores[row] = { ...scores[row]!, ...places };
    }
  }

  get #known(): KnownIds {
    return { ...this.#config, context: contextLength(this.#config) };
  }

  #bounds(): { tokens: number; squares: number } {
    const { vocabSize, heads } = this.#config;
    return {
      tokens: Math.min(MAX_TOKENS, Math.floor(MAX_NUMBERS / vocabSize)),
      squares: MAX_NUMBERS / heads,
    };
  }

  async dispose(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.release();
  }

  #open(): PolicySession {
    if (this.#session) return this.#session;
    throw wrongInput('policy.disposed', `Policy ${this.ref.name} ${this.ref.version} has been disposed of.`, {
      next: 'Create it again.',
    });
  }
}
