/** The shipped policy `words`, held to what makes it and to what its manifest says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../../core/random.ts';
import { rendererOf } from '../../../core/renderer/open.ts';
import { readPolicyFolder } from '../../../model/policy-folder.ts';
import { wordsTokenizer } from '../../../worlds/words/tokenizer.ts';

const read = (name: string) => readFileSync(`models/words/${name}`);
const json = (name: string) => JSON.parse(read(name).toString()) as Record<string, unknown>;

test('its files are those of its manifest', () => {
  const { files } = json('manifest.json') as { files: Record<string, { sha256: string }> };
  for (const [name, { sha256 }] of Object.entries(files)) expect(sha256Hex(read(name))).toBe(sha256);
});

test('its tokenizer and template are those that its warm start makes', () => {
  const { json: tokenizer, config } = wordsTokenizer();
  expect(json('tokenizer.json')).toEqual(tokenizer);
  expect(json('tokenizer_config.json')).toEqual(config);
});

test('it is asked by its chat template, which forces the steps where it is told to', async () => {
  const files = await readPolicyFolder('models/words');
  const asked = [{ role: 'user', content: 'What is 2 + 2?' }] as const;
  const renderer = rendererOf(files, 'words');
  expect(renderer.kind).toBe('chat');
  expect(renderer.begin(asked).text).toBe('<|user|>What is 2 + 2?<|end|><|assistant|>');
  const forced = rendererOf(files, 'words', { variables: { enable_thinking: true } });
  expect(forced.begin(asked).text).toBe('<|user|>What is 2 + 2?<|end|><|assistant|><think>');
  expect(renderer.read([], renderer.stops)).toEqual({ text: '', ended: true });
});
