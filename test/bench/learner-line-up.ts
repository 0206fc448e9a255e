/** The contenders of the learner's benchmark and their threads: commands, environments, and PyTorch's copy of the inputs. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DeviceSettings } from '../../learner/device/device.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import type { ContenderSpec } from './contender.ts';
import { type BenchConfig, benchBatch, benchWeights } from './learner-configs.ts';
import type { StepOptions } from './learner-step-options.ts';

export type BenchDevice = 'cpu' | 'webgpu';

const local = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The first python that has torch, or undefined. */
export const findTorch = (
  candidates: readonly string[] = ['python3', '/usr/bin/python3'],
): string | undefined =>
  candidates.find((python) => {
    try {
      execFileSync(python, ['-c', 'import torch'], { stdio: 'ignore' });
      return true;
    } catch {
      return false; // no such program, or no torch in it
    }
  });

export const ours = ({ name: config }: BenchConfig, name: string, step: StepOptions): ContenderSpec => ({
  name,
  command: process.execPath,
  args: [...NODE_FLAGS, local('learner-step.ts'), config, JSON.stringify(step)],
});

/** The contenders of a configuration. Ratios refer to the fastest of those whose name starts with `torch`. */
export async function lineUp(
  config: BenchConfig,
  device: BenchDevice,
  python: string | undefined,
): Promise<{ specs: ContenderSpec[]; cleanUp: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'rollmesh-bench-'));
  const { sequences, advantages } = benchBatch(config);
  await writeFile(join(folder, 'config.json'), JSON.stringify(config.hf));
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(benchWeights(config)));
  await writeFile(
    join(folder, 'batch.json'),
    JSON.stringify({ ids: sequences.map(({ ids }) => ids), advantages }),
  );
  /**
   * `torchThreads`: PyTorch's own threads, which builds with oneDNN or MKL use for products too. `blasThreads`: those of OpenBLAS, which
   * Debian's build multiplies with; they compete with PyTorch's own, so one of the two numbers is 1.
   */
  const torch = (name: string, where: string, torchThreads: number, blasThreads: number): ContenderSpec[] =>
    python === undefined
      ? []
      : [
          {
            name: `torch, ${name}`,
            command: python,
            args: [local('learner-torch.py'), folder, where, String(torchThreads)],
            env: { OMP_NUM_THREADS: String(torchThreads), OPENBLAS_NUM_THREADS: String(blasThreads) },
          },
        ];
  const cpu = (name: string, settings: Partial<DeviceSettings>): ContenderSpec =>
    ours(config, name, { device: { device: 'cpu', ...settings } });
  const specs =
    device === 'webgpu'
      ? [
          ours(config, 'webgpu', { device: { device } }),
          cpu('cpu, 8 threads', { threads: 8 }),
          ...torch('cuda', 'cuda', 1, 1),
          ...torch('cuda, TF32', 'cuda-tf32', 1, 1),
        ]
      : [
          cpu('cpu, 2 threads', { threads: 2, revectorize: true }),
          ...torch('2 threads', 'cpu', 2, 1),
          ...torch('2 threads of OpenBLAS', 'cpu', 1, 2),
          cpu('cpu, 2 threads, no revectorizer', { threads: 2, revectorize: false }),
          cpu('cpu, 1 thread', { threads: 1, revectorize: true }),
          ...torch('1 thread', 'cpu', 1, 1),
          cpu('cpu, 2 threads, plain SIMD', { threads: 2, fma: false }),
        ];
  return { specs, cleanUp: () => rm(folder, { recursive: true }) };
}
