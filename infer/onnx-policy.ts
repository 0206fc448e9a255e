/**
 * A Policy over ONNX Runtime: one session, prompts computed once and shared by their samples, sampling inside the graph.
 *
 * What holds, and is tested: on the wasm build, on one thread, a sample's tokens and log-probabilities are a function of
 * the weights, the prompt, the sample's id and the settings alone, to the last bit. They do not depend on the other rows
 * of the batch, on the padding, on the platform (Node, workerd, Chromium), or on what ran before.
 */
import { wrongInput } from '../core/errors.ts';
import type {
  Completion,
  GeneratePrompt,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from '../core/policy.ts';
import { uniforms } from '../core/random.ts';
import type { ModelConfig } from '../model/config.ts';
import { policyGraph } from '../model/onnx/policy-graph.ts';
import { packWeights } from '../model/onnx/weights.ts';
import type { Tensors } from '../model/safetensors.ts';
import { chunksByLength, padRight } from './batches.ts';
import type { Runtime } from './runtime.ts';
import { type Draw, type KeyValues, PolicySession } from './session.ts';

/** Rows generated together. More only costs memory: by then the matrix products are as fast as they get. */
const MAX_ROWS = 64;
/** Tokens scored together, and logits held for them. */
const MAX_SCORED_TOKENS = 2048;
const MAX_LOGITS = 1 << 22;

export interface PolicyOptions {
  readonly runtime: Runtime;
  readonly ref: PolicyRef;
  readonly config: ModelConfig;
  /** Checked tensors (`checkCheckpoint`), or a weight file from `packWeights`. */
  readonly weights: Tensors | Uint8Array;
  /** The graph's file, if it is at hand already. */
  readonly graph?: Uint8Array;
}

/**
 * Opens a policy. Dispose of the one before first where memory is short: an isolate has room for one.
 */
export async function createPolicy(options: PolicyOptions): Promise<OnnxPolicy> {
  const { runtime, ref, config, weights } = options;
  const session = await PolicySession.create(
    runtime,
    config,
    options.graph ?? policyGraph(config),
    weights instanceof Uint8Array ? weights : packWeights(config, weights),
  );
  return new OnnxPolicy(ref, config, session);
}

/** One sample of one prompt on its way through a batch. */
interface Row {
  readonly prompt: number;
  readonly sample: number;
  readonly ids: TokenIds;
  readonly id: string;
}

export class OnnxPolicy implements Policy {
  readonly ref: PolicyRef;
  readonly #config: ModelConfig;
  #session: PolicySession | undefined;

  constructor(ref: PolicyRef, config: ModelConfig, session: PolicySession) {
    this.ref = ref;
    this.#config = config;
    this.#session = session;
  }

  async generate(prompts: readonly GeneratePrompt[], settings: SamplingSettings): Promise<Completion[][]> {
    const draw = this.#checkSettings(settings);
    for (const { ids } of prompts) this.#checkIds(ids, ids.length + settings.maxNew);
    const rows = prompts.flatMap(({ ids, sampleIds }, prompt) =>
      sampleIds.map((id, sample): Row => ({ prompt, sample, ids, id })),
    );
    const out: Completion[][] = prompts.map(() => []);
    for (const chunk of chunksByLength(rows, (row) => row.ids.length, MAX_ROWS)) {
      const completions =
        settings.maxNew > 0
          ? await this.#generateRows(chunk, settings.maxNew, draw)
          : chunk.map(() => ({ ids: [], logprobs: [], stopped: false }));
      chunk.forEach((row, i) => {
        out[row.prompt]![row.sample] = completions[i]!;
      });
    }
    return out;
  }

  async #generateRows(rows: readonly Row[], maxNew: number, draw: Draw): Promise<Completion[]> {
    const session = this.#open();
    const { cache, slots } = await this.#fillCache(rows);
    const drawn = new Float32Array(maxNew * rows.length);
    rows.forEach(({ id }, row) => {
      uniforms(id, maxNew).forEach((uniform, turn) => {
        drawn[turn * rows.length + row] = uniform;
      });
    });
    const { tokens, logprobs } = await session.generate(
      {
        lastIds: rows.map(({ ids }) => ids.at(-1)!),
        positions: rows.map(({ ids }) => ids.length - 1),
        prompts: slots,
        uniforms: drawn,
        cache,
      },
      draw,
    );
    const stop = new Set(draw.stop);
    const turns = tokens.length / rows.length;
    return rows.map((_, row) => {
      const completion = { ids: [] as number[], logprobs: [] as number[], stopped: false };
      for (let turn = 0; turn < turns && !completion.stopped; turn++) {
        const id = Number(tokens[turn * rows.length + row]);
        completion.ids.push(id);
        completion.logprobs.push(logprobs[turn * rows.length + row]!);
        completion.stopped = stop.has(id);
      }
      return completion;
    });
  }

  /** The cache of all but the last token of each different prompt, and each row's place in it. */
  async #fillCache(rows: readonly Row[]): Promise<{ cache: KeyValues; slots: number[] }> {
    const prompts = [...new Set(rows.map((row) => row.prompt))];
    const slots = rows.map((row) => prompts.indexOf(row.prompt));
    const prefixes = prompts.map((_, slot) => rows[slots.indexOf(slot)]!.ids.slice(0, -1));
    const session = this.#open();
    const longest = Math.max(...prefixes.map((prefix) => prefix.length));
    const cache =
      longest === 0
        ? session.emptyCache(prompts.length)
        : await session.fill(padRight(prefixes), prompts.length);
    return { cache, slots };
  }

  async score(sequences: readonly TokenIds[]): Promise<TokenScores[]> {
    for (const ids of sequences) this.#checkIds(ids, ids.length);
    const longest = Math.max(1, ...sequences.map((ids) => ids.length));
    const tokens = Math.min(MAX_SCORED_TOKENS, Math.ceil(MAX_LOGITS / this.#config.vocabSize));
    const items = sequences.map((ids, index) => ({ ids, index })).filter(({ ids }) => ids.length > 1);
    const out: TokenScores[] = sequences.map(() => ({ logprobs: [], entropy: [] }));
    const most = Math.max(1, Math.floor(tokens / longest));
    for (const chunk of chunksByLength(items, ({ ids }) => ids.length, most)) {
      const scores = await this.#scoreRows(chunk.map(({ ids }) => ids));
      chunk.forEach(({ index }, i) => {
        out[index] = scores[i]!;
      });
    }
    return out;
  }

  async #scoreRows(rows: readonly TokenIds[]): Promise<TokenScores[]> {
    // The last token of a sequence predicts nothing that is asked for.
    const inputs = rows.map((ids) => ids.slice(0, -1));
    const width = Math.max(...inputs.map((ids) => ids.length));
    const positions = inputs.flatMap((ids, row) => ids.map((_, i) => row * width + i));
    const targets = rows.flatMap((ids) => ids.slice(1));
    const scored = await this.#open().score(padRight(inputs), rows.length, positions, targets);
    let at = 0;
    return inputs.map((ids) => {
      const end = at + ids.length;
      const scores = {
        logprobs: [...scored.logprobs.subarray(at, end)],
        entropy: [...scored.entropy.subarray(at, end)],
      };
      at = end;
      return scores;
    });
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

  #checkIds(ids: TokenIds, length: number): void {
    const { vocabSize, maxPositions } = this.#config;
    if (ids.length === 0)
      throw wrongInput('policy.empty', 'A sequence has no tokens.', { expected: 'at least one' });
    const bad = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabSize);
    if (bad !== undefined)
      throw wrongInput('policy.token', `Token id ${bad} is not in the vocabulary.`, {
        expected: `integers from 0 to ${vocabSize - 1}`,
      });
    if (length > maxPositions)
      throw wrongInput('policy.too-long', `A sequence could reach ${length} tokens.`, {
        expected: `at most ${maxPositions}, what the model was made for`,
        next: 'Shorten the prompt or lower maxNew.',
      });
  }

  #checkSettings(settings: SamplingSettings): Draw {
    const { maxNew, temperature, topP = 1, topK = 0, stop } = settings;
    const wrong = (what: string, expected: string) => wrongInput('policy.settings', what, { expected });
    if (!Number.isInteger(maxNew) || maxNew < 0) throw wrong(`maxNew is ${maxNew}.`, 'an integer from 0');
    if (!(temperature >= 0 && Number.isFinite(temperature)))
      throw wrong(`temperature is ${temperature}.`, 'a number from 0');
    if (!(topP > 0 && topP <= 1)) throw wrong(`topP is ${topP}.`, 'a number above 0, at most 1');
    if (!Number.isInteger(topK) || topK < 0) throw wrong(`topK is ${topK}.`, 'an integer from 0');
    const bad = stop.find((id) => !Number.isInteger(id) || id < 0 || id >= this.#config.vocabSize);
    if (bad !== undefined) throw wrong(`Stop token ${bad} is not in the vocabulary.`, 'token ids');
    return { temperature, topP, topK, stop };
  }
}
