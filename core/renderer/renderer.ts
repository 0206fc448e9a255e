/**
 * Converts between messages and token ids. A dialogue grows by what a template adds around the messages and by what a model sampled;
 * the ids that were sampled are kept as they are, and no text is encoded twice. So the prompt of a turn begins with exactly the ids
 * that the turn before ended with, and the loss mask follows from who wrote which ids.
 */
import { RollmeshError, wrongInput } from '../errors.ts';
import { isPatch } from '../images/patches.ts';
import type { SamplingSettings, TokenIds } from '../policy/policy.ts';
import { automatonOf } from '../text/byte-automaton.ts';
import { grammarOfForm } from '../text/form-grammar.ts';
import { type JsonForm, jsonOrCalls, type WrittenCall } from '../text/json-form.ts';
import { type TokenGrammar, untilText } from '../text/token-grammar.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import type { Message, Tool } from './message.ts';
import type { Template } from './template.ts';

/** A conversation as a model sees it. */
export interface Dialogue {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[] | undefined;
  readonly ids: TokenIds;
  /** [ids]: 1 where the model wrote the token and the loss counts, 0 where the template or somebody else did. */
  readonly mask: readonly (0 | 1)[];
  /** The text of the ids, without end tokens that the template does not write. */
  readonly text: string;
}

/** A completion as text. */
export interface Answer {
  /** The text without the token or the string that ended it. */
  readonly text: string;
  /** Did such a token or string end it? */
  readonly ended: boolean;
}

export interface Renderer {
  readonly kind: 'tags' | 'chat' | 'plain';
  /** Any of these token ids ends an answer. */
  readonly stops: TokenIds;
  /** Any of these strings ends an answer, too. */
  readonly stopStrings: readonly string[];
  /** The sampling settings that end a completion where an answer ends, or where one of `more` strings stands. */
  ends(more?: readonly string[]): Pick<SamplingSettings, 'stop' | 'grammar'>;
  /** The grammar of answers that are JSON: any object, or what a schema says. No token that structures a dialogue may come in it. */
  jsonGrammar(form: JsonForm, calls?: readonly WrittenCall[]): TokenGrammar;
  /** The prompt for the assistant's first answer. Throws `renderer.refused`, `renderer.control-token`. */
  begin(messages: readonly Message[], tools?: readonly Tool[]): Dialogue;
  /** The part of a decoded completion before what ended it, and whether anything did. */
  readText(text: string): Answer;
  /** Does the text hold a token that separates messages? In a message it would pass for one. */
  holdsControl(text: string): boolean;
  /** The text of ids that follow others, whatever they are. */
  textAfter(context: TokenIds, ids: TokenIds): string;
  /** Decodes a completion, given the ids of its prompt. */
  read(prompt: TokenIds, completion: TokenIds): Answer;
  /** The dialogue with a sampled completion appended, whose ids count in the loss. */
  answer(dialogue: Dialogue, completion: TokenIds): Dialogue;
  /**
   * The prompt for the next answer, after further messages. Throws `renderer.history` where the template renders the earlier messages
   * differently from what the model saw, so that the ids cannot be continued.
   */
  ask(dialogue: Dialogue, messages: readonly Message[]): Dialogue;
  /**
   * Dialogues to learn from that somebody else wrote; the last message is the assistant's. One dialogue has all answers where the template only adds to
   * what was said before; where it rewrites that, each answer has a dialogue of its own, after the prompt that its turn has. An answer of weight 0
   * carries no loss. Throws as `begin` and `ask`, and `renderer.thought` where the template would leave out what the assistant thought, or begins
   * an answer with a thought that the message has not.
   */
  demonstrate(messages: readonly Message[], tools?: readonly Tool[]): Dialogue[];
}

export interface RendererParts {
  readonly kind: Renderer['kind'];
  readonly template: Template;
  readonly tokenizer: Tokenizer;
  readonly stops: TokenIds;
  readonly stopStrings: readonly string[];
  /** Texts of the tokens that structure a dialogue: a message that holds one could pass for another message. */
  readonly controlTokens: readonly string[];
  /** How many tokens the model knows; the tokenizer may have texts for fewer. */
  readonly vocabSize: number;
}

