/** Samples the completions that a request of a model endpoint asks for, with one exact version of a policy. */
import { RollmeshError, wrongInput } from '../../../core/errors.ts';
import { isPatch } from '../../../core/images/patches.ts';
import {
  type Completion,
  LONGEST_CONTEXT,
  type Policy,
  type SamplingSettings,
  type TokenIds,
  type TokenScores,
} from '../../../core/policy/policy.ts';
import { deriveId } from '../../../core/random.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import type { Dialogue } from '../../../core/renderer/renderer.ts';
import type { Choice, NamedAlternative, ToldPrompt } from '../../../core/serving/answer.ts';
import type { Prompt, ServingOrder } from '../../../core/serving/order.ts';
import {
  type CallStyle,
  callMarks,
  callStyle,
  parseCalls,
  writtenCalls,
} from '../../../core/serving/tool-calls.ts';
import type { WrittenCall } from '../../../core/text/json-form.ts';
import { both } from '../../../core/text/token-grammar.ts';
import { rowMs } from '../../shared/cpu-budget.ts';

/** New tokens at most where a request names no bound: more takes an isolate minutes, and is asked for by name. */
const MOST_UNASKED = LONGEST_CONTEXT;

/** A request with its prompts as token ids and everything that sampling them needs. */
export interface PreparedOrder {
  readonly prompts: readonly TokenIds[];
  readonly samplesEach: number;
  readonly settings: SamplingSettings;
  /** Strings that the text ends before. */
  readonly stopStrings: readonly string[];
  /** Token ids that end a completion. */
  readonly stops: TokenIds;
  /** How calls of tools are written; absent where none are offered. */
  readonly calls: CallStyle | undefined;
  /** The only calls that are allowed beside a form; absent where the answer is held to none. */
  readonly written?: readonly WrittenCall[] | undefined;
}

/** A prompt as token ids. */
export interface ReadPrompt {
  readonly ids: TokenIds;
  /** Absent where the prompt is no conversation. */
  readonly dialogue?: Dialogue;
}

/** Throws as the renderer does. */
export function readPrompt(prompt: Prompt, { renderer, tokenizer }: PolicyText): ReadPrompt {
  if (prompt.kind === 'ids') return { ids: prompt.ids };
  if (prompt.kind === 'text') return { ids: tokenizer.encodeWhole(prompt.text) };
  const dialogue = renderer().begin(prompt.messages, prompt.tools);
  return { ids: dialogue.ids, dialogue };
}

const callStyleOf = (prompt: Prompt, { renderer }: PolicyText): CallStyle | undefined =>
  prompt.kind === 'messages' && prompt.tools
    ? callStyle(renderer(), prompt.messages, prompt.tools)
    : undefined;

/** `read`: the order's prompts. Throws as `readPrompt` and `callStyle` do, and `policy.too-long` where a prompt leaves no room. */
export function prepare(
  order: ServingOrder,
  text: PolicyText,
  read: readonly ReadPrompt[] = order.prompts.map((prompt) => readPrompt(prompt, text)),
): PreparedOrder {
  const longest = Math.max(...read.map(({ ids }) => ids.length));
  const room = text.contextLength - longest;
  const { maxNew = Math.max(1, Math.min(room, MOST_UNASKED)), stopStrings } = order;
  if (maxNew > room)
    throw wrongInput(
      'policy.too-long',
      order.maxNew === undefined || room < 1
        ? `The prompt has ${longest} tokens.`
        : `The prompt has ${longest} tokens, and ${maxNew} new ones are asked for.`,
      {
        expected: `at most ${text.contextLength} in all`,
        next: 'Shorten the prompt, or lower max_tokens.',
      },
    );
  const renderer = text.renderer();
  const { form } = order;
  // What the form says ends an answer, and nothing before it but what the caller names.
  const onlyNamed = order.ignoreEnds || form !== undefined;
  const { stop, grammar } = onlyNamed
    ? { stop: [] as TokenIds, grammar: stopStrings.length ? renderer.ends(stopStrings).grammar : undefined }
    : renderer.ends(stopStrings);
  const prompt = order.prompts[0]!;
  const calls = callStyleOf(prompt, text);
  const written =
    form && calls && prompt.kind === 'messages' ? writtenCalls(calls, prompt.tools!) : undefined;
  const json = form && renderer.jsonGrammar(form, written);
  const held = json && grammar ? both(json, grammar) : (json ?? grammar);
  const stops = [...new Set([...stop, ...order.stopIds])];
  return {
    prompts: read.map(({ ids }) => ids),
    samplesEach: order.samples,
    settings: {
      maxNew,
      temperature: order.temperature,
      topP: order.topP,
      topK: order.topK,
      ...(order.alternatives ? { alternatives: order.alternatives } : {}),
      stop: stops,
      ...(held ? { grammar: held } : {}),
    },
    stopStrings: onlyNamed ? stopStrings : [...renderer.stopStrings, ...stopStrings],
    stops,
    calls,
    written,
  };
}

/** The strings before which the text of a stream is held back. */
export const heldBack = ({ stopStrings, calls }: PreparedOrder): string[] => [
  ...stopStrings,
  ...(calls ? callMarks(calls) : []),
];

