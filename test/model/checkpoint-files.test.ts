import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findTensors, valuesOf } from '../../model/checkpoint-files.ts';
import { writeSafetensors } from '../../model/safetensors.ts';

const tensor = (...values: number[]) => ({ shape: [values.length], data: Float32Array.from(values) });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(() => rm(folder, { recursive: true }));

const put = (name: string, content: Uint8Array | string) => writeFile(join(folder, name), content);
const index = (map: Record<string, string>) =>
  put('model.safetensors.index.json', JSON.stringify({ weight_map: map }));

test('shards are put together by their index', async () => {
  await put(
    'a.safetensors',
    writeSafetensors(
      new Map([
        ['x', tensor(1, 2)],
        ['y', tensor(3)],
      ]),
    ),
  );
  await put('b.safetensors', writeSafetensors(new Map([['z', tensor(4)]])));
  await index({ x: 'a.safetensors', y: 'a.safetensors', z: 'b.safetensors' });
  const tensors = await findTensors(folder);
  const values = await Promise.all(
    [...tensors].map(async ([name, tensor]) => {
      const numbers: number[] = [];
      for await (const chunk of valuesOf(tensor)) numbers.push(...chunk);
      return [name, ...numbers];
    }),
  );
  expect(values).toEqual([
    ['x', 1, 2],
    ['y', 3],
    ['z', 4],
  ]);
});

test('one file needs no index', async () => {
  await put('model.safetensors', writeSafetensors(new Map([['x', tensor(5)]])));
  expect([...(await findTensors(folder)).keys()]).toEqual(['x']);
});

test('a folder without weights, a shard that is not there or lacks its tensor, and a path out of the folder are refused', async () => {
  await expect(findTensors(folder)).rejects.toMatchObject({ code: 'checkpoint.files' });
  await index({ x: 'gone.safetensors' });
  await expect(findTensors(folder)).rejects.toThrow(/The shard gone\.safetensors/);
  await put('a.safetensors', writeSafetensors(new Map([['y', tensor(1)]])));
  await index({ x: 'a.safetensors' });
  await expect(findTensors(folder)).rejects.toMatchObject({ code: 'checkpoint.files' });
  await index({ x: '../outside.safetensors' });
  await expect(findTensors(folder)).rejects.toMatchObject({ code: 'checkpoint.files' });
});