/** Most grammars that a renderer keeps. */
const KEPT_GRAMMARS = 8;
/** How many tokens before a completion it is decoded with. */
const CONTEXT = 4;

const masked = (ids: TokenIds, value: 0 | 1): (0 | 1)[] => ids.map(() => value);

/** The place where two texts differ, with what follows in each: for an error message. */
function parting(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const excerpt = (text: string) => JSON.stringify(text.slice(at, at + 30));
  return `at character ${at} it has ${excerpt(after)} instead of ${excerpt(before)}`;
}

/** Bytes as a text with a character for each, so that a string that ends an answer is found where its bytes are, in whatever tokens. */
const asCharacters = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

function asBytes(characters: string): Uint8Array {
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

/** [vocabulary]: the bytes of every token; empty for an id that has no token. */
const tokenTexts = (tokenizer: Tokenizer, vocabSize: number): string[] =>
  Array.from({ length: vocabSize }, (_, id) => asCharacters(tokenizer.bytes(id)));

export function openRenderer({
  kind,
  template,
  tokenizer,
  stops,
  stopStrings,
  controlTokens,
  vocabSize,
}: RendererParts): Renderer {
  const guard = (messages: readonly Message[]): void => {
    for (const { role, content } of messages) {
      if (role === 'assistant') continue;
      const found = controlTokens.find((token) => content.includes(token));
      if (found === undefined) continue;
      throw wrongInput('renderer.control-token', `A message of the ${role} holds ${JSON.stringify(found)}.`, {
        expected:
          'text without the tokens that separate messages: the model would take it for another message',
        next: 'Remove the token from the task.',
      });
    }
  };

  /** The text that the template adds to what the dialogue holds. */
  const added = (dialogue: Dialogue, rendering: string): string => {
    if (rendering.startsWith(dialogue.text)) return rendering.slice(dialogue.text.length);
    throw new RollmeshError(
      'give-up',
      'renderer.history',
      `The chat template rewrites what was said before: ${parting(dialogue.text, rendering)}.`,
      {
        expected:
          'a template that only adds to a conversation, so that the next prompt begins with the ids of the last one',
        next: 'Use a template that keeps earlier messages whole, or tasks of a single turn.',
      },
    );
  };

  const grown = (dialogue: Dialogue, text: string, messages: readonly Message[]): Dialogue => {
    const ids = tokenizer.encode(text);
    return {
      ...dialogue,
      messages,
      text: dialogue.text + text,
      ids: [...dialogue.ids, ...ids],
      mask: [...dialogue.mask, ...masked(ids, 0)],
    };
  };

  const ask = (dialogue: Dialogue, next: readonly Message[]): Dialogue => {
    guard(next);
    const messages = [...dialogue.messages, ...next];
    const rendering = template({ messages, tools: dialogue.tools, generationPrompt: true });
    return grown(dialogue, added(dialogue, rendering), messages);
  };

  const begin = (messages: readonly Message[], tools?: readonly Tool[]): Dialogue =>
    ask({ messages: [], tools, ids: [], mask: [], text: '' }, messages);

  /** The text of ids that follow others: some tokenizers drop a space at the beginning of what they decode. */
  const textAfter = (context: TokenIds, ids: TokenIds): string => {
    const near = context.slice(-CONTEXT);
    // A part of an image is no text.
    const tail = near.slice(near.findLastIndex(isPatch) + 1);
    const [before, both] = [tokenizer.decode(tail), tokenizer.decode([...tail, ...ids])];
    return both.startsWith(before) ? both.slice(before.length) : tokenizer.decode(ids);
  };

  /** Tokens of a completion before the one that ends it. */
  const endOf = (completion: TokenIds): number => {
    const at = completion.findIndex((id) => stops.includes(id));
    return at < 0 ? completion.length : at;
  };

  const read = (prompt: TokenIds, completion: TokenIds): Answer => {
    const at = endOf(completion);
    const text = textAfter(prompt, completion.slice(0, at));
    const ends = stopStrings.map((stop) => text.indexOf(stop)).filter((end) => end >= 0);
    return {
      text: ends.length ? text.slice(0, Math.min(...ends)) : text,
      ended: at < completion.length || ends.length > 0,
    };
  };

  /** The rest of a stop string that begins with what the template puts after an answer. */
  const restOfStop = (text: string): string => {
    for (const stop of stopStrings)
      for (let length = stop.length; length > 0; length--)
        if (text.endsWith(stop.slice(0, length))) return stop.slice(length);
    return '';
  };

  /**
   * The dialogue with an answer's text appended. The loss counts up to the token that ends it, and not at all where its weight is 0. Where the template
   * writes no such token, one follows the text; without any, the string does that ends an answer.
   */
  const learned = (dialogue: Dialogue, text: string, message: Message): Dialogue => {
    const next = grown(dialogue, stops.length ? text : text + restOfStop(text), [
      ...dialogue.messages,
      message,
    ]);
    const start = dialogue.ids.length;
    const written = next.ids.findIndex((id, i) => i >= start && stops.includes(id));
    const ids = written < 0 && stops.length ? [...next.ids, stops[0]!] : next.ids;
    const end = written < 0 ? ids.length - 1 : written;
    const isLearned = (i: number) => i >= start && i <= end && message.weight !== 0;
    return { ...next, ids, mask: ids.map((_, i) => (isLearned(i) ? 1 : (dialogue.mask[i] ?? 0))) };
  };

  const rendered = (messages: readonly Message[], tools: readonly Tool[] | undefined): string =>
    template({ messages, tools, generationPrompt: false });

  /** The assistant's message as the template writes it. */
  const demonstrated = (dialogue: Dialogue, message: Message): Dialogue => {
    const messages = [...dialogue.messages, message];
    const text = added(dialogue, rendered(messages, dialogue.tools));
    if (message.reasoning_content !== undefined) {
      const { reasoning_content: _, ...plain } = message;
      // A template that says the same without the thought leaves it out.
      if (rendered([...dialogue.messages, plain], dialogue.tools) === dialogue.text + text)
        throw leftOut('does not write reasoning_content');
    }
    return learned(dialogue, text, message);
  };

  /**
   * An answer after the prompt of its own turn. A template that begins the answer for the model, as with `<think>`, and leaves thoughts out of what it
   * writes of finished messages, is followed by the content itself.
   */
  const demonstratedAlone = (
    before: readonly Message[],
    message: Message,
    tools: readonly Tool[] | undefined,
  ): Dialogue => {
    const prompt = begin(before, tools);
    if (rendered([...before, message], tools).startsWith(prompt.text)) return demonstrated(prompt, message);
    const history = rendered(before, tools);
    const begun = prompt.text.startsWith(history) ? prompt.text.slice(history.length) : '';
    const { reasoning_content: thought, content } = message;
    const whole = thought === undefined ? content : `<think>\n${thought}\n</think>\n\n${content}`;
    let shared = Math.min(begun.length, whole.length);
    while (shared > 0 && !begun.endsWith(whole.slice(0, shared))) shared--;
    if (shared === 0 || message.tool_calls?.length)
      throw leftOut(`begins an answer with ${JSON.stringify(begun)}, which the message does not`);
    return learned(
      prompt,
      `${whole.slice(shared)}${stops.length ? tokenizer.decode(stops.slice(-1)) : ''}`,
      message,
    );
  };

  const leftOut = (what: string) =>
    wrongInput('renderer.thought', `The chat template ${what}.`, {
      expected: 'an answer that the template writes whole',
      next: 'Write the thought into the content as the model does, as in "<think>\\n…\\n</think>\\n\\nanswer", or leave it out.',
    });

  const inOneDialogue = (messages: readonly Message[], tools: readonly Tool[] | undefined): Dialogue => {
    let dialogue: Dialogue = { messages: [], tools, ids: [], mask: [], text: '' };
    let asked: Message[] = [];
    for (const message of messages)
      if (message.role !== 'assistant') asked.push(message);
      else {
        dialogue = demonstrated(ask(dialogue, asked), message);
        asked = [];
      }
    return dialogue;
  };

  const turnByTurn = (messages: readonly Message[], tools: readonly Tool[] | undefined): Dialogue[] =>
    messages.flatMap((message, i) =>
      message.role === 'assistant' && message.weight !== 0
        ? [demonstratedAlone(messages.slice(0, i), message, tools)]
        : [],
    );

  const demonstrate = (messages: readonly Message[], tools?: readonly Tool[]): Dialogue[] => {
    if (messages.at(-1)?.role !== 'assistant')
      throw wrongInput(
        'renderer.demonstration',
        'The conversation does not end with a message of the assistant.',
        { expected: 'an answer to learn from as the last message' },
      );
    try {
      return [inOneDialogue(messages, tools)];
    } catch (error) {
      if (!(error instanceof RollmeshError && error.code === 'renderer.history')) throw error;
      return turnByTurn(messages, tools);
    }
  };

  /** What a completion says, as the content of a message: plain text has line ends of its own after an answer. */
  const contentOf = (dialogue: Dialogue, completion: TokenIds): string => {
    const { text } = read(dialogue.ids, completion);
    return kind === 'plain' ? text.trimEnd() : text;
  };

  const stopTexts = [...stops.map((id) => tokenizer.decode([id])), ...stopStrings];

  /** The grammars that were made, by their strings or forms; those of agents' calls repeat. */
  const made = new Map<string, TokenGrammar>();
  const kept = (key: string, make: () => TokenGrammar): TokenGrammar => {
    const known = made.get(key);
    if (known) return known;
    const grammar = make();
    if (made.size >= KEPT_GRAMMARS) made.clear();
    made.set(key, grammar);
    return grammar;
  };
  let texts: readonly string[] | undefined;
  const textsOf = () => {
    texts ??= tokenTexts(tokenizer, vocabSize);
    return texts;
  };
  const endsAt = (strings: readonly string[]) => {
    if (!strings.length) return { stop: stops };
    const encoder = new TextEncoder();
    const grammar = kept(JSON.stringify(strings), () =>
      untilText(
        strings.map((text) => asCharacters(encoder.encode(text))),
        textsOf(),
      ),
    );
    return { stop: stops, grammar };
  };

  const jsonGrammar = (form: JsonForm, calls: readonly WrittenCall[] = []): TokenGrammar =>
    // The key has the form in the order of its fields, which is that of the answer.
    kept(`json ${JSON.stringify([form, calls])}`, () => {
      const structuring = new Set([...stops, ...controlTokens.map((token) => tokenizer.id(token))]);
      const bytes = textsOf().map((text, id) => asBytes(structuring.has(id) ? '' : text));
      return grammarOfForm(automatonOf(jsonOrCalls(form, calls)), bytes);
    });

  return {
    kind,
    stops,
    stopStrings,
    jsonGrammar,
    ends: (more = []) => endsAt([...stopStrings, ...more]),
    begin,
    ask,
    textAfter,
    read,
    readText: (text) => {
      const ends = stopTexts.map((stop) => text.indexOf(stop)).filter((end) => end >= 0);
      return { text: ends.length ? text.slice(0, Math.min(...ends)) : text, ended: ends.length > 0 };
    },
    holdsControl: (text) => controlTokens.some((token) => text.includes(token)),
    answer: (dialogue, completion) => ({
      ...dialogue,
      messages: [...dialogue.messages, { role: 'assistant', content: contentOf(dialogue, completion) }],
      text:
        dialogue.text +
        (kind === 'plain'
          ? textAfter(dialogue.ids, completion.slice(0, endOf(completion)))
          : textAfter(dialogue.ids, completion)),
      ids: [...dialogue.ids, ...completion],
      mask: [...dialogue.mask, ...masked(completion, 1)],
    }),
    demonstrate,
  };
}
