/** Sequence classifiers of other tools become policies with a class head: what it gives is compared with float64. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readImport } from '../../../cli/policy/import-checkpoint.ts';
import { measure } from '../../../core/policy/measure.ts';
import { softmax } from '../../../core/same-exp.ts';
import { nodeEngines } from '../../../infer/node-engines.ts';
import { openVersion } from '../../../infer/open-version.ts';
import { toHfConfig } from '../../../model/hf-config.ts';
import { type Tensors, writeSafetensors } from '../../../model/safetensors.ts';
import { randomHead } from '../../infer/heads.ts';
import { oracle } from '../../model/checkpoints.ts';
import { referenceLogits } from '../../model/reference.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-classifier-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const { config, tensors, expected } = oracle('llama');

/** A folder as LlamaForSequenceClassification.save_pretrained writes it: no output projection, and a score. */
function folderOf(name: string, score: { shape: number[]; data: Float32Array }): string {
  const folder = join(root, name);
  mkdirSync(folder);
  const own: Tensors = new Map([...tensors].filter(([tensor]) => tensor !== 'lm_head.weight'));
  own.set('score.weight', score);
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(own));
  const json = {
    ...toHfConfig({ ...config, tiedEmbeddings: false }),
    architectures: ['LlamaForSequenceClassification'],
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(json));
  return folder;
}

test.each([1, 2])('a score of %d outputs pays the probability that float64 comes to', async (labels) => {
  const { hiddenSize } = config;
  const data = randomHead(config, 2).weight.slice(0, labels * hiddenSize);
  const score = { shape: [labels, hiddenSize], data };
  const { files } = await readImport(folderOf(`of-${labels}`, score), 'rm', { tokenizer: false });
  const chunks: Uint8Array[] = [];
  for await (const chunk of files['model.safetensors'].read()) chunks.push(chunk);
  const version = { ...files, 'model.safetensors': new Uint8Array(Buffer.concat(chunks)) };
  for (const engine of [undefined, 'kernels'] as const) {
    const ref = { name: 'rm', version: 0, ...(engine ? { engine } : {}) };
    const policy = await openVersion(nodeEngines, ref, version);
    const ids = expected.input_ids[0]!;
    const [measured] = await measure(policy, [{ prompt: ids.slice(0, 5), ids: ids.slice(5) }]);
    const last = referenceLogits(
      { ...config, tiedEmbeddings: false },
      new Map([...tensors, ['lm_head.weight', score]]),
      ids,
    ).at(-1)!;
    const odds = labels === 1 ? last[0]! : last[1]! - last[0]!;
    expect(softmax(measured!.classes![0]!)[1]!).toBeCloseTo(1 / (1 + Math.exp(-odds)), 4);
    await policy.dispose();
  }
});

test('a score of other classes, or with numbers that are not finite, is refused by name', async () => {
  const { hiddenSize } = config;
  const three = { shape: [3, hiddenSize], data: new Float32Array(3 * hiddenSize) };
  await expect(readImport(folderOf('three', three), 'rm', { tokenizer: false })).rejects.toThrow(
    /score\.weight has shape \[3,\d+\]\. Expected \[1, \d+\], a reward, or \[2,/,
  );
  const bad = { shape: [1, hiddenSize], data: new Float32Array(hiddenSize).fill(Number.NaN) };
  await expect(readImport(folderOf('bad', bad), 'rm', { tokenizer: false })).rejects.toThrow(
    /class_head\.weight holds NaN/,
  );
});
