/** The streamed answer of `/v1/responses`: what every turn of the generation adds to its one message, and the calls once it has ended. */
import type { Completion } from '../../../core/policy/policy.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import type { Heading } from '../../../core/serving/answer.ts';
import type { apiError } from '../../../core/serving/api-error.ts';
import { growingText } from '../../../core/serving/growing-text.ts';
import type { ServingOrder } from '../../../core/serving/order.ts';
import { ResponseStream } from '../../../core/serving/responses.ts';
import { choiceOf, heldBack, namedAlternatives, type PreparedOrder, textOf } from './sample.ts';

type Drawn = readonly (readonly Completion[])[];

export class ResponseEvents {
  readonly #prepared: PreparedOrder;
  readonly #text: PolicyText;
  readonly #told;
  readonly #stream: ResponseStream;
  #begun = false;
  /** Tokens whose text was told. */
  #tokens = 0;

  constructor(order: ServingOrder, heading: Heading, prepared: PreparedOrder, text: PolicyText) {
    this.#prepared = prepared;
    this.#text = text;
    this.#told = growingText(heldBack(prepared));
    this.#stream = new ResponseStream(heading, order);
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#stream.begin();
  }

  /** The events of what was drawn since the last call. */
  grow(drawn: Drawn): string {
    const completion = drawn[0]?.[0];
    const begun = this.#begin();
    // An answer that may be one JSON object is a call, or is not, when it has ended.
    if (!completion || this.#prepared.calls === 'json') return begun;
    return (
      begun + this.#add(completion, this.#told.add(textOf(this.#prepared, this.#text, 0, completion.ids)))
    );
  }

  /** The last events: the rest of the text, and the calls. */
  end(drawn: Drawn): string {
    const completion = drawn[0]?.[0];
    if (!completion) throw new Error('internal: a response without a completion');
    const choice = choiceOf(this.#prepared, this.#text, 0, completion);
    const rest = choice.calls.length ? '' : this.#told.end(choice.text);
    return this.#begin() + this.#add(completion, rest) + this.#stream.end(this.#prepared.prompts[0]!, choice);
  }

  /** The events of a failure. */
  fail({ error }: ReturnType<typeof apiError>): string {
    return this.#begin() + this.#stream.fail(error);
  }

  #add(completion: Completion, text: string): string {
    if (text === '') return '';
    const ids = completion.ids.slice(this.#tokens);
    const tokens = {
      ids,
      logprobs: completion.logprobs.slice(this.#tokens),
      tokens: ids.map((id) => this.#text.tokenizer.decode([id])),
      alternatives: namedAlternatives(completion, this.#text, this.#tokens),
    };
    this.#tokens = completion.ids.length;
    return this.#stream.add(text, tokens);
  }
}
