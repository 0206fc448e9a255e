/** The page side of the browser test: one function that opens a checkpoint and generates. */
import * as ort from 'onnxruntime-web/wasm';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { parseConfig } from '../../model/config.ts';
import type { WeightType } from '../../model/onnx/weights.ts';
import type { WorkerRequest } from './generate.worker.ts';
import { randomHead } from './heads.ts';

const bytesOf = async (url: string): Promise<ArrayBuffer> => (await fetch(url)).arrayBuffer();

/** Answers with JSON text, since that keeps every bit of a number. */
async function generate(
  config: unknown,
  weightType: WeightType,
  { prompts, settings, sequences }: WorkerRequest,
): Promise<string> {
  ort.env.wasm.wasmBinary = await bytesOf('/ort.wasm');
  const parsed = parseConfig(config);
  const policy = await createPolicy({
    runtime: await loadOrt(),
    ref: { name: 'test', version: 0 },
    config: parsed,
    weights: new Uint8Array(await bytesOf(`/${weightType}.bin`)),
    weightType,
    head: randomHead(parsed, 2),
  });
  const completions = await policy.generate(prompts, settings);
  const scores = await policy.score(sequences);
  await policy.dispose();
  return JSON.stringify({ completions, scores });
}

Object.assign(globalThis, { generate });
