import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EvalRequest, evaluateTasks } from '../../../cli/policy/evaluate.ts';
import { exportCheckpoint } from '../../../cli/policy/export-checkpoint.ts';
import { evaluationLines } from '../../../cli/policy/format-evaluation.ts';
import { rollBack } from '../../../cli/policy/roll-back.ts';
import { type GenerateRequest, generateLines, scoreLines } from '../../../cli/policy/run-tokens.ts';
import { fetchVersion } from '../../../cli/policy/stored-version.ts';
import { versionRows } from '../../../cli/policy/tables.ts';
import { sha256Hex } from '../../../core/random.ts';
import { textOf } from '../../../core/renderer/policy-text.ts';
import { loadOrt } from '../../../infer/ort.ts';
import { readStart } from '../../../local/find-start.ts';
import { toHfConfig } from '../../../model/hf-config.ts';
import { ModelProtoSchema } from '../../../model/onnx/schema.gen.ts';
import { readSafetensors, writeSafetensors } from '../../../model/safetensors.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../../core/renderer/checkpoints.ts';
import { ORACLES, oracle, randomTensors, smallConfig } from '../../model/checkpoints.ts';
import { all, startTestMesh, type TestMesh } from './policy-mesh.ts';

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
  for (const name of ORACLES) await mesh.import(`test/oracle/models/${name}`, name);
  await mesh.import('models/arithmetic-base', 'arithmetic-base', true);
});
afterAll(() => mesh.stop());

const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const worst = (a: readonly number[], b: readonly number[]): number => {
  expect(a.length).toBe(b.length);
  return Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));
};

const storedTensors = async (name: string) =>
  (await fetchVersion(mesh.gateway, { name, version: 0 })).files['model.safetensors']!;
const storedHash = async (name: string) => sha256Hex(await storedTensors(name));

describe.each(ORACLES)('%s', (name) => {
  const ref = { name, version: 0 };
  const { expected } = oracle(name);

  test.each(['onnx', 'kernels-plain', 'learner'] as const)('%s scores as float64 does', async (who) => {
    const ids = mesh.write(`${name}.jsonl`, lines([...expected.input_ids, [5]]));
    const engine = who === 'kernels-plain' ? { engine: who } : {};
    const learner = who === 'learner';
    const scores = await all(scoreLines(mesh.gateway, { ...ref, ...engine }, { ids, learner }));
    expect(scores).toHaveLength(expected.input_ids.length + 1);
    expected.input_ids.forEach((_, i) => {
      expect(worst(scores[i]!.logprobs, expected.token_logprobs[i]!)).toBeLessThan(1e-4);
      expect(worst(scores[i]!.entropy, expected.entropy[i]!)).toBeLessThan(1e-4);
    });
    expect(scores.at(-1)).toEqual({ logprobs: [], entropy: [] });
  });

  // These ids were not sampled: most are unlikely, where rounding tells most.
  test('8-bit weights and activations score as float64 does to a fifth of a nat on average', async () => {
    const ids = mesh.write(`${name}-rounded.jsonl`, lines(expected.input_ids));
    const rounded = { ...ref, weights: 'w8a8' } as const;
    const scores = await all(scoreLines(mesh.gateway, rounded, { ids, learner: false }));
    const errors = scores.flatMap(({ logprobs }, i) =>
      logprobs.map((value, t) => Math.abs(value - expected.token_logprobs[i]![t]!)),
    );
    const mean = errors.reduce((sum, value) => sum + value, 0) / errors.length;
    expect(mean).toBeLessThan(0.2);
    expect(mean).toBeGreaterThan(1e-4);
  });

  test('the same arguments give the same samples to the last bit', async () => {
    const ids = mesh.write(`${name}-prompts.jsonl`, lines(expected.input_ids.map((row) => row.slice(0, 6))));
    const run = (changes: Partial<GenerateRequest> = {}) => {
      const request = { ids, maxNew: 7, samples: 3, temperature: 1, seed: 5, stop: [], ...changes };
      return all(generateLines(mesh.gateway, ref, request));
    };
    const samples = await run();
    expect(await run()).toEqual(samples);
    expect(samples.flat().every(({ ids: out, stopped }) => out.length === 7 && !stopped)).toBe(true);
    expect(await run({ seed: 6 })).not.toEqual(samples);
    // Asking for fewer samples gives the first of them.
    expect(await run({ samples: 1 })).toEqual(samples.map((row) => row.slice(0, 1)));
    // Greedy agrees with the float64 implementation's most likely token after each prefix.
    const greedy = await run({ temperature: 0, samples: 1, maxNew: 1 });
    greedy.forEach(([only], i) => {
      expect(only!.ids).toEqual([expected.greedy_next[i]![5]]);
    });
    // The first sample ends at its first token where that is a stop token.
    const stop = [samples[0]![0]!.ids[0]!];
    expect((await run({ stop }))[0]![0]).toMatchObject({ ids: stop, stopped: true });
  });
});

