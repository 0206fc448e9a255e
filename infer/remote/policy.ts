/**
 * A Policy over a server that takes token ids, such as vLLM, SGLang and llama.cpp, for models that an
 * isolate cannot hold. It cannot guarantee the same bits, since they depend on the server's batches, so such rollouts cannot be
 * audited by running them again. Anything else that it cannot do is refused, not approximated, and every answer is checked (check.ts).
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type {
  Completion,
  GeneratePrompt,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from '../../core/policy/policy.ts';
import { uniforms } from '../../core/random.ts';
import { checkIds, drawOf } from '../settings.ts';
import { checkedCompletion, checkedScores } from './check.ts';
import type { Dialect, Served } from './dialect.ts';
import { llamaCpp } from './llama-cpp.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

const dialects = { vllm, sglang, 'llama.cpp': llamaCpp } as const satisfies Record<string, Dialect>;

const noAlternatives = (count: number) =>
  wrongInput('remote.alternatives', `${count} alternatives to each token are asked for.`, {
    expected: 'none: a remote policy tells of the tokens that are there alone',
  });

export type DialectName = keyof typeof dialects;

export interface RemoteOptions extends Served {
  readonly ref: PolicyRef;
  readonly vocabSize: number;
  /** The longest sequence that the server takes, in tokens. */
  readonly context: number;
  /** The dialect of the server, that is, whose extensions of the protocol it knows; default vllm. */
  readonly dialect?: DialectName;
  /**
   * Whether the server can give log-probabilities after temperature and truncation: vLLM must have been started for it,
   * llama.cpp does it when asked. Without it only greedy sampling, or sampling at temperature 1 without truncation, is accepted.
   */
  readonly processedLogprobs?: boolean;
  /** The number of requests under way at once; default 8. */
  readonly concurrency?: number;
}

export function createRemotePolicy(options: RemoteOptions): Policy {
  return new RemotePolicy(options);
}

class RemotePolicy implements Policy {
  readonly ref: PolicyRef;
  readonly #options: RemoteOptions;
  readonly #dialect: Dialect;

  constructor(options: RemoteOptions) {
    this.ref = options.ref;
    this.#options = options;
    this.#dialect = dialects[options.dialect ?? 'vllm'];
  }

  async generate(prompts: readonly GeneratePrompt[], settings: SamplingSettings): Promise<Completion[][]> {
    const { vocabSize, context, processedLogprobs: processed = false } = this.#options;
    const { maxNew, stop } = settings;
    const draw = drawOf(settings, vocabSize);
    this.#checkSupported(settings);
    for (const { ids } of prompts) checkIds(ids, ids.length + maxNew, { vocabSize, context });
    const asked = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map((id) => ({ ids, id })));
    const made = await this.#all(asked, async ({ ids, id }): Promise<Completion> => {
      if (maxNew === 0) return { ids: [], logprobs: [], stopped: false };
      const seed = Math.floor(uniforms(id, 1)[0]! * 2 ** 31);
      const said = await this.#dialect.complete(this.#options, { ids, maxNew, draw, stop, seed, processed });
      return checkedCompletion(said, { vocabSize, maxNew, stop });
    });
    let at = 0;
    return prompts.map(({ sampleIds }) => sampleIds.map(() => made[at++]!));
  }

  async score(sequences: readonly TokenIds[], alternatives?: number): Promise<TokenScores[]> {
    if (alternatives !== undefined) throw noAlternatives(alternatives);
    const { vocabSize, context } = this.#options;
    for (const ids of sequences) checkIds(ids, ids.length, { vocabSize, context });
    return this.#all(sequences, async (ids) =>
      ids.length === 1
        ? { logprobs: [], entropy: [] }
        : checkedScores(await this.#dialect.score(this.#options, ids, vocabSize), ids, vocabSize),
    );
  }

  async dispose(): Promise<void> {}

  #checkSupported({ temperature, topP = 1, topK = 0, grammar, alternatives }: SamplingSettings): void {
    if (alternatives) throw noAlternatives(alternatives);
    if (grammar)
      throw new RollmeshError(
        'give-up',
        'remote.grammar',
        'A remote policy cannot keep to a token grammar.',
        { next: 'Use a policy that runs here.' },
      );
    const plain = (temperature === 1 || temperature === 0) && topP === 1 && topK === 0;
    if (plain || this.#options.processedLogprobs) return;
    const what = `Sampling at temperature ${temperature}, topP ${topP}, topK ${topK}.`;
    throw wrongInput('remote.sampling', what, {
      expected: 'temperature 1 or 0 and no truncation, since log-probabilities are those before both',
      next: 'Set processedLogprobs if the server can tell those after both.',
    });
  }

  /** Works through items in order, a bounded number at once. After the first failure no further item is begun. */
  async #all<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
    const out = new Array<Result>(items.length);
    const queue = items.entries();
    let failed = false;
    const worker = async () => {
      for (const [i, item] of queue) {
        if (failed) return;
        out[i] = await work(item).catch((error: unknown) => {
          failed = true;
          throw error;
        });
      }
    };
    await Promise.all(Array.from({ length: this.#options.concurrency ?? 8 }, worker));
    return out;
  }
}
