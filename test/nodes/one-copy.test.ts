/**
 * The threads of a node compute over one copy of a version's weights, and to the bits of a process that has a copy of its own: also while versions
 * change under threads that generate.
 */
import { afterAll, expect, test } from 'vitest';
import { SamplingThreads } from '../../cli/learner/sampling-threads.ts';
import { startThreads, type Thread } from '../../cli/node/threads.ts';
import { imageText, piecesOf } from '../../core/images/patches.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { Random, sha256Hex } from '../../core/random.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { PAGE, START } from '../../infer/kernels/heap.ts';
import { isToLayOut, type SharedMemory } from '../../infer/kernels/shared-weights.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { Computer, type FileBytes, versionKey } from '../../local/node/compute.ts';
import { WeightMemories } from '../../local/node/weight-memories.ts';
import { parseConfig } from '../../model/config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { randomTensors, smallConfigJson } from '../model/checkpoints.ts';

interface Work {
  readonly request: SamplingRequest;
  readonly files: FileBytes;
}

const written = new Map<number, Uint8Array>();
function randomWeights(version: number, json: Record<string, unknown>): Uint8Array {
  const made =
    written.get(version) ?? writeSafetensors(randomTensors(parseConfig(json), `version ${version}`));
  written.set(version, made);
  return made;
}

/** A request of a version whose weights are random by its number, unless others are given. */
function workOf(
  { version, ...how }: Pick<PolicyRef, 'version' | 'weights'>,
  seed: string,
  weights?: Uint8Array,
  layers = 1 + (version % 3),
): Work {
  const json = smallConfigJson({ num_hidden_layers: layers });
  const files = [new TextEncoder().encode(JSON.stringify(json)), weights ?? randomWeights(version, json)];
  const [config, tensors] = files.map((bytes) => ({
    version,
    sha256: sha256Hex(bytes),
    bytes: bytes.length,
  }));
  const random = new Random(seed);
  return {
    request: {
      policy: { name: 'p', version, engine: 'kernels', ...how },
      config: { file: 'config.json', ...config! },
      weights: { file: 'model.safetensors', ...tensors! },
      vocabSize: 64,
      prompts: [0, 1].map((prompt) => ({
        ids: Array.from({ length: 2 + random.int(30) }, () => random.int(64)),
        sampleIds: Array.from({ length: 1 + random.int(8) }, (_, i) => `${seed}/${prompt}/${i}`),
      })),
      settings: { maxNew: 1 + random.int(60), temperature: 1, stop: [] },
    },
    files: Object.fromEntries(files.map((bytes) => [sha256Hex(bytes), bytes])),
  };
}

const pools: Thread[] = [];
afterAll(() => Promise.all(pools.map((thread) => thread.stop())));
function pool(memories: WeightMemories): Thread[] {
  const threads = startThreads(2, null, { memories });
  pools.push(...threads);
  return threads;
}

const alone = new Computer(nodeEngines);
const aloneOf = ({ request, files }: Work) => alone.compute([request], files);

test('what is changed in the one copy, both threads compute with', async () => {
  const memories = new WeightMemories(1);
  const threads = pool(memories);
  const work = workOf({ version: 1 }, 'one copy');
  const both = () => Promise.all(threads.map(({ compute }) => compute([work.request], work.files)));
  const expected = await aloneOf(work);
  expect(await both()).toEqual([expected, expected]);
  const key = versionKey(work.request);
  const { memory, state } = memories.memory(memories.hold([key])[key]!.memory);
  // Without weights every token of the vocabulary is as likely as any other.
  new Uint8Array(memory.buffer).fill(0, START, state[1]! * PAGE);
  for (const completions of await both()) {
    const logprobs = completions.flat(2).flatMap((completion) => completion.logprobs);
    expect(logprobs.length).toBeGreaterThan(0);
    for (const logprob of logprobs) expect(logprob).toBeCloseTo(-Math.log(64), 5);
  }
});

