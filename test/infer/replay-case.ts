/** The rollouts that every platform must reproduce bit for bit, and what Node makes of them. */
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { packWeights, type WeightType } from '../../model/onnx/weights.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import type { WorkerRequest } from './generate.worker.ts';
import { randomHead } from './heads.ts';

export const config = smallConfig();
/** In float32, and with rounded activations, whose rounding must be the same everywhere, too. */
export const types = ['float32', 'w8a8'] as const;
export const weightsOf = (type: WeightType) => packWeights(config, randomTensors(config), type);
export const request: WorkerRequest = {
  prompts: [5, 17, 32].map((length, p) => ({
    ids: Array.from({ length }, (_, i) => (i * i * 5 + p) % 64),
    sampleIds: Array.from({ length: 4 }, (_, i) => `sample/${p}/${i}`),
  })),
  settings: { maxNew: 24, temperature: 0.9, topP: 0.95, stop: [2, 3] },
  sequences: [Array.from({ length: 40 }, (_, i) => (i * 11) % 64)],
};

export async function inNode(weightType: WeightType): Promise<{ completions: unknown; scores: unknown }> {
  const runtime = await loadOrt();
  const policy = await createPolicy({
    runtime,
    ref: { name: 'test', version: 0 },
    config,
    weights: weightsOf(weightType),
    weightType,
    head: randomHead(config, 2),
  });
  const completions = await policy.generate(request.prompts, request.settings);
  const scores = await policy.score(request.sequences);
  await policy.dispose();
  return { completions, scores };
}