/** The text of a completion of a prompt, without what ended it. Calls of tools are still in it. */
export function textOf(
  { prompts, stops, stopStrings }: PreparedOrder,
  { renderer }: PolicyText,
  prompt: number,
  ids: TokenIds,
): string {
  const at = ids.findIndex((id) => stops.includes(id));
  const whole = renderer().textAfter(prompts[prompt]!, at < 0 ? ids : ids.slice(0, at));
  const ends = stopStrings.map((stop) => whole.indexOf(stop)).filter((end) => end >= 0);
  return ends.length ? whole.slice(0, Math.min(...ends)) : whole;
}

/** The alternatives to the tokens of a completion from the one at `from` on; undefined where none were asked for. */
export const namedAlternatives = (
  { alternatives }: Completion,
  { tokenizer }: PolicyText,
  from = 0,
): NamedAlternative[][] | undefined =>
  alternatives
    ?.slice(from)
    .map((those) => those.map((one) => ({ ...one, text: tokenizer.decode([one.id]) })));

export function choiceOf(
  prepared: PreparedOrder,
  text: PolicyText,
  prompt: number,
  completion: Completion,
): Choice {
  const { ids, logprobs, stopped } = completion;
  const whole = textOf(prepared, text, prompt, ids);
  return {
    prompt,
    ids,
    logprobs,
    tokens: ids.map((id) => text.tokenizer.decode([id])),
    alternatives: namedAlternatives(completion, text),
    stopped,
    ...(prepared.calls
      ? parseCalls(whole, prepared.calls, stopped, prepared.written)
      : { text: whole, calls: [] }),
  };
}

/** Throws `serving.budget` where so many completions of so many tokens may take more time than an invocation has. */
export function expectBudget(needsMs: number, budgetMs: number, completions: number, maxNew: number): void {
  if (needsMs <= budgetMs) return;
  throw new RollmeshError(
    'over-budget',
    'serving.budget',
    `${completions} completions of up to ${maxNew} tokens may take ${Math.ceil(needsMs / 1000)} s of processor time.`,
    { expected: `at most ${Math.floor(budgetMs / 1000)} s`, next: 'Lower max_tokens or n.' },
  );
}

/** The most processor time that a completion may take, ms; an engine that samples in its graph reads it a second time for the alternatives. */
export const drawMs = (policy: Policy, prompt: number, { maxNew, alternatives }: SamplingSettings): number =>
  (alternatives ? 2 : 1) * rowMs(policy, prompt + maxNew);

/** Scores the prompts. `most`: how many of the most likely tokens are told of each place. Throws as `expectBudget` does. */
export async function scorePrompts(
  policy: Policy,
  { prompts, samplesEach, settings }: PreparedOrder,
  most: number,
  budgetMs: number,
): Promise<TokenScores[]> {
  const longest = Math.max(...prompts.map((ids) => ids.length));
  // They are read twice where logits are computed again for the alternatives.
  const needsMs =
    prompts.length * (2 * rowMs(policy, longest) + samplesEach * drawMs(policy, longest, settings));
  expectBudget(needsMs, budgetMs, prompts.length * samplesEach, settings.maxNew);
  return policy.score(prompts, most);
}

/** What the caller is told of the prompts. `scores`: of their tokens, where they were asked for. */
export const toldPrompts = (
  { prompts: asked, echo }: ServingOrder,
  { prompts }: PreparedOrder,
  { tokenizer }: PolicyText,
  scores?: readonly TokenScores[],
): ToldPrompt[] =>
  prompts.map((ids, p) => {
    const prompt = asked[p]!;
    // A patch of an image is no text.
    const named = (id: number) => ({ id, text: isPatch(id) ? '' : tokenizer.decode([id]) });
    const of = scores?.[p];
    const read =
      of &&
      ids.map((id, t) => ({
        own: { ...named(id), logprob: t ? of.logprobs[t - 1]! : null },
        rank: t ? of.ranks![t - 1]! : 1,
        alternatives: t ? of.alternatives![t - 1]!.map((one) => ({ ...one, ...named(one.id) })) : [],
      }));
    return {
      ...(echo ? { echoed: prompt.kind === 'text' ? prompt.text : tokenizer.decode(ids) } : {}),
      ...(read ? { read } : {}),
    };
  });

/** `soFar` is called after every turn of an engine that draws token by token, and resolves to false to end there. */
export async function sample(
  policy: Policy,
  prepared: PreparedOrder,
  seed: number,
  budgetMs: number,
  soFar?: (completions: readonly (readonly Completion[])[]) => Promise<boolean>,
): Promise<Completion[][]> {
  const { prompts, samplesEach, settings } = prepared;
  const longest = Math.max(...prompts.map((ids) => ids.length));
  const needsMs = prompts.length * samplesEach * drawMs(policy, longest, settings);
  expectBudget(needsMs, budgetMs, prompts.length * samplesEach, settings.maxNew);
  return policy.generate(
    prompts.map((ids, p) => ({
      ids,
      sampleIds: Array.from({ length: samplesEach }, (_, s) => deriveId('serving', seed, p, s)),
    })),
    settings,
    soFar,
  );
}
