/** `--engine fastest` and `--weights fastest`: what they choose, and that they measure what they say. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { candidates, choose, fastestForm, fastestWords } from '../../../cli/start/fastest-engine.ts';
import { nodeEngines } from '../../../infer/node-engines.ts';

const files = {
  'config.json': readFileSync('models/arithmetic-base/config.json'),
  'model.safetensors': readFileSync('models/arithmetic-base/model.safetensors'),
};

test('the default stays unless another engine is clearly faster', () => {
  const onnx = { engine: 'onnx', cpuMs: 100 } as const;
  expect(choose([onnx, { engine: 'kernels', cpuMs: 50 }]).chosen.engine).toBe('kernels');
  expect(choose([onnx, { engine: 'kernels', cpuMs: 95 }]).chosen.engine).toBe('onnx');
  expect(choose([onnx, { engine: 'kernels', fault: 'no fused multiply-add' }]).chosen.engine).toBe('onnx');
  expect(
    choose([
      { engine: 'onnx', fault: 'none' },
      { engine: 'kernels', cpuMs: 9000 },
    ]).chosen.engine,
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
  const found = await fastestForm(nodeEngines, files, candidates(undefined, undefined));
  expect(found.trials.map(({ engine }) => engine)).toEqual(['onnx', 'kernels']);
  for (const { cpuMs } of found.trials) expect(cpuMs).toBeGreaterThan(0);
  // The project's kernels take half of ONNX Runtime's time here or less (test/bench/results/rollout-kernels.json).
  expect(found.chosen.engine).toBe('kernels');
  expect(fastestWords(found)).toMatch(/^Fastest here: kernels \(onnx \d+ tokens\/s, kernels \d+ tokens\/s/);
});

test('an engine that does not hold the asked weights is left out with its reason', async () => {
  const found = await fastestForm(nodeEngines, files, candidates(undefined, 'int4'));
  expect(found.chosen.engine).toBe('onnx');
  expect(found.trials[1]!.fault).toContain('int4');
});

test('8 bits are compared with float32 on the kernels, and are taken only where they are clearly faster', () => {
  expect(candidates(undefined, 'measured')).toEqual([
    { engine: 'onnx' },
    { engine: 'kernels' },
    { engine: 'kernels', weights: 'int8' },
  ]);
  expect(candidates('kernels-plain', 'measured')).toEqual([
    { engine: 'kernels-plain' },
    { engine: 'kernels-plain', weights: 'int8' },
  ]);
  expect(candidates('onnx', 'w8a8')).toEqual([{ engine: 'onnx', weights: 'w8a8' }]);
  const [float32, int8] = [
    { engine: 'kernels', cpuMs: 100 },
    { engine: 'kernels', weights: 'int8', cpuMs: 85 },
  ] as const;
  expect(choose([float32, int8]).chosen).toEqual({ engine: 'kernels', weights: 'int8' });
  expect(choose([float32, { ...int8, cpuMs: 95 }]).chosen).toEqual({ engine: 'kernels' });
  expect(fastestWords(choose([float32, int8]))).toMatch(/as with --engine kernels --weights int8\.$/);
});

test('both forms of the kernels are measured on the start policy', async () => {
  const found = await fastestForm(nodeEngines, files, candidates('kernels', 'measured'));
  expect(found.trials.map(({ weights }) => weights)).toEqual([undefined, 'int8']);
  for (const { cpuMs } of found.trials) expect(cpuMs).toBeGreaterThan(0);
});
