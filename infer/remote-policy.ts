/**
 * A Policy over a server that speaks OpenAI's completions protocol with token ids, as vLLM does: for models that an isolate
 * cannot hold. What it cannot promise is the bits: a server's batches change them, so such rollouts cannot be audited by
 * running them again. Everything else is refused rather than approximated.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
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
import { checkIds, checkSettings } from './settings.ts';

export interface RemoteOptions {
  readonly ref: PolicyRef;
  /** Up to and without `/completions`, such as `http://localhost:8000/v1`. */
  readonly baseUrl: string;
  /** The server's name for the model of exactly this version. */
  readonly model: string;
  readonly apiKey?: string;
  readonly vocabSize: number;
  /** Longest sequence the server takes. */
  readonly context: number;
  /**
   * Whether the server's log-probabilities are those after temperature and truncation (vLLM: --logprobs-mode
   * processed_logprobs). Without it only plain sampling at temperature 1, or greedy, can be asked for.
   */
  readonly processedLogprobs?: boolean;
  /** Requests under way at once (8). */
  readonly concurrency?: number;
  /** How long one request may take, in milliseconds (120 000). */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

const choice = v.object({
  finish_reason: v.nullable(v.string()),
  logprobs: v.object({
    tokens: v.array(v.string()),
    token_logprobs: v.array(v.nullable(v.number())),
    top_logprobs: v.nullish(v.array(v.nullable(v.record(v.string(), v.number())))),
  }),
});
const answer = v.object({ choices: v.tuple([choice]) });
type Choice = v.InferOutput<typeof choice>;

/** Ids from tokens written as `token_id:17`, the only way the protocol has of saying which token it was. */
function idsOf(tokens: readonly string[]): number[] {
  return tokens.map((token) => {
    const id = /^token_id:(\d+)$/.exec(token)?.[1];
    if (id !== undefined) return Number(id);
    throw new RollmeshError(
      'give-up',
      'remote.tokens',
      `The server answered with the token ${JSON.stringify(token)}.`,
      {
        expected: '"token_id:N"',
        next: 'Use a server that knows return_tokens_as_token_ids, as vLLM does.',
      },
    );
  });
}

export function createRemotePolicy(options: RemoteOptions): Policy {
  return new RemotePolicy(options);
}

class RemotePolicy implements Policy {
  readonly ref: PolicyRef;
  readonly #options: RemoteOptions;

  constructor(options: RemoteOptions) {
    this.ref = options.ref;
    this.#options = options;
  }

  async generate(prompts: readonly GeneratePrompt[], settings: SamplingSettings): Promise<Completion[][]> {
    const { vocabSize, context } = this.#options;
    const draw = checkSettings(settings, vocabSize);
    this.#checkSupported(settings);
    for (const { ids } of prompts) checkIds(ids, ids.length + settings.maxNew, vocabSize, context);
    const asked = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map((id) => ({ ids, id })));
    const made = await this.#all(asked, async ({ ids, id }): Promise<Completion> => {
      if (settings.maxNew === 0) return { ids: [], logprobs: [], stopped: false };
      const { logprobs, finish_reason } = await this.#complete({
        prompt: ids,
        max_tokens: settings.maxNew,
        temperature: draw.temperature,
        top_p: draw.topP,
        top_k: draw.topK || -1,
        stop_token_ids: settings.stop,
        ignore_eos: true,
        logprobs: 0,
        seed: Math.floor(uniforms(id, 1)[0]! * 2 ** 31),
      });
      return this.#completion(logprobs, finish_reason, settings.stop);
    });
    let at = 0;
    return prompts.map(({ sampleIds }) => sampleIds.map(() => made[at++]!));
  }

  #completion(logprobs: Choice['logprobs'], reason: string | null, stop: TokenIds): Completion {
    const ids = idsOf(logprobs.tokens);
    const stopped = stop.includes(ids.at(-1) ?? -1);
    const numbers = logprobs.token_logprobs.filter((x) => x !== null);
    if (numbers.length === ids.length && stopped === (reason === 'stop'))
      return { ids, logprobs: numbers, stopped };
    throw new RollmeshError(
      'give-up',
      'remote.completion',
      `A completion of ${ids.length} tokens ended with ${reason}.`,
      {
        expected: 'a log-probability for each token, and the stop token among them',
      },
    );
  }

  /** Scores by asking for the prompt's own log-probabilities; the entropy needs those of the whole vocabulary. */
  async score(sequences: readonly TokenIds[]): Promise<TokenScores[]> {
    const { vocabSize, context } = this.#options;
    for (const ids of sequences) checkIds(ids, ids.length, vocabSize, context);
    return this.#all(sequences, async (ids) => {
      if (ids.length === 1) return { logprobs: [], entropy: [] };
      const request = { prompt: ids, max_tokens: 1, echo: true, logprobs: vocabSize, temperature: 1 };
      const { logprobs } = await this.#complete(request);
      const tops = (logprobs.top_logprobs ?? []).slice(1, ids.length);
      const entropy = tops.map((top) => {
        const all = Object.values(top ?? {});
        if (all.length === vocabSize) return -all.reduce((sum, x) => sum + Math.exp(x) * x, 0);
        throw new RollmeshError(
          'give-up',
          'remote.entropy',
          `The server tells ${all.length} of ${vocabSize} log-probabilities.`,
          {
            expected: 'all of them',
            next: 'Raise the limit (vLLM: --max-logprobs -1), or score with another engine.',
          },
        );
      });
      return { logprobs: logprobs.token_logprobs.slice(1, ids.length).map((x) => x ?? Number.NaN), entropy };
    });
  }

  async dispose(): Promise<void> {}

  #checkSupported({ temperature, topP = 1, topK = 0, grammar }: SamplingSettings): void {
    if (grammar)
      throw new RollmeshError(
        'give-up',
        'remote.grammar',
        'A remote policy cannot keep to a token grammar.',
        {
          next: 'Use a policy that runs here.',
        },
      );
    const plain = (temperature === 1 || temperature === 0) && topP === 1 && topK === 0;
    if (!plain && !this.#options.processedLogprobs)
      throw wrongInput(
        'remote.sampling',
        `Sampling at temperature ${temperature}, topP ${topP}, topK ${topK}.`,
        {
          expected:
            'temperature 1 or 0 and no truncation, since this server tells log-probabilities before both',
          next: 'Set processedLogprobs if the server is set up for it.',
        },
      );
  }

  async #complete(request: Record<string, unknown>): Promise<Choice> {
    const { baseUrl, model, apiKey, timeoutMs = 120_000 } = this.#options;
    const body = JSON.stringify({ model, n: 1, return_tokens_as_token_ids: true, ...request });
    const send = this.#options.fetch ?? fetch;
    let response: Response;
    try {
      response = await send(`${baseUrl}/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (cause) {
      throw new RollmeshError('retry', 'remote.unreachable', `${baseUrl} did not answer.`, { cause });
    }
    const text = await response.text();
    if (!response.ok) {
      const kind = response.status === 429 || response.status >= 500 ? 'retry' : 'give-up';
      throw new RollmeshError(
        kind,
        'remote.status',
        `The server answered ${response.status}: ${text.slice(0, 200)}.`,
      );
    }
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), answer), text);
    if (parsed.success) return parsed.output.choices[0];
    const where = v.getDotPath(parsed.issues[0]) ?? 'its root';
    throw new RollmeshError('give-up', 'remote.answer', `The server's answer is malformed at ${where}.`, {
      expected: 'a completion with log-probabilities',
    });
  }

  /** Works through items in order, a bounded number at once; the first failure ends it. */
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
