import { expect, test } from 'vitest';
import { parseConfig } from '../../model/config.ts';
import { expectRoom, hasNoRoom } from '../../workers/shared/isolate-size.ts';

/** SmolLM2-135M's shape: 134,515,008 parameters, as its card says. */
const smol = parseConfig({
  model_type: 'llama',
  vocab_size: 49152,
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  hidden_act: 'silu',
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
  bos_token_id: 1,
  eos_token_id: 2,
});
/** 26,223,552 parameters: 100.03 MiB in float32. */
const edge = { ...smol, layers: smol.layers.slice(0, 1), vocabSize: 39_371 };

test('an isolate has room for 100 MiB of weights in the form in which they are held', () => {
  const ref = { name: 'smol', version: 3 };
  const open =
    (config: typeof smol, weights?: 'int8' | 'int4' | 'w8a8', deltas = 0) =>
    () =>
      expectRoom(config, { ...ref, ...(weights ? { weights } : {}) }, deltas);
  expect(open(smol)).toThrow(
    /Version 3 of smol has 134515008 parameters, 514 MiB in float32.*Expected at most 100 MiB.*rollmesh node/,
  );
  expect(open(smol, 'int8')).toThrow('129 MiB in int8');
  expect(open(smol, 'int4')).not.toThrow();
  expect(open(edge)).toThrow('in float32');
  expect(open({ ...edge, vocabSize: 39_300 })).not.toThrow();
  expect(open(edge, 'w8a8')).not.toThrow();
  expect(open(edge, 'int8', 74 << 20)).not.toThrow();
  expect(open(edge, 'int8', 75 << 20)).toThrow('101 MiB in int8 with its deltas');
});

test('other errors are not taken for it', () => {
  expect(hasNoRoom(new Error('policy.isolate'))).toBe(false);
});