test("versions that change in one memory, under two threads that generate, give the bits of a copy of one's own", async () => {
  const memories = new WeightMemories(1);
  const threads = pool(memories);
  const forms = [{}, { weights: 'int8' }, { weights: 'w8a8' }] as const;
  const works = threads.map((_, thread) =>
    Array.from({ length: 40 }, (__, i) => {
      const version = new Random(`${thread}/${i}`).int(6);
      return workOf({ version, ...forms[version % 3] }, `${thread}/${i}`);
    }),
  );
  const expected: unknown[][] = [];
  for (const own of works) {
    expected.push([]);
    for (const work of own) expected.at(-1)!.push(await aloneOf(work));
  }
  await Promise.all(
    threads.map(async ({ compute }, thread) => {
      for (const [i, { request, files }] of works[thread]!.entries())
        expect(await compute([request], files), `thread ${thread}, call ${i}`).toEqual(expected[thread]![i]);
    }),
  );
});

test('files that are no model fail in both threads, and leave the place to what comes next', async () => {
  const memories = new WeightMemories(1);
  const threads = pool(memories);
  const good = workOf({ version: 2 }, 'good');
  const bad = workOf(
    { version: 2 },
    'bad',
    writeSafetensors(new Map([...randomTensors(parseConfig(smallConfigJson()))].slice(1))),
  );
  const failed = await Promise.allSettled(threads.map(({ compute }) => compute([bad.request], bad.files)));
  for (const { status } of failed) expect(status).toBe('rejected');
  const expected = await aloneOf(good);
  expect(await Promise.all(threads.map(({ compute }) => compute([good.request], good.files)))).toEqual([
    expected,
    expected,
  ]);
});

test('another mesh may give the name of a version to other weights', async () => {
  const threads = pool(new WeightMemories(2));
  const json = smallConfigJson({ num_hidden_layers: 1 });
  const weightsOf = (seed: string) => writeSafetensors(randomTensors(parseConfig(json), seed));
  const before = workOf({ version: 3 }, 'renamed', weightsOf('before'));
  const after = workOf({ version: 3 }, 'renamed', weightsOf('after'));
  const expected = await new Computer(nodeEngines).compute([after.request], after.files);
  const compute = (thread: number, { request, files }: Work) => threads[thread]!.compute([request], files);
  expect(await compute(0, before)).not.toEqual(expected);
  // Thread 0 has the version open, and thread 1 finds that its weights are laid out.
  expect(await compute(1, after)).toEqual(expected);
  expect(await compute(0, after)).toEqual(expected);
  // So it is in a thread whose weights are its own.
  await aloneOf(before);
  expect(await aloneOf(after)).toEqual(expected);
});

const memoryOf = (pages: number) => (): SharedMemory => ({
  memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }),
  state: new Int32Array(new SharedArrayBuffer(8)),
});

test('a node whose memory is too small says so, and what to do', async () => {
  const { request, files } = workOf({ version: 3 }, 'small');
  // The weights take a megabyte, 16 pages; two threads would share four more.
  for (const [pages, what, next] of [
    [12, 'The weights of the policy are larger than the 0 MiB', 'leave the kernels out with --engine'],
    [20, "A thread's share of its policy's memory, 0 MiB of 1 MiB", 'fewer --threads'],
  ] as const) {
    const [thread] = pool(new WeightMemories(1, memoryOf(pages)));
    const failed = thread!.compute([request], files);
    await expect(failed).rejects.toMatchObject({
      code: 'kernels.memory',
      kind: 'wrong-input',
      what: expect.stringContaining(what),
      next: expect.stringContaining(next),
    });
    await expect(failed).rejects.toMatchObject({ next: expect.not.stringContaining('same version') });
  }
});

test('a thread that ends while it lays weights out leaves that to those that wait for it', async () => {
  const memories = new WeightMemories(1);
  const [first, second] = pool(memories);
  const known = workOf({ version: 1 }, 'known');
  await first!.compute([known.request], known.files);
  const work = workOf({ version: 2 }, 'left');
  const key = versionKey(work.request);
  const held = memories.hold([key]);
  // As if the first thread had begun.
  expect(isToLayOut({ ...memories.memory(held[key]!.memory), thread: 0 })).toBe(true);
  const waiting = second!.compute([work.request], work.files);
  await first!.stop();
  expect(await waiting).toEqual(await aloneOf(work));
  await expect(first!.compute([work.request], work.files)).rejects.toThrow('has ended');
});

