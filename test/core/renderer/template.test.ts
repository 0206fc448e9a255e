/** Chat templates against Jinja2, the engine that transformers renders them with. */
import { expect, test } from 'vitest';
import type { Message, Tool } from '../../../core/renderer/message.ts';
import { openTemplate } from '../../../core/renderer/template.ts';
import { QWEN_TEMPLATE, SMOLLM_TEMPLATE } from './checkpoints.ts';
import stored from './template-vectors.json';

interface Vector {
  readonly template: string;
  readonly conversation: string;
  readonly generationPrompt: boolean;
  readonly text?: string;
  /** What the template raises. */
  readonly refuses?: string;
}
const templates: Readonly<Record<string, string>> = {
  qwen: QWEN_TEMPLATE,
  smollm: SMOLLM_TEMPLATE,
  ...stored.templates,
};
const conversations = stored.conversations as Readonly<
  Record<string, { readonly messages: Message[]; readonly tools?: Tool[] }>
>;

test.each(stored.vectors as Vector[])(
  'Jinja2 on $template and $conversation, generation prompt $generationPrompt',
  ({ template, conversation, generationPrompt, text, refuses }) => {
    const render = openTemplate(templates[template]!, { bos_token: '<s>', eos_token: '</s>' });
    const rendered = () => render({ ...conversations[conversation]!, generationPrompt });
    if (refuses === undefined) expect(rendered()).toBe(text);
    else expect(rendered).toThrow(refuses);
  },
);

test('brackets without measure are refused in words', () => {
  expect(() => openTemplate(`{{ ${'('.repeat(10_000)}1${')'.repeat(10_000)} }}`)).toThrow(
    /cannot be read: it is nested too deeply/,
  );
});
