/** The answers of the model endpoints, from what was sampled: OpenAI's objects with vLLM's fields for token ids. */
import type { Alternative, TokenIds } from '../policy/policy.ts';
import type { ToolCall } from './tool-calls.ts';

/** A token that might have been drawn, with its text. */
export interface NamedAlternative extends Alternative {
  readonly text: string;
}

/** One completion as it is answered. */
export interface Choice {
  /** The index of its prompt. */
  readonly prompt: number;
  readonly ids: TokenIds;
  /** Log-probability (nats) of each token under the distribution that it was drawn from. */
  readonly logprobs: readonly number[];
  /** The text of each token. */
  readonly tokens: readonly string[];
  /** [ids]: the most likely tokens of each place; absent where none were asked for. */
  readonly alternatives?: readonly (readonly NamedAlternative[])[] | undefined;
  /** The text without what ended it and without calls of tools. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly stopped: boolean;
}

/** A prompt of which the caller is told. */
export interface ToldPrompt {
  /** Absent where the text of an answer does not begin with it. */
  readonly echoed?: string;
  /** [prompt]: its tokens. The first has no log-probability, since nothing stands before it. Absent where none were asked for. */
  readonly read?: readonly {
    readonly own: { readonly id: number; readonly text: string; readonly logprob: number | null };
    /** How many tokens are at least as likely, itself included; 1 for the first. */
    readonly rank: number;
    readonly alternatives: readonly NamedAlternative[];
  }[];
}

/** What the answers to one request have in common. */
export interface Heading {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The exact version, `NAME@VERSION`, with `/SET` where it is not the main one. */
  readonly model: string;
  /** What computed it: engine and weights. Equal fingerprints, models, prompts, settings and seeds give equal tokens. */
  readonly fingerprint: string;
  /** The seed of the draws, given or made; null where the id of the sample is the seed. */
  readonly seed: number | null;
}

/** What the caller wants to see of tokens. */
export interface Shown {
  readonly logprobs: boolean;
  /** How many alternatives are told of each place. */
  readonly alternatives: number;
  readonly tokenIds: boolean;
  readonly tokensAsIds: boolean;
  /** How many alternatives are told of each place of a prompt; undefined = nothing is told of it. */
  readonly promptLogprobs: number | undefined;
}

export const usageOf = (prompts: readonly TokenIds[], choices: readonly { readonly ids: TokenIds }[]) => {
  const prompt = prompts.reduce((sum, ids) => sum + ids.length, 0);
  const completion = choices.reduce((sum, { ids }) => sum + ids.length, 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
};

export const finishOf = ({ calls, stopped }: Pick<Choice, 'calls' | 'stopped'>) =>
  calls.length ? 'tool_calls' : stopped ? 'stop' : 'length';

const nameOf = (id: number, text: string, { tokensAsIds }: Shown) => (tokensAsIds ? `token_id:${id}` : text);

type Drawn = Pick<Choice, 'ids' | 'logprobs' | 'tokens' | 'alternatives'>;

const tokenLogprob = ({ id, logprob, text }: NamedAlternative, shown: Shown) => ({
  token: nameOf(id, text, shown),
  logprob,
  bytes: [...new TextEncoder().encode(text)],
});

const drawnToken = ({ ids, logprobs, tokens }: Drawn, i: number): NamedAlternative => ({
  id: ids[i]!,
  logprob: logprobs[i]!,
  text: tokens[i]!,
});

/** The log-probabilities as chat completions and `/inference/v1/generate` have them. */
export const chatLogprobs = (choice: Drawn, shown: Shown) => ({
  content: choice.ids.map((_, i) => ({
    ...tokenLogprob(drawnToken(choice, i), shown),
    top_logprobs: (choice.alternatives?.[i] ?? []).map((one) => tokenLogprob(one, shown)),
  })),
  refusal: null,
});

/** vLLM's `prompt_logprobs`: of each place an object by token ids, which has the token that is there and the likeliest ones. */
const promptLogprobs = ({ read = [] }: ToldPrompt, most: number) =>
  read.map(({ own, rank, alternatives }) =>
    own.logprob === null
      ? null
      : Object.fromEntries(
          [
            { ...own, rank },
            ...alternatives
              .slice(0, most)
              .map((one, i) => ({ ...one, rank: one.id === own.id ? rank : i + 1 })),
          ].map(({ id, logprob, rank: place, text }) => [id, { logprob, rank: place, decoded_token: text }]),
        ),
  );

/** The field `prompt_logprobs`, where it was asked for. */
const toldOf = (prompt: ToldPrompt | undefined, { promptLogprobs: asked }: Shown) =>
  asked === undefined || !prompt ? {} : { prompt_logprobs: promptLogprobs(prompt, asked) };

/**
 * The log-probabilities as completions have them; `offset`: characters of the completion before these tokens. Each token's alternatives are an
 * object by their texts, which has the drawn token, too; of several with one text the most likely.
 */
export function textLogprobs(choice: Drawn, shown: Shown, offset = 0, before: ToldPrompt['read'] = []) {
  const named = (one: NamedAlternative) => [nameOf(one.id, one.text, shown), one.logprob] as const;
  const likeliest = (own: NamedAlternative, those: readonly NamedAlternative[]) =>
    Object.fromEntries([named(own), ...[...those].reverse().map(named)]);
  const texts = [...before.map(({ own }) => own.text), ...choice.tokens];
  // Where nothing was drawn there are none, though they were asked for.
  const drawn = choice.alternatives ?? (shown.alternatives && !choice.ids.length ? [] : undefined);
  let at = offset;
  return {
    tokens: [...before.map(({ own }) => own.id), ...choice.ids].map((id, i) => nameOf(id, texts[i]!, shown)),
    token_logprobs: [...before.map(({ own }) => own.logprob), ...choice.logprobs],
    top_logprobs: drawn
      ? [
          ...before.map(({ own, alternatives }) =>
            own.logprob === null
              ? null
              : likeliest({ ...own, logprob: own.logprob }, alternatives.slice(0, shown.alternatives)),
          ),
          ...drawn.map((those, i) => likeliest(drawnToken(choice, i), those)),
        ]
      : null,
    text_offset: texts.map((text) => {
      const here = at;
      at += text.length;
      return here;
    }),
  };
}

const headed = ({ id, created, model, fingerprint, seed }: Heading) => ({
  id,
  created,
  model,
  system_fingerprint: fingerprint,
  seed,
});

/** The calls as OpenAI writes them; their ids follow from the request's, so that they differ between requests. */
export const callsOf = (calls: readonly ToolCall[], { id }: Heading, choice: number) =>
  calls.map(({ name, arguments: text }, i) => ({
    id: `call_${id.slice(-16)}${choice.toString(36)}x${i.toString(36)}`,
    type: 'function' as const,
    function: { name, arguments: text },
  }));

export function chatAnswer(
  heading: Heading,
  prompt: TokenIds,
  choices: readonly Choice[],
  shown: Shown,
  told: readonly ToldPrompt[] = [],
) {
  return {
    ...headed(heading),
    object: 'chat.completion' as const,
    choices: choices.map((choice, index) => ({
      index,
      message: {
        role: 'assistant' as const,
        content: choice.calls.length && !choice.text ? null : choice.text,
        refusal: null,
        ...(choice.calls.length ? { tool_calls: callsOf(choice.calls, heading, index) } : {}),
      },
      logprobs: shown.logprobs ? chatLogprobs(choice, shown) : null,
      finish_reason: finishOf(choice),
      ...(shown.tokenIds ? { token_ids: choice.ids } : {}),
    })),
    usage: usageOf([prompt], choices),
    ...(shown.tokenIds ? { prompt_token_ids: prompt } : {}),
    ...toldOf(told[0], shown),
  };
}

export function completionAnswer(
  heading: Heading,
  prompts: readonly TokenIds[],
  choices: readonly Choice[],
  shown: Shown,
  told: readonly ToldPrompt[] = [],
) {
  return {
    ...headed(heading),
    object: 'text_completion' as const,
    choices: choices.map((choice, index) => {
      const { echoed, read } = told[choice.prompt] ?? {};
      return {
        index,
        text: `${echoed ?? ''}${choice.text}`,
        logprobs: shown.logprobs ? textLogprobs(choice, shown, 0, echoed === undefined ? [] : read) : null,
        finish_reason: finishOf(choice),
        ...(shown.tokenIds ? { token_ids: choice.ids, prompt_token_ids: prompts[choice.prompt] } : {}),
        ...toldOf(told[choice.prompt], shown),
      };
    }),
    usage: usageOf(prompts, choices),
  };
}

/** The answer of vLLM's `/inference/v1/generate`. */
export function tokensAnswer(
  heading: Heading,
  prompts: readonly TokenIds[],
  choices: readonly Choice[],
  shown: Shown,
  told: readonly ToldPrompt[] = [],
) {
  return {
    ...headed(heading),
    request_id: heading.id,
    choices: choices.map((choice, index) => ({
      index,
      logprobs: shown.logprobs ? chatLogprobs(choice, shown) : null,
      finish_reason: finishOf(choice),
      token_ids: choice.ids,
    })),
    prompt_logprobs: null,
    ...toldOf(told[0], shown),
    usage: usageOf(prompts, choices),
  };
}

/** A piece of a completion, for a stream: the tokens drawn since the last piece, and the text that is certain now. */
export interface Piece extends Drawn {
  readonly index: number;
  readonly text: string;
  /** Characters of the tokens before these. */
  readonly offset: number;
}

const finish = (choice: Choice | undefined) => (choice ? finishOf(choice) : null);

/** A chunk of a streamed chat completion; `ended` is there in a choice's last one. */
export const chatChunk = (heading: Heading, piece: Piece, shown: Shown, first: boolean, ended?: Choice) => ({
  ...headed(heading),
  object: 'chat.completion.chunk' as const,
  choices: [
    {
      index: piece.index,
      delta: {
        ...(first ? { role: 'assistant' as const } : {}),
        ...(piece.text || first ? { content: piece.text } : {}),
        ...(ended?.calls.length
          ? {
              tool_calls: callsOf(ended.calls, heading, piece.index).map((call, index) => ({
                index,
                ...call,
              })),
            }
          : {}),
      },
      logprobs: shown.logprobs ? chatLogprobs(piece, shown) : null,
      finish_reason: finish(ended),
      ...(shown.tokenIds ? { token_ids: piece.ids } : {}),
    },
  ],
});

/** A chunk of a streamed completion. */
export const completionChunk = (heading: Heading, piece: Piece, shown: Shown, ended?: Choice) => ({
  ...headed(heading),
  object: 'text_completion' as const,
  choices: [
    {
      index: piece.index,
      text: piece.text,
      logprobs: shown.logprobs ? textLogprobs(piece, shown, piece.offset) : null,
      finish_reason: finish(ended),
      ...(shown.tokenIds ? { token_ids: piece.ids } : {}),
    },
  ],
});

/** The last chunk of a stream whose caller asked for token counts. */
export const usageChunk = (
  heading: Heading,
  object: 'chat.completion.chunk' | 'text_completion',
  prompts: readonly TokenIds[],
  choices: readonly { readonly ids: TokenIds }[],
) => ({ ...headed(heading), object, choices: [], usage: usageOf(prompts, choices) });