test('a text is gone on from as its ids are, up to the end token, and the samples have their text', async () => {
  const ref = { name: 'arithmetic-base', version: 0 };
  const settings = { maxNew: 24, samples: 4, temperature: 1, seed: 1 };
  const { tokenizer, renderer } = textOf(await readStart('arithmetic-base'), 'arithmetic-base');
  const prompt = renderer().begin([{ role: 'user', content: '3+4' }]).text;
  const [byText] = await all(generateLines(mesh.gateway, ref, { ...settings, prompt: [prompt], stop: [] }));
  const ids = mesh.write('by-ids.jsonl', lines([tokenizer.encode(prompt)]));
  const [byIds] = await all(generateLines(mesh.gateway, ref, { ...settings, ids, stop: renderer().stops }));
  expect(byText!.map(({ text: _, ...sample }) => sample)).toEqual(byIds);
  expect(byText!.map(({ text }) => text)).toEqual(byIds!.map((sample) => tokenizer.decode(sample.ids)));
  for (const wrong of [{}, { ids, prompt: [prompt] }])
    await expect(all(generateLines(mesh.gateway, ref, { ...settings, ...wrong, stop: [] }))).rejects.toThrow(
      'Expected either --ids FILE or --prompt TEXT',
    );
});

describe('export', () => {
  const readHeader = (bytes: Buffer) => {
    const length = Number(bytes.readBigUInt64LE(0));
    return { start: 8 + length, header: JSON.parse(bytes.subarray(8, 8 + length).toString()) };
  };

  test('F32 comes back with equal bits, and its graph reads the exported weights', async () => {
    const ref = { name: 'qwen3', version: 0 };
    const folder = mesh.path('qwen3-f32');
    await exportCheckpoint(mesh.gateway, ref, folder, 'F32');
    await mesh.import(folder, 'qwen3-again');
    expect(await storedHash('qwen3-again')).toBe(await storedHash('qwen3'));

    const bytes = readFileSync(join(folder, 'model.safetensors'));
    const graph = readFileSync(join(folder, 'generate.onnx'));
    const { start, header } = readHeader(bytes);
    const weights = fromBinary(ModelProtoSchema, graph).graph!.initializer.flatMap(
      ({ name, externalData }) =>
        externalData.length
          ? [{ name, ...Object.fromEntries(externalData.map((e) => [e.key, e.value])) }]
          : [],
    );
    const norm = weights.find(({ name }) => name === 'model.norm.weight');
    const [from, to] = header['model.norm.weight'].data_offsets;
    expect(norm).toMatchObject({
      location: 'model.safetensors',
      offset: String(start + from),
      length: String(to - from),
    });
    const { ort } = await loadOrt();
    const session = await ort.InferenceSession.create(new Uint8Array(graph), {
      executionProviders: ['wasm'],
      externalData: [{ path: 'model.safetensors', data: new Uint8Array(bytes) }],
    });
    expect(session.inputNames).toContain('ids');
    await session.release();

    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({ policy: 'qwen3', version: 0, parent: null });
    for (const [file, { sha256 }] of Object.entries<{ sha256: string }>(manifest.files))
      expect(sha256Hex(readFileSync(join(folder, file)))).toBe(sha256);
  });

  test.each([
    ['F16', 'float16', 2 ** -11],
    ['BF16', 'bfloat16', 2 ** -8],
  ] as const)('%s comes back within half a unit in the last place', async (dtype, hfName, precision) => {
    const name = `llama-${dtype.toLowerCase()}`;
    const folder = mesh.path(name);
    await exportCheckpoint(mesh.gateway, { name: 'llama', version: 0 }, folder, dtype);
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).torch_dtype).toBe(hfName);
    const { header } = readHeader(readFileSync(join(folder, 'model.safetensors')));
    expect(header['lm_head.weight'].dtype).toBe(dtype);
    await mesh.import(folder, name);
    // The type is kept: the stored file is the exported one.
    expect(await storedHash(name)).toBe(sha256Hex(readFileSync(join(folder, 'model.safetensors'))));
    const [back, first] = [await storedTensors(name), await storedTensors('llama')].map(readSafetensors);
    // Below 2^-14 halves are evenly spaced by 2^-24.
    const allowed = (value: number) => Math.max(precision * Math.abs(value), 2 ** -25);
    for (const [tensor, { data }] of first!) {
      const found = back!.get(tensor)!.data;
      expect(data.findIndex((value, i) => !(Math.abs(found[i]! - value) <= allowed(value)))).toBe(-1);
    }
  });

  test('tokenizer files come back as they were', async () => {
    const folder = mesh.path('seed-out');
    const done = await exportCheckpoint(mesh.gateway, { name: 'arithmetic-base', version: 0 }, folder, 'F32');
    expect(done.files).toEqual([
      'config.json',
      'tokenizer.json',
      'model.safetensors',
      'generate.onnx',
      'manifest.json',
    ]);
    expect(readFileSync(join(folder, 'tokenizer.json'), 'utf8')).toBe(
      readFileSync('models/arithmetic-base/tokenizer.json', 'utf8'),
    );
    const own = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { eos_token_id: number };
    const generation = { eos_token_id: [own.eos_token_id, 3], temperature: 0.7 };
    await writeFile(join(folder, 'generation_config.json'), JSON.stringify(generation));
    await writeFile(join(folder, 'tokenizer_config.json'), '{"model_max_length": 256}');
    await mesh.import(folder, 'seed-again', true);
    const again = mesh.path('seed-out-again');
    await exportCheckpoint(mesh.gateway, { name: 'seed-again', version: 0 }, again, 'F32');
    expect(readFileSync(join(again, 'tokenizer_config.json'), 'utf8')).toBe('{"model_max_length": 256}');
    const json = (file: string) => JSON.parse(readFileSync(join(again, file), 'utf8'));
    expect(json('config.json')).toEqual(own);
    expect(json('generation_config.json')).toEqual(generation);
  });

  test('refuses a folder that holds something, and numbers that a half cannot hold', async () => {
    const ref = { name: 'llama', version: 0 };
    const used = await mesh.copyOf('llama', 'used');
    await rename(join(used, 'config.json'), join(used, 'notes.txt'));
    for (const taken of [used, join(used, 'notes.txt')])
      await expect(exportCheckpoint(mesh.gateway, ref, taken, 'F32')).rejects.toMatchObject({
        code: 'export.folder',
      });
    expect(await readdir(used)).toEqual(['model.safetensors', 'notes.txt']);
    const config = smallConfig({ num_hidden_layers: 1, hidden_size: 32, intermediate_size: 32 });
    const tensors = randomTensors(config);
    tensors.get('model.norm.weight')!.data[3] = 1e5;
    const folder = await mesh.copyOf('llama', 'large');
    await writeFile(join(folder, 'config.json'), JSON.stringify(toHfConfig(config)));
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(tensors));
    await mesh.import(folder, 'large');
    const large = { name: 'large', version: 0 };
    await expect(exportCheckpoint(mesh.gateway, large, mesh.path('no'), 'F16')).rejects.toMatchObject({
      code: 'export.range',
      message: expect.stringContaining('model.norm.weight holds 100000'),
    });
    // The folder that it made is gone, too; one that was there before is left as it was.
    expect(existsSync(mesh.path('no'))).toBe(false);
    await mkdir(mesh.path('empty'));
    await expect(exportCheckpoint(mesh.gateway, large, mesh.path('empty'), 'F16')).rejects.toThrow();
    expect(await readdir(mesh.path('empty'))).toEqual([]);
    await exportCheckpoint(mesh.gateway, large, mesh.path('yes'), 'BF16');
  });
});

