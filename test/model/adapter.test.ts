import { expect, test } from 'vitest';
import {
  type Adapter,
  checkAdapter,
  folded,
  foldInto,
  ranksOf,
  readAdapter,
  writeAdapter,
} from '../../model/adapter.ts';
import { peftFiles } from '../../model/peft.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';
import { smallConfig } from './checkpoints.ts';

const tensor = (shape: number[], ...numbers: number[]) => ({ shape, data: Float32Array.from(numbers) });
const Q = 'model.layers.0.self_attn.q_proj';

/** A [2, 3] and B [2, 2] of one weight [2, 3]. */
const adapter: Adapter = {
  alpha: 4,
  tensors: new Map([
    [`${Q}.lora_A.weight`, tensor([2, 3], 1, 2, 3, -1, 0, 0.5)],
    [`${Q}.lora_B.weight`, tensor([2, 2], 1, 2, 0, -3)],
  ]),
};

test('a weight is folded to W + (alpha / rank) B A', () => {
  // B A = [1·(1, 2, 3) + 2·(-1, 0, .5); -3·(-1, 0, .5)] = [-1, 2, 4; 3, 0, -1.5], and alpha / rank = 2.
  const weights: Tensors = new Map([
    [`${Q}.weight`, tensor([2, 3], 10, 20, 30, 40, 50, 60)],
    ['model.norm.weight', tensor([3], 1, 2, 3)],
  ]);
  const [q, norm] = [...folded(weights, adapter)].map(([, { data }]) => [...data]);
  expect(q).toEqual([8, 24, 38, 46, 50, 57]);
  expect(norm).toEqual([1, 2, 3]);
  expect([...weights.get(`${Q}.weight`)!.data]).toEqual([10, 20, 30, 40, 50, 60]);
});

test('the sum is rounded once: small terms that cancel a large one are not lost', () => {
  const wide: Adapter = {
    alpha: 3,
    tensors: new Map([
      [`${Q}.lora_A.weight`, tensor([3, 1], 1, 1, 1)],
      [`${Q}.lora_B.weight`, tensor([1, 3], 2 ** 30, 1, -(2 ** 30))],
    ]),
  };
  const piece = { name: `${Q}.weight`, shape: [1, 1], row: 0, data: Float32Array.of(0.5) };
  expect([...foldInto(wide, piece).data]).toEqual([1.5]);
});

test('rows of a weight have the same bits alone as in the whole', () => {
  const piece = { name: `${Q}.weight`, shape: [2, 3], row: 1, data: Float32Array.of(40, 50, 60) };
  expect([...foldInto(adapter, piece).data]).toEqual([46, 50, 57]);
});

test('a file tells alpha; one that does not is refused', () => {
  const back = readAdapter(writeAdapter(adapter));
  expect(back.alpha).toBe(4);
  expect([...back.tensors]).toEqual([...adapter.tensors]);
  expect(() => readAdapter(writeSafetensors(adapter.tensors))).toThrow(/lora_alpha is null/);
  expect(() => readAdapter(writeSafetensors(adapter.tensors, 'F32', { lora_alpha: '-1' }))).toThrow(
    /lora_alpha is "-1"/,
  );
});

test('an adapter of another model is refused by the tensor’s name', () => {
  const config = smallConfig();
  const d = config.hiddenSize;
  const out = config.heads * config.headDim;
  const zeros = (...shape: number[]) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) });
  const right: [string, ReturnType<typeof zeros>][] = [
    [`${Q}.lora_A.weight`, zeros(2, d)],
    [`${Q}.lora_B.weight`, zeros(out, 2)],
  ];
  const check =
    (...tensors: [string, ReturnType<typeof zeros>][]) =>
    () =>
      checkAdapter(config, { alpha: 1, tensors: new Map(tensors) });
  expect(check(...right)).not.toThrow();
  expect(check(right[0]!)).toThrow(/there is no .*lora_B/);
  expect(check(right[0]!, [`${Q}.lora_B.weight`, zeros(out, 3)])).toThrow(/lora_B.weight has shape/);
  expect(check(...right, ['model.layers.99.self_attn.q_proj.lora_A.weight', zeros(2, d)])).toThrow(
    /layers\.99.* has no place/,
  );
  expect(check(...right, ['model.embed_tokens.lora_A.weight', zeros(2, d)])).toThrow(
    /embed_tokens.* has no place/,
  );
});

test.each(['F32', 'BF16'] as const)(
  'PEFT’s layout: its names, rank, alpha and the projections, in %s',
  (type) => {
    const { dtype, files } = peftFiles(writeAdapter(adapter, type), 'p@0');
    expect(dtype).toBe(type);
    expect([...readSafetensors(files['adapter_model.safetensors']).keys()]).toEqual([
      'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight',
      'base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight',
    ]);
    expect([...ranksOf(adapter)]).toEqual([[`${Q}.weight`, 2]]);
    expect(JSON.parse(new TextDecoder().decode(files['adapter_config.json']))).toMatchObject({
      peft_type: 'LORA',
      r: 2,
      lora_alpha: 4,
      target_modules: ['q_proj'],
      base_model_name_or_path: 'p@0',
    });
  },
);
