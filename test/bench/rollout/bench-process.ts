/** The bench's Worker in a workerd of its own, and the CPU time that process takes. */
import { Miniflare } from 'miniflare';
import type { Form } from '../../../infer/kernels/forms.ts';
import { bundleWorker } from '../../../local/mesh/bundle.ts';
import type { ModelConfig } from '../../../model/config.ts';
import { toHfConfig } from '../../../model/hf-config.ts';
import { packWeights, type WeightType } from '../../../model/onnx/weights.ts';
import type { Tensors } from '../../../model/safetensors.ts';
import { childrenNamed, cpuMs } from '../processes.ts';
import type { OpenRequest, TimedRun } from './bench.worker.ts';
import { type RunTime, type Turn, timed } from './turns.ts';

export class BenchWorker {
  readonly #worker: Miniflare;
  /** Process id of this Worker's workerd. */
  readonly #pid: number | undefined;

  private constructor(worker: Miniflare, pid: number | undefined) {
    this.#worker = worker;
    this.#pid = pid;
  }

  static async start(): Promise<BenchWorker> {
    const { root, modules } = await bundleWorker('test/bench/rollout/bench.worker.ts');
    const worker = new Miniflare({
      modulesRoot: root,
      modules,
      compatibilityDate: '2026-04-01',
      compatibilityFlags: ['nodejs_compat'],
      cf: false,
    });
    await worker.ready;
    return new BenchWorker(worker, childrenNamed('workerd').at(-1));
  }

  /** Opens a checkpoint and returns the bytes of the Worker's wasm memory with the policy open. */
  async open(
    config: ModelConfig,
    tensors: Tensors,
    weightType: WeightType,
    forms: readonly Form[] = [],
  ): Promise<number> {
    const request: OpenRequest = { config: toHfConfig(config), weightType, forms };
    const answer = await this.#worker.dispatchFetch('http://bench/', {
      method: 'POST',
      headers: { 'x-open': JSON.stringify(request) },
      body: packWeights(config, tensors, weightType),
    });
    const { heapBytes } = JSON.parse(await answer.text());
    return heapBytes;
  }

  /** Milliseconds of a run, or the mean of those that fill a turn, and the first row's tokens. */
  async time(run: TimedRun): Promise<RunTime & { first: number[] }> {
    let first: number[] = [];
    const time = await timed(
      async () => {
        const answer = await this.#worker.dispatchFetch('http://bench/', {
          method: 'POST',
          body: JSON.stringify(run),
        });
        const turn: Turn & { first: number[] } = JSON.parse(await answer.text());
        first = turn.first;
        return turn;
      },
      () => this.#cpu(),
    );
    return { ...time, first };
  }

  #cpu(): number {
    return (this.#pid === undefined ? undefined : cpuMs(this.#pid)) ?? performance.now();
  }

  stop(): Promise<void> {
    return this.#worker.dispose();
  }
}
