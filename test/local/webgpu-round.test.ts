/**
 * A whole round with `--in-process --device webgpu`, as its user calls it: sampled, trained, published and evaluated, and close to what the CPU
 * device trains. Shorter tests compare ops, losses and steps; that a round needs no op beyond them shows only here. A software driver takes long.
 */
import { existsSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { type StartOptions, startCommand } from '../../cli/shared/run-options.ts';
import { runInOneProcess } from '../../cli/start/process-run.ts';
import type { RunPrinter } from '../../cli/start/run-printer.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';
import { openScene, temporaryFolder } from '../mesh/scene.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';

// Chromium's software driver, where no other is configured.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

const missing = await openDevice({ device: 'webgpu' }).then(
  (device) => {
    device.close();
    return undefined;
  },
  (error: Error) => error.message,
);

/** The weights of versions 0 and 1 of one round, what device was told of, and how the run ended. */
async function played(device: 'cpu' | 'webgpu') {
  const stateDir = temporaryFolder();
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const words = [
    ...[
      '--recipe=trio',
      '--rounds=1',
      '--tasks-per-round=2',
      '--group-size=4',
      '--eval-every=1',
      '--in-process',
    ],
    ...['--engine=kernels', `--device=${device}`, '--threads=1'],
  ];
  const options = startCommand().parse(words, { from: 'user' }).opts<StartOptions>();
  let told = '';
  let policy = '';
  let summary: Summary | undefined;
  const printer: RunPrinter = {
    started: (start) => {
      told = start.device;
      policy = start.settings.policy;
    },
    evaluatedStart: () => {},
    round: () => {},
    finished: (end) => {
      summary = end;
    },
    notice: () => {},
    remark: () => {},
    status: () => {},
    stopped: () => {},
    waiting: () => {},
  };
  await runInOneProcess(options, await openRecipes(['trio']), stateDir, printer, { ...HELD_OUT, most: 8 });
  const scene = await openScene({ stateDir });
  try {
    const weights = async (version: number): Promise<Tensors> =>
      readSafetensors((await scene.gateway.getVersion({ name: policy, version }))['model.safetensors']!);
    return { told, summary, before: await weights(0), after: await weights(1) };
  } finally {
    await scene.stop();
  }
}

test.skipIf(missing || !NIGHT)(
  `a round trained on the GPU is the round that the CPU trains${IN_THE_NIGHT}`,
  async () => {
    const cpu = await played('cpu');
    const gpu = await played('webgpu');
    expect(cpu.told).toMatch(/^CPU,/);
    expect(gpu.told).toMatch(/^WebGPU,/);
    expect(gpu.summary).toBeDefined();
    expect(gpu.before).toEqual(cpu.before);
    let moved = 0;
    let apart = 0;
    for (const [name, { data }] of gpu.after) {
      const [start, wanted] = [cpu.before.get(name)!.data, cpu.after.get(name)!.data];
      for (const [i, value] of data.entries()) {
        moved += (wanted[i]! - start[i]!) ** 2;
        apart += (value - wanted[i]!) ** 2;
      }
    }
    // AdamW's first steps have the size of the learning rate, whose sign rounding may turn where a gradient is almost 0.
    expect(moved).toBeGreaterThan(0);
    expect(Math.sqrt(apart / moved)).toBeLessThan(0.05);
  },
);