test('a name that is taken is refused, and what has it stays as it is', async () => {
  const before = await storedHash('llama');
  await expect(mesh.import('test/oracle/models/qwen2', 'llama')).rejects.toMatchObject({
    code: 'policy.taken',
  });
  expect(await storedHash('llama')).toBe(before);
});

test('a sharded checkpoint is the same policy', async () => {
  const folder = await mesh.copyOf('qwen2', 'sharded');
  const tensors = [...oracle('qwen2').tensors];
  const shards = [tensors.slice(0, 9), tensors.slice(9)];
  const names = shards.map((_, i) => `model-0000${i + 1}-of-00002.safetensors`);
  for (const [i, shard] of shards.entries())
    await writeFile(join(folder, names[i]!), writeSafetensors(new Map(shard)));
  const weight_map = Object.fromEntries(
    shards.flatMap((shard, i) => shard.map(([name]) => [name, names[i]])),
  );
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ metadata: {}, weight_map }));
  await rm(join(folder, 'model.safetensors'));
  await mesh.import(folder, 'sharded');
  expect(await storedHash('sharded')).toBe(await storedHash('qwen2'));
});

describe('eval', () => {
  const seed = { name: 'arithmetic-base', version: 0 };
  const evaluate = (rows: readonly unknown[], more: Partial<EvalRequest> = {}, ref = seed) => {
    const tasks = [mesh.write('tasks.jsonl', lines(rows))];
    const defaults = { checker: 'auto', renderer: 'auto', samples: 0, temperature: 1, seed: 0 } as const;
    return evaluateTasks(mesh.gateway, ref, { ...defaults, tasks, ...more });
  };
  const sums: readonly (readonly [string, number])[] = [
    ['1+1', 2],
    ['3+4', 7],
    ['9-5', 4],
    ['2+6-3', 5],
    ['8-1+1-4', 4],
    ['7-9', -2],
  ];
  const questions = sums.map(([question, answer]) => ({
    question,
    answer,
    metadata: { terms: question.length },
  }));

  test('the start policy is asked in its tags; wrong references make the same answers wrong', async () => {
    const figures = await evaluate(questions, { samples: 4, difficulty: 'terms' });
    expect(figures).toMatchObject({ n: 6, tooLong: 0, compared: null });
    // The seed knows the smallest sums: what is compared is not nothing.
    expect(figures.greedy.accuracy.share).toBeGreaterThan(0);
    expect(figures.sampled!.passAt[4]!.share).toBeGreaterThanOrEqual(figures.sampled!.passAt[1]!.share);
    expect(figures.sampled!.passAt[1]!.share).toBeCloseTo(figures.sampled!.accuracy.share, 12);
    expect(figures.byDifficulty.map(({ from, n }) => [from, n])).toEqual([
      [3, 4],
      [5, 1],
      [7, 1],
    ]);
    expect(await evaluate(questions, { samples: 4, difficulty: 'terms' })).toEqual(figures);
    const shifted = questions.map((row) => ({ ...row, answer: row.answer + 100 }));
    const wrong = await evaluate(shifted, { samples: 4 });
    expect(wrong.greedy).toEqual({
      ...figures.greedy,
      accuracy: { share: 0, low: 0, high: expect.any(Number) },
    });
    expect(wrong.sampled!.passAt[4]!.share).toBe(0);
    expect((await evaluate(questions, { limit: 1 })).n).toBe(1);
  });

  test('a question that the model cannot take is counted, not asked', async () => {
    const long = { question: '1+'.repeat(500), answer: '500' };
    expect(await evaluate([questions[0], long])).toMatchObject({ n: 1, tooLong: 1 });
    await expect(evaluate([long])).rejects.toMatchObject({ code: 'tasks.too-long' });
  });

  test('an imported checkpoint answers by its chat template, and two of its versions are compared', async () => {
    const folder = mesh.path('chat');
    await mkdir(folder);
    const config = smallConfig({ vocab_size: 262, max_position_embeddings: 256 });
    const tensors = randomTensors(config);
    await writeFile(join(folder, 'config.json'), JSON.stringify(toHfConfig(config)));
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(tensors));
    await writeFile(
      join(folder, 'tokenizer.json'),
      JSON.stringify(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])),
    );
    await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify({ eos_token: '<|im_end|>' }));
    await writeFile(join(folder, 'chat_template.jinja'), SMOLLM_TEMPLATE);
    await mesh.import(folder, 'chat', true);
    const chat = { name: 'chat', version: 0 };
    const { files } = await fetchVersion(mesh.gateway, chat);
    const other = writeSafetensors(randomTensors(config, 'other'));
    await mesh.gateway.putVersion(
      { ...files, 'model.safetensors': other },
      { policy: 'chat', groups: [], round: null, settings: {}, version: 1, parent: 0 },
    );

    const write = mesh.path('answers.jsonl');
    // Random weights say nothing that can be read: a pattern that any text matches makes what ends right.
    const rows = [1, 2, 3].map((n) => ({ question: `Say ${n}`, answer: '(?s).*' }));
    const request = {
      checker: 'regex',
      extract: ['whole'],
      samples: 3,
      maxNew: 48,
      compare: 0,
      write,
    } as const;
    const figures = await evaluate(rows, request, { name: 'chat', version: 1 });
    expect(figures).toMatchObject({ n: 3, compared: { version: 0, figures: { n: 3 } } });
    const records = readFileSync(write, 'utf8')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(records.map(({ version, line }) => [version, line])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    // The figures follow from the answers that were written out.
    const answers = records.slice(0, 3).flatMap(({ samples }) => samples);
    expect(answers).toHaveLength(9);
    const right = answers.filter(({ outcome }) => outcome === 'right').length;
    expect(figures.sampled!.accuracy.share).toBeCloseTo(right / 9, 12);
    for (const { outcome, tokens } of answers) if (outcome === 'cut-off') expect(tokens).toBe(48);
    expect(evaluationLines('chat', 1, figures).join('\n')).toMatch(
      /^chat 1 on 3 questions\n {2}greedy .*against version 0, question by question:/s,
    );
  });

  test('a policy without a tokenizer takes no questions, and a file that is not there is said', async () => {
    await expect(evaluate(questions, {}, { name: 'llama', version: 0 })).rejects.toMatchObject({
      code: 'policy.no-tokenizer',
    });
    await expect(evaluate(questions, { tasks: ['none.jsonl'] })).rejects.toThrow(
      /There is no file none\.jsonl/,
    );
    await expect(evaluate([...questions, { question: '' }])).rejects.toThrow(
      /line 7: its question is no text/,
    );
  });
});

