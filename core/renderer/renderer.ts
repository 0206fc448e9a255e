/**
 * Converts between messages and token ids. A dialogue grows by what a template adds around the messages and by what a model sampled;
 * the ids that were sampled are kept as they are, and no text is encoded twice. So the prompt of a turn begins with exactly the ids
 * that the turn before ended with, and the loss mask follows from who wrote which ids.
 */
import { RollmeshError, wrongInput } from '../errors.ts';
import type { SamplingSettings, TokenIds } from '../policy/policy.ts';
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
  /** The text of the ids. */
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
  /** A dialogue to learn from that somebody else wrote; its last message is the assistant's. Throws as `begin` and `ask`. */
  demonstrate(messages: readonly Message[], tools?: readonly Tool[]): Dialogue;
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

/** [vocabulary]: the text of every token; empty for an id that has no token. */
const tokenTexts = (tokenizer: Tokenizer, vocabSize: number): string[] =>
  Array.from({ length: vocabSize }, (_, id) => {
    try {
      return tokenizer.decode([id]);
    } catch {
      return '';
    }
  });

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
    const tail = context.slice(-CONTEXT);
    const [before, both] = [tokenizer.decode(tail), tokenizer.decode([...tail, ...ids])];
    return both.startsWith(before) ? both.slice(before.length) : tokenizer.decode(ids);
  };

  const read = (prompt: TokenIds, completion: TokenIds): Answer => {
    const at = completion.findIndex((id) => stops.includes(id));
    const text = textAfter(prompt, at < 0 ? completion : completion.slice(0, at));
    const ends = stopStrings.map((stop) => text.indexOf(stop)).filter((end) => end >= 0);
    return { text: ends.length ? text.slice(0, Math.min(...ends)) : text, ended: at >= 0 || ends.length > 0 };
  };

  /** The assistant's message as the template writes it: the loss counts up to the token that ends it. */
  const demonstrated = (dialogue: Dialogue, message: Message): Dialogue => {
    const messages = [...dialogue.messages, message];
    const rendering = template({ messages, tools: dialogue.tools, generationPrompt: false });
    const next = grown(dialogue, added(dialogue, rendering), messages);
    const start = dialogue.ids.length;
    const end = next.ids.findIndex((id, i) => i >= start && stops.includes(id));
    const mask = next.mask.map((value, i) => (i >= start && (end < 0 || i <= end) ? 1 : value));
    return { ...next, mask };
  };

  const stopTexts = [...stops.map((id) => tokenizer.decode([id])), ...stopStrings];

  /** The grammars that were made, by their strings; those of agents' calls repeat. */
  const made = new Map<string, TokenGrammar>();
  let texts: readonly string[] | undefined;
  const endsAt = (strings: readonly string[]) => {
    if (!strings.length) return { stop: stops };
    const key = JSON.stringify(strings);
    texts ??= tokenTexts(tokenizer, vocabSize);
    const grammar = made.get(key) ?? untilText(strings, texts);
    if (made.size >= KEPT_GRAMMARS) made.clear();
    made.set(key, grammar);
    return { stop: stops, grammar };
  };

  return {
    kind,
    stops,
    stopStrings,
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
      messages: [...dialogue.messages, { role: 'assistant', content: read(dialogue.ids, completion).text }],
      text: dialogue.text + textAfter(dialogue.ids, completion),
      ids: [...dialogue.ids, ...completion],
      mask: [...dialogue.mask, ...masked(completion, 1)],
    }),
    demonstrate: (messages, tools) => {
      let dialogue: Dialogue = { messages: [], tools, ids: [], mask: [], text: '' };
      let asked: Message[] = [];
      for (const message of messages) {
        if (message.role !== 'assistant') asked.push(message);
        else {
          dialogue = demonstrated(ask(dialogue, asked), message);
          asked = [];
        }
      }
      if (asked.length === 0 && dialogue.ids.length > 0) return dialogue;
      throw wrongInput(
        'renderer.demonstration',
        'The conversation does not end with a message of the assistant.',
        {
          expected: 'an answer to learn from as the last message',
        },
      );
    },
  };
}
