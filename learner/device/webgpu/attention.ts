/** Causal attention on the GPU: a rotation, then the tiled kernels. Each kernel uses at most eight storage buffers. */
import type * as tf from '../../tfjs.ts';
import { forward, keyValueGrad, queryGrad, ROTATE, STATS } from './attention-wgsl.ts';
import { float } from './gpu-backend.ts';
import { type KernelCall, register, sizeOf } from './register.ts';
import { GROUP } from './wgsl.ts';

function geometry({ backend, inputs, number }: KernelCall) {
  const { offsets, rotary } = { offsets: inputs.offsets!, rotary: inputs.rotary! };
  const heads = number('heads');
  const kvHeads = number('kvHeads');
  const headDim = inputs.q!.shape[1]! / heads;
  const sequences = offsets.shape[0]! - 1;
  const blocks = Math.ceil(number('longest') / GROUP);
  const uniforms = {
    ...{ blocks, sequences, heads, kv_heads: kvHeads },
    ...{ window: number('window'), scale: float(1 / Math.sqrt(number('scalar'))) },
  };
  /** Queries and keys, or their gradients, rotated forth (1) or back (-1). */
  const rotate = (q: tf.TensorInfo, k: tf.TensorInfo, direction: 1 | -1): [tf.TensorInfo, tf.TensorInfo] => {
    const [rotatedQ, rotatedK] = [backend.output(q.shape), backend.output(k.shape)];
    const [qPairs, kPairs] = [sizeOf(q) / 2, sizeOf(k) / 2];
    backend.dispatch({
      source: ROTATE,
      outputs: { rotated_q: rotatedQ, rotated_k: rotatedK },
      inputs: { q, k, offsets, rotary },
      uniforms: {
        ...{ q_pairs: qPairs, k_pairs: kPairs, sequences, heads, kv_heads: kvHeads },
        ...{ head_dim: headDim, direction: float(direction) },
      },
      groups: Math.ceil((qPairs + kPairs) / GROUP),
    });
    return [rotatedQ, rotatedK];
  };
  const groups = (count: number): number => sequences * count * blocks;
  return { offsets, heads, kvHeads, headDim, uniforms, rotate, groups };
}

export function registerAttention(): void {
  register('CausalAttention', (call) => {
    const { backend, inputs } = call;
    const { offsets, heads, headDim, uniforms, rotate, groups } = geometry(call);
    const [q, k] = rotate(inputs.q!, inputs.k!, 1);
    const y = backend.output(inputs.q!.shape);
    const logSum = backend.output([inputs.q!.shape[0]!, heads]);
    backend.dispatch({
      source: forward(headDim),
      vectors: ['y', 'q', 'k', 'v'],
      outputs: { y, log_sum: logSum },
      inputs: { q, k, v: inputs.v!, offsets },
      uniforms,
      groups: groups(heads),
    });
    return [y, logSum, q, k];
  });
  register('CausalAttentionGrad', (call) => {
    const { backend, inputs } = call;
    const { offsets, heads, kvHeads, headDim, uniforms, rotate, groups } = geometry(call);
    const { out, logSum } = inputs;
    const [q, k] = [inputs.q!, inputs.k!];
    const dy = inputs.dy!;
    const rows = sizeOf(logSum!);
    const stats = backend.output([rows, 2]);
    backend.dispatch({
      source: STATS,
      outputs: { stats },
      inputs: { dy, y: out!, log_sum: logSum! },
      uniforms: { size: rows, head_dim: headDim },
      groups: Math.ceil(rows / GROUP),
    });
    const shared = { q, k, v: inputs.v!, offsets, stats, dy };
    const [dq, dk, dv] = [q, k, k].map((t) => backend.output(t.shape)) as [
      tf.TensorInfo,
      tf.TensorInfo,
      tf.TensorInfo,
    ];
    backend.dispatch({
      source: queryGrad(headDim),
      vectors: ['dq', 'q', 'k', 'v', 'dy'],
      outputs: { dq },
      inputs: shared,
      uniforms,
      groups: groups(heads),
    });
    backend.dispatch({
      source: keyValueGrad(headDim),
      vectors: ['dk', 'dv', 'q', 'k', 'v', 'dy'],
      outputs: { dk, dv },
      inputs: shared,
      uniforms,
      groups: groups(kvHeads),
    });
    const grads = [...rotate(dq, dk, -1), dv];
    for (const t of [stats, dq, dk]) backend.disposeData(t.dataId);
    return grads;
  });
}
