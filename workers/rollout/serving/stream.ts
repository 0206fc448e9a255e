/** The answer to a streaming request: server-sent events, a chunk for what every turn of the generation adds. */
import type { Completion } from '../../../core/policy/policy.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import {
  type Choice,
  chatChunk,
  completionChunk,
  type Heading,
  type Piece,
  usageChunk,
} from '../../../core/serving/answer.ts';
import { type GrowingText, growingText } from '../../../core/serving/growing-text.ts';
import type { ServingOrder } from '../../../core/serving/order.ts';
import { choiceOf, heldBack, namedAlternatives, type PreparedOrder, textOf } from './sample.ts';

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** A completion that is being streamed. */
interface Told {
  readonly text: GrowingText;
  tokens: number;
  offset: number;
  begun: boolean;
}

/** Turns completions, as far as they have been drawn, into the events that tell what is new of them. */
export class CompletionEvents {
  readonly #order: ServingOrder;
  readonly #chat: boolean;
  readonly #heading: Heading;
  readonly #prepared: PreparedOrder;
  readonly #text: PolicyText;
  readonly #told: readonly Told[];

  constructor(
    order: ServingOrder,
    chat: boolean,
    heading: Heading,
    prepared: PreparedOrder,
    text: PolicyText,
  ) {
    this.#order = order;
    this.#chat = chat;
    this.#heading = heading;
    this.#prepared = prepared;
    this.#text = text;
    const marks = heldBack(prepared);
    this.#told = prepared.prompts.flatMap(() =>
      Array.from({ length: prepared.samplesEach }, () => ({
        text: growingText(marks),
        tokens: 0,
        offset: 0,
        begun: false,
      })),
    );
  }

  /** The events of what was drawn since the last call. */
  grow(soFar: readonly (readonly Completion[])[]): string {
    return this.#each(soFar, (index, prompt, completion) => {
      const told = this.#told[index]!;
      if (told.tokens === completion.ids.length) return '';
      // An answer that may be one JSON object is a call, or is not, when it has ended.
      const certain =
        this.#prepared.calls === 'json'
          ? ''
          : told.text.add(textOf(this.#prepared, this.#text, prompt, completion.ids));
      return this.#chunk(index, this.#piece(index, completion, certain));
    });
  }

  /** The last events: the rest of every text, why it ended, and the token counts if they were asked for. */
  end(completions: readonly (readonly Completion[])[]): string {
    const { streamUsage } = this.#order;
    const all: Choice[] = [];
    const last = this.#each(completions, (index, prompt, completion) => {
      const choice = choiceOf(this.#prepared, this.#text, prompt, completion);
      all.push(choice);
      const rest = choice.calls.length ? '' : this.#told[index]!.text.end(choice.text);
      return this.#chunk(index, this.#piece(index, completion, rest), choice);
    });
    const object = this.#chat ? 'chat.completion.chunk' : 'text_completion';
    const usage = streamUsage ? event(usageChunk(this.#heading, object, this.#prepared.prompts, all)) : '';
    return last + usage + DONE;
  }

  /** The events of a failure. */
  fail(body: unknown): string {
    return event(body) + DONE;
  }

  #each(
    completions: readonly (readonly Completion[])[],
    tell: (index: number, prompt: number, completion: Completion) => string,
  ): string {
    return completions
      .flatMap((ofPrompt, prompt) =>
        ofPrompt.map((completion, s) => tell(prompt * this.#prepared.samplesEach + s, prompt, completion)),
      )
      .join('');
  }

  #piece(index: number, completion: Completion, text: string): Piece {
    const { ids, logprobs } = completion;
    const told = this.#told[index]!;
    const added = ids.slice(told.tokens);
    const tokens = added.map((id) => this.#text.tokenizer.decode([id]));
    const piece = {
      index,
      ids: added,
      logprobs: logprobs.slice(told.tokens),
      tokens,
      alternatives: namedAlternatives(completion, this.#text, told.tokens),
      text,
      offset: told.offset,
    };
    told.tokens = ids.length;
    told.offset += tokens.join('').length;
    return piece;
  }

  #chunk(index: number, piece: Piece, ended?: Choice): string {
    const told = this.#told[index]!;
    const first = !told.begun;
    told.begun = true;
    return event(
      this.#chat
        ? chatChunk(this.#heading, piece, this.#order, first, ended)
        : completionChunk(this.#heading, piece, this.#order, ended),
    );
  }
}
