/**
 * A chat template: Jinja as Hugging Face tokenizers carry it, read by @huggingface/jinja with the settings of transformers
 * (`trim_blocks`, `lstrip_blocks`). It has no clock: equal messages give equal text, so `strftime_now` is not defined, and templates that
 * ask whether it is take their fixed date.
 */

import { Environment, parse, tokenize } from '@huggingface/jinja';
import { wrongInput } from '../errors.ts';
import { reasonOf } from '../text/nesting.ts';
import { BoundedInterpreter } from './bounded-interpreter.ts';
import type { Message, Tool } from './message.ts';

export interface TemplateInput {
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[] | undefined;
  /** Ends the text where the assistant's next message begins. */
  readonly generationPrompt: boolean;
}

/** Text of a conversation. Throws `wrong-input` with code `renderer.refused` where the template throws. */
export type Template = (input: TemplateInput) => string;

/** The most numbers that `range` may give: a template that asks for more does not end. */
const LONGEST_RANGE = 10_000;

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (!(count <= LONGEST_RANGE)) throw new Error(`range of ${count} numbers`);
  return Array.from({ length: count }, (_, i) => start + i * step);
}

/** Copies only the fields that are there: a template that asks whether a name `is defined` must not find it undefined. */
const given = (message: Message): object =>
  Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));

/**
 * `variables` are what the template may name besides the messages: special tokens (`bos_token`) and its own switches. Throws
 * `wrong-input` with code `renderer.template` where the source is no Jinja.
 */
export function openTemplate(source: string, variables: Readonly<Record<string, unknown>> = {}): Template {
  let program: ReturnType<typeof parse>;
  try {
    program = parse(tokenize(source, { trim_blocks: true, lstrip_blocks: true }));
  } catch (cause) {
    throw wrongInput('renderer.template', `The chat template cannot be read: ${reasonOf(cause)}.`, {
      expected: 'a Jinja template, as tokenizer_config.json has it in chat_template',
      cause,
    });
  }
  const raise = (text: string) => {
    throw new Error(text);
  };
  return ({ messages, tools, generationPrompt }) => {
    const input: Record<string, unknown> = {
      true: true,
      True: true,
      false: false,
      False: false,
      none: null,
      None: null,
      range,
      raise_exception: raise,
      ...variables,
      messages: messages.map(given),
      tools: tools?.length ? tools : null,
      documents: null,
      add_generation_prompt: generationPrompt,
    };
    const environment = new Environment();
    for (const [name, value] of Object.entries(input)) environment.set(name, value);
    try {
      return String(new BoundedInterpreter(environment).run(program).value);
    } catch (cause) {
      if (source.includes('strftime_now') && /not a function/.test(reasonOf(cause)))
        throw wrongInput(
          'renderer.clock',
          'The chat template calls strftime_now, which is not defined here.',
          {
            expected: 'a template without a clock: equal messages give equal text',
            next: 'Write a fixed date in its place, or ask `if strftime_now is defined` before the call, and import the policy again.',
            cause,
          },
        );
      const roles = messages.map(({ role }) => role).join(', ');
      throw wrongInput(
        'renderer.refused',
        `The chat template refuses this conversation (${roles}): ${reasonOf(cause)}.`,
        {
          expected: 'messages in an order, and with roles, that the template takes',
          next: 'Change the messages of the task, or choose another template.',
          cause,
        },
      );
    }
  };
}