describe('rollback and list', () => {
  test('later versions are withdrawn and stay so', async () => {
    await mesh.import('test/oracle/models/qwen2', 'rolled');
    const { files } = await fetchVersion(mesh.gateway, { name: 'rolled', version: 0 });
    const about = { policy: 'rolled', groups: [], round: null, settings: {} };
    for (const version of [1, 2])
      await mesh.gateway.putVersion(files, { ...about, version, parent: version - 1 });
    expect(await rollBack(mesh.gateway, { name: 'rolled', version: 0 }, 'worse')).toEqual({
      policy: 'rolled',
      current: 0,
      withdrawn: [1, 2],
    });
    const listed = await mesh.gateway.getVersions('rolled');
    expect(listed).toMatchObject({ current: 0, next: 3 });
    expect(listed.versions.map(({ version, parent }) => [version, parent])).toEqual([
      [2, 1],
      [1, 0],
      [0, null],
    ]);
    expect(listed.versions[0]!.withdrawn).toContain('worse');
    const rows = versionRows(listed);
    expect(rows[0]).toMatch(/^rolled +0 +– .* current$/);
    expect(rows[2]).toMatch(/^rolled +2 +1 .* withdrawn$/);
    await expect(rollBack(mesh.gateway, { name: 'rolled', version: 2 }, 'no')).rejects.toMatchObject({
      code: 'rollback.version',
    });
    // A withdrawn version can still be looked at.
    await fetchVersion(mesh.gateway, { name: 'rolled', version: 2 });
  });

  test('what is not there is said with what there is', async () => {
    await expect(fetchVersion(mesh.gateway, { name: 'lama', version: 0 })).rejects.toMatchObject({
      code: 'policy.missing',
      message: expect.stringContaining('llama'),
    });
    await expect(fetchVersion(mesh.gateway, { name: 'llama', version: 1 })).rejects.toMatchObject({
      code: 'version.missing',
      expected: '0',
    });
  });
});
