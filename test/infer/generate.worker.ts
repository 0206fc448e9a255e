/** A Worker around a policy for tests: opens a checkpoint's weight file, then generates and scores as asked. */
import type { GeneratePrompt, SamplingSettings } from '../../core/policy/policy.ts';
import { createPolicy, type OnnxPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import { parseConfig } from '../../model/config.ts';
import type { WeightType } from '../../model/onnx/weights.ts';
import { randomHead } from './heads.ts';

export interface WorkerRequest {
  readonly prompts: readonly GeneratePrompt[];
  readonly settings: SamplingSettings;
  readonly sequences: readonly (readonly number[])[];
}

let policy: OnnxPolicy | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    const runtime = await loadOrt();
    const opened = request.headers.get('x-open');
    if (opened) {
      const { config, weightType }: { config: unknown; weightType: WeightType } = JSON.parse(opened);
      await policy?.dispose();
      const parsed = parseConfig(config);
      policy = await createPolicy({
        runtime,
        ref: { name: 'test', version: 0 },
        config: parsed,
        weights: new Uint8Array(await request.arrayBuffer()),
        weightType,
        head: randomHead(parsed, 2),
      });
      return Response.json({ heapBytes: runtime.heapBytes() });
    }
    if (!policy) return new Response('No policy is open.', { status: 409 });
    const { prompts, settings, sequences }: WorkerRequest = JSON.parse(await request.text());
    const completions = await policy.generate(prompts, settings);
    const scores = await policy.score(sequences);
    return Response.json({ completions, scores, heapBytes: runtime.heapBytes() });
  },
};
