/** Compares the kernels engine with the ONNX policy and with one run per token, in one Worker and in turns. */
import type { Form } from '../../../infer/kernels/forms.ts';
import { type Summary, summarise } from '../statistics.ts';
import type { BenchWorker } from './bench-process.ts';
import { MAX_NEW, PROMPT, warmUp } from './measure.ts';
import type { Shape } from './prompts.ts';
import { inTurns } from './turns.ts';

export const FORMS = ['fused', 'plain', 'int8', 'w8a8'] as const satisfies readonly Form[];
const WAYS = ['graph', 'step', ...FORMS] as const;
type Way = (typeof WAYS)[number];

export interface KernelRow extends Shape {
  readonly form: Form;
  /** Whole tokens a second by the process's CPU time, prefill included. */
  readonly perCpuSecond: Summary;
  /** Of the runs of one round: the other's time over the form's, by the Worker process's CPU time and by the wall clock. */
  readonly againstGraph: { readonly cpu: Summary; readonly wall: Summary };
  readonly againstStep: { readonly cpu: Summary; readonly wall: Summary };
}

/** `worker` has the checkpoint open in float32, with all forms. */
export async function measureKernels(
  worker: BenchWorker,
  rounds: number,
  shape: Shape,
): Promise<KernelRow[]> {
  const timed = (way: Way) => worker.time({ way, ...shape, prompt: PROMPT, maxNew: MAX_NEW });
  await warmUp(async () => {
    const [graph, fused] = [await timed('graph'), await timed('fused')];
    if (graph.first.join() !== fused.first.join()) throw new Error('The engines generate different tokens.');
    for (const way of WAYS) await timed(way);
  });
  const runs = await inTurns(WAYS, rounds, timed);
  const tokens = shape.groups * shape.samples * MAX_NEW;
  const over = (other: Way, form: Form) => {
    const good = (clock: 'ms' | 'cpu') =>
      runs.filter((run) => Math.min(run[other][clock], run[form][clock]) > 0);
    return {
      cpu: summarise(good('cpu').map((run) => run[other].cpu / run[form].cpu)),
      wall: summarise(good('ms').map((run) => run[other].ms / run[form].ms)),
    };
  };
  return FORMS.map((form) => ({
    ...shape,
    form,
    perCpuSecond: summarise(
      runs.filter((run) => run[form].cpu > 0).map((run) => (1000 * tokens) / run[form].cpu),
    ),
    againstGraph: over('graph', form),
    againstStep: over('step', form),
  }));
}
