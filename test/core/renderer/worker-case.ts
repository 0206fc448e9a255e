/** What checkers and renderers say, to be the same in Node and in a Worker. */
import { findChecker } from '../../../core/checkers/registry.ts';
import { rendererOf } from '../../../core/renderer/open.ts';
import { tokenizerOf } from '../../../core/text/policy-text.ts';
import { QWEN_TEMPLATE, versionFiles } from './checkpoints.ts';

const CASES: readonly (readonly [string, string, string, Record<string, unknown>?])[] = [
  ['exact', 'New York', 'new york'],
  ['number', '1/3', '2/6'],
  ['choice', 'B', 'b)', { choices: ['x', 'y'] }],
  ['regex', '(a|a)*b', 'a'.repeat(2000)],
  ['json-schema', '', '{"a": "xx"}', { schema: { properties: { a: { type: 'string', pattern: '^x+$' } } } }],
  ['set', '1, 2', '{2, 1}'],
  ['expression', '', '3*(8-3)', { numbers: [8, 3, 3], target: 15 }],
  ['math', String.raw`\sin 2x`, String.raw`2\sin x\cos x`],
  ['math', String.raw`\sqrt{x^2}`, 'x'],
];

export function verdicts(): unknown {
  const checks = CASES.map(([name, answer, given, metadata = {}]) =>
    findChecker(name).prepare({ answer, metadata })(given),
  );
  const files = versionFiles({ chat_template: QWEN_TEMPLATE, eos_token: '<|im_end|>' });
  const renderer = rendererOf(files, 'p');
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const first = renderer.begin([{ role: 'user', content: '6 × 7?' }], tools);
  const answered = renderer.answer(first, tokenizerOf(files, 'p').encode('42<|im_end|>'));
  return { checks, dialogue: renderer.ask(answered, [{ role: 'user', content: 'Sure?' }]) };
}