test.each([undefined, 'kernels' as const])(
  'an evaluation is dealt to threads, to the bits of one (engine %s)',
  async (engine) => {
    const vision = { patch_size: 8, rows: 4, columns: 4, token_id: 2 };
    const json = smallConfigJson({ num_hidden_layers: 1, vision });
    const config = new TextEncoder().encode(JSON.stringify(json));
    const files = { 'config.json': config, 'model.safetensors': randomWeights(100, json) };
    const policy = { name: 'p', version: 100, ...(engine ? { engine } : {}) };
    const random = new Random('dealt');
    const prompts = Array.from({ length: 133 }, (_, prompt) => ({
      ids: Array.from({ length: 1 + random.int(9) }, () => random.int(64)),
      sampleIds: Array.from({ length: 1 + random.int(2) }, (_, i) => `dealt/${prompt}/${i}`),
    }));
    // The last one shows an image, which the threads have from nobody else.
    const image = { width: 24, height: 24, pixels: new Uint8Array(3 * 24 * 24).map((_, i) => i) };
    const [, shown] = piecesOf(imageText(image)) as [string, number[], string];
    prompts.at(-1)!.ids.unshift(...shown);
    const settings = { maxNew: 6, temperature: 1, stop: [3] };
    const opened = await openVersion(nodeEngines, policy, files);
    const expected = await opened.generate(prompts, settings);
    const threads = new SamplingThreads(2);
    // Two evaluations at once, one of which leaves a thread free.
    const made = await Promise.all(
      (['sample', 'beside'] as const).map((how) => threads[how](policy, files, prompts, settings)),
    );
    expect(made).toEqual([expected, expected]);
    expect(await threads.sample(policy, files, prompts.slice(0, 1), settings)).toEqual(expected.slice(0, 1));
    const broken = { ...files, 'model.safetensors': new Uint8Array(9) };
    const refused = { kind: 'give-up', what: expect.not.stringMatching(/leased|node/i) };
    await expect(
      threads.sample({ ...policy, version: 101 }, broken, prompts, settings),
    ).rejects.toMatchObject(refused);
    await threads.stop();
    await opened.dispose();
  },
);

test('where a thread has ended, the next evaluation has others, and after the end there are none', async () => {
  const json = smallConfigJson({ num_hidden_layers: 1 });
  const config = new TextEncoder().encode(JSON.stringify(json));
  const files = { 'config.json': config, 'model.safetensors': new Uint8Array() };
  const stopped: string[] = [];
  const pools: string[] = [];
  const completion = { ids: [1], logprobs: [0], stopped: false };
  const threads = new SamplingThreads(2, (count) => {
    const name = `pool ${pools.length}`;
    pools.push(name);
    return Array.from({ length: count }, (_, thread) => ({
      ready: Promise.resolve(),
      compute: async ([request]) => {
        if (name === 'pool 0' && thread === 1) throw new Error('it has ended');
        return [request!.prompts.map(() => [completion])];
      },
      generateMs: () => 0,
      stop: async () => void stopped.push(name),
    }));
  });
  const prompts = Array.from({ length: 4 }, (_, i) => ({ ids: [i], sampleIds: [`${i}`] }));
  const sample = () =>
    threads.sample({ name: 'p', version: 1 }, files, prompts, { maxNew: 1, temperature: 1, stop: [] });
  threads.prepare();
  expect(pools).toEqual(['pool 0']);
  await expect(sample()).rejects.toThrow('it has ended');
  expect(stopped).toEqual(['pool 0', 'pool 0']);
  expect(await sample()).toEqual(prompts.map(() => [completion]));
  await threads.stop();
  await expect(sample()).rejects.toThrow('were stopped');
  expect([pools, stopped]).toEqual([
    ['pool 0', 'pool 1'],
    ['pool 0', 'pool 0', 'pool 1', 'pool 1'],
  ]);
});
