/** `--engine fastest`: what it chooses, and that it measures what it says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { choose, fastestEngine, fastestWords } from '../../../cli/start/fastest-engine.ts';
import { nodeEngines } from '../../../infer/node-engines.ts';

const files = {
  'config.json': readFileSync('models/arithmetic-base/config.json'),
  'model.safetensors': readFileSync('models/arithmetic-base/model.safetensors'),
};

test('the default stays unless another engine is clearly faster', () => {
  const onnx = { engine: 'onnx', cpuMs: 100 } as const;
  expect(choose([onnx, { engine: 'kernels', cpuMs: 50 }]).engine).toBe('kernels');
  expect(choose([onnx, { engine: 'kernels', cpuMs: 95 }]).engine).toBe('onnx');
  expect(choose([onnx, { engine: 'kernels', fault: 'no fused multiply-add' }]).engine).toBe('onnx');
  expect(
    choose([
      { engine: 'onnx', fault: 'none' },
      { engine: 'kernels', cpuMs: 9000 },
    ]).engine,
  ).toBe('kernels');
});

test('a policy that no engine computes is refused with the reason of each', () => {
  expect(() =>
    choose([
      { engine: 'onnx', fault: 'first' },
      { engine: 'kernels', fault: 'second' },
    ]),
  ).toThrow(expect.objectContaining({ expected: 'onnx: first; kernels: second' }));
});

test('both engines are measured on the start policy, and the words name what was chosen', async () => {
  const found = await fastestEngine(nodeEngines, files);
  expect(found.trials.map(({ engine }) => engine)).toEqual(['onnx', 'kernels']);
  for (const { cpuMs } of found.trials) expect(cpuMs).toBeGreaterThan(0);
  // The project's kernels take half of ONNX Runtime's time here or less (bench/results/rollout-kernels.json).
  expect(found.engine).toBe('kernels');
  expect(fastestWords(found)).toMatch(
    /^Fastest engine here: kernels \(onnx \d+ tokens\/s, kernels \d+ tokens\/s/,
  );
}, 60_000);

test('an engine that does not hold the asked weights is left out with its reason', async () => {
  const found = await fastestEngine(nodeEngines, files, 'int4');
  expect(found.engine).toBe('onnx');
  expect(found.trials[1]!.fault).toContain('int4');
}, 60_000);
