/** Importing a PEFT folder: what is stored is W + BA · alpha / r, worked out here, and what computes otherwise is refused. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { foldAdapter, readAdapterFolder } from '../../../cli/policy/import-adapter.ts';
import { readImport } from '../../../cli/policy/import-checkpoint.ts';
import { readSafetensors, writeSafetensors } from '../../../model/safetensors.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-peft-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const BASE = 'test/oracle/models/llama';
const WEIGHT = 'model.layers.0.self_attn.q_proj.weight';
const before = readSafetensors(readFileSync(join(BASE, 'model.safetensors')));
const [out, width] = before.get(WEIGHT)!.shape as [number, number];
const RANK = 2;

/** The tensors as PEFT names them: A has the number of its column in both rows, B the number of its row and 1. */
function adapterFolder(edit: Record<string, unknown> = {}): string {
  const folder = mkdtempSync(join(root, 'a-'));
  const name = (side: string) => `base_model.model.${WEIGHT.replace('.weight', '')}.lora_${side}.weight`;
  const a = Float32Array.from({ length: RANK * width }, (_, i) => (i % width) / 8);
  const b = Float32Array.from({ length: out * RANK }, (_, i) => (i % RANK ? 1 : Math.floor(i / RANK)));
  writeFileSync(
    join(folder, 'adapter_model.safetensors'),
    writeSafetensors(
      new Map([
        [name('A'), { shape: [RANK, width], data: a }],
        [name('B'), { shape: [out, RANK], data: b }],
      ]),
    ),
  );
  writeFileSync(
    join(folder, 'adapter_config.json'),
    JSON.stringify({
      peft_type: 'LORA',
      base_model_name_or_path: BASE,
      r: RANK,
      lora_alpha: 4,
      bias: 'none',
      use_dora: false,
      rank_pattern: {},
      target_modules: ['q_proj'],
      modules_to_save: null,
      ...edit,
    }),
  );
  return folder;
}

async function imported(folder: string, base?: string) {
  const adapter = await readAdapterFolder(folder);
  const folded = await foldAdapter(adapter!, base);
  try {
    const { files } = await readImport(folded, 'mine', { tokenizer: false });
    const chunks: Uint8Array[] = [];
    for await (const chunk of files['model.safetensors'].read()) chunks.push(chunk);
    return readSafetensors(new Uint8Array(Buffer.concat(chunks)));
  } finally {
    rmSync(folded, { recursive: true });
  }
}

test.each([
  ['alpha / r', {}, 2],
  ['rank-stabilised, alpha / √r', { use_rslora: true }, 4 / Math.sqrt(2)],
])('the adapter is folded in: %s', async (_, edit, scale) => {
  const after = await imported(adapterFolder(edit));
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  const data = after.get(WEIGHT)!.data;
  for (const at of [0, 1, width, 3 * width + 5, out * width - 1]) {
    const [row, column] = [Math.floor(at / width), at % width];
    const sum = before.get(WEIGHT)!.data[at]! + scale * ((row + 1) * (column / 8));
    expect(data[at]).toBeCloseTo(sum, 4);
  }
  const other = WEIGHT.replace('q_proj', 'k_proj');
  expect(after.get(other)!.data).toEqual(before.get(other)!.data);
});

test('a folder of a checkpoint is no adapter', async () => {
  expect(await readAdapterFolder(BASE)).toBeUndefined();
});

test.each([
  [{ use_dora: true }, 'use_dora is true'],
  [{ bias: 'all' }, 'bias is "all"'],
  [{ modules_to_save: ['lm_head'] }, 'modules_to_save is ["lm_head"]'],
  [{ rank_pattern: { q_proj: 4 } }, 'rank_pattern is {"q_proj":4}'],
  [{ peft_type: 'IA3' }, 'peft_type is no field of a LoRA adapter'],
  [{ lora_alpha: 0 }, 'lora_alpha is no field of a LoRA adapter'],
])('what computes otherwise is refused: %j', async (edit, why) => {
  await expect(readAdapterFolder(adapterFolder(edit))).rejects.toMatchObject({
    code: 'adapter.peft',
    what: `The adapter cannot be read: in adapter_config.json ${why}.`,
  });
});

test.each(['"lora_alpha": 1e400, "r": 2', '"lora_alpha": 4, "r": 1e308', '"lora_alpha": 4, "r": 2.5'])(
  'a scale that no weight could be folded in by is refused: %s',
  (numbers) => {
    const folder = adapterFolder();
    writeFileSync(join(folder, 'adapter_config.json'), `{"peft_type": "LORA", ${numbers}}`);
    return expect(readAdapterFolder(folder)).rejects.toMatchObject({ code: 'adapter.peft' });
  },
);

test('a base that is no folder here is asked for, with the command that writes one of ours', async () => {
  const own = await readAdapterFolder(adapterFolder({ base_model_name_or_path: 'words@6' }));
  await expect(foldAdapter(own!)).rejects.toMatchObject({
    code: 'import.base',
    next: 'Write it by `npx rollmesh policy export words 6 DIR`, and name it with --base DIR.',
  });
  const nameless = await readAdapterFolder(adapterFolder({ base_model_name_or_path: null }));
  await expect(foldAdapter(nameless!)).rejects.toMatchObject({ code: 'import.base' });
  // Another model's: its projection has other dimensions.
  await expect(foldAdapter(own!, 'models/arithmetic-base')).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:adapter|checkpoint|tensor)\./),
  });
});
