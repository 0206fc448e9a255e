/**
 * A node's two threads in a process of their own: opens a policy of random weights in both and has both generate at the same time. Arguments: a size, a
 * form, and whether the threads have one copy of the weights (`one`) or a copy each (`each`). Prints one line of JSON.
 */
import { startThreads } from '../../cli/node/threads.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { REFS } from '../../infer/kernels/forms.ts';
import { parameterCount, tensorShapes } from '../../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { writeHeader } from '../../model/safetensors.ts';
import { residentBytes } from './processes.ts';
import { CALLS, SIZES, THREADS, type ThreadFigures } from './threads.ts';

const SAMPLES = 16;
const PROMPT = 32;
const NEW = 24;

/** A float32 file of random weights in shared memory, as a node holds what it fetched. */
function randomFile(config: ModelConfig): Uint8Array {
  const tensors = Array.from(tensorShapes(config), ([name, shape]) => ({
    name,
    shape,
    dtype: 'F32' as const,
  }));
  const header = writeHeader(tensors);
  const file = new Uint8Array(new SharedArrayBuffer(header.length + 4 * parameterCount(config)));
  file.set(header);
  let at = header.length;
  let random = 1;
  for (const { name, shape } of tensors) {
    const count = shape.reduce((a, b) => a * b, 1);
    const values = new Float32Array(file.buffer, at, count);
    const bound = Math.sqrt(3 / (shape[1] ?? 1)) / 2 ** 31;
    for (let i = 0; i < count; i++) {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
      values[i] = name.endsWith('norm.weight') ? 1 : random * bound;
    }
    at += 4 * count;
  }
  return file;
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const [size = '19M', form = 'fused', copies = 'one'] = process.argv.slice(2);
const hf = SIZES[size]!;
const config = parseConfig(hf);
const configFile = new TextEncoder().encode(JSON.stringify(hf));
const weights = randomFile(config);
// A computer finds files by their hashes, which the loop of a node has checked; here any two words do.
const files = { config: configFile, weights };
const leased = (sha256: keyof typeof files) => ({ version: 0, sha256, bytes: files[sha256].length });
const requestOf = (thread: number, call: number): SamplingRequest => ({
  policy: { name: 'bench', version: 0, ...REFS[form as keyof typeof REFS] },
  config: { file: 'config.json', ...leased('config') },
  weights: { file: 'model.safetensors', ...leased('weights') },
  vocabSize: config.vocabSize,
  prompts: [
    {
      ids: Array.from({ length: PROMPT }, (_, i) => 1 + ((i * 7919) % (config.vocabSize - 1))),
      sampleIds: Array.from({ length: SAMPLES }, (_, s) => `${thread}/${call}/${s}`),
    },
  ],
  settings: { maxNew: NEW, temperature: 1, stop: [] },
});
const requests = Array.from({ length: THREADS }, (_, thread) =>
  Array.from({ length: CALLS + 1 }, (__, call) => requestOf(thread, call)),
);
const threads =
  copies === 'one'
    ? startThreads(THREADS, null)
    : Array.from({ length: THREADS }, () => startThreads(1, null)).flat();
await Promise.all(threads.map(({ ready }) => ready));
const resident = () => residentBytes(process.pid).now;
const call = (n: number) =>
  Promise.all(threads.map(({ compute }, thread) => compute([requests[thread]![n]!], files)));
const before = resident();
const cpuBefore = cpuSeconds();
await call(0);
const openCpuSeconds = cpuSeconds() - cpuBefore;
const [began, cpuBegan] = [performance.now(), cpuSeconds()];
for (let n = 1; n <= CALLS; n++) await call(n);
const tokens = THREADS * CALLS * SAMPLES * NEW;
const figures: ThreadFigures = {
  parameters: parameterCount(config),
  residentBytes: resident() - before,
  openCpuSeconds,
  tokensPerSecond: (1000 * tokens) / (performance.now() - began),
  tokensPerCpuSecond: tokens / (cpuSeconds() - cpuBegan),
};
await Promise.all(threads.map((thread) => thread.stop()));
console.log(JSON.stringify(figures));
