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
  const uniforms = { blocks, sequences, heads, kv_heads: kvHeads, scale: float(1 / Math.sqrt(headDim)) };
  /** x or its gradient [tokens, count * headDim], rotated forth (1) or back (-1). */
  const rotate = (x: tf.TensorInfo, count: number, direction: 1 | -1): tf.TensorInfo => {
    const y = backend.output(x.shape);
    const size = sizeOf(x) / 2;
    backend.dispatch({
      source: ROTATE,
      outputs: { y },
      inputs: { x, offsets, rotary },
      uniforms: { size, sequences, heads: count, head_dim: headDim, direction: float(direction) },
      groups: Math.ceil(size / GROUP),
    });
    return y;
  };
  const groups = (count: number): number => sequences * count * blocks;
  return { offsets, heads, kvHeads, headDim, uniforms, rotate, groups };
}

export function registerAttention(): void {
  register('CausalAttention', (call) => {
    const { backend, inputs } = call;
    const { offsets, heads, kvHeads, headDim, uniforms, rotate, groups } = geometry(call);
    const q = rotate(inputs.q!, heads, 1);
    const k = rotate(inputs.k!, kvHeads, 1);
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
    for (const t of [q, k]) backend.disposeData(t.dataId);
    return [y, logSum];
  });
  register('CausalAttentionGrad', (call) => {
    const { backend, inputs } = call;
    const { offsets, heads, kvHeads, headDim, uniforms, rotate, groups } = geometry(call);
    const { out, logSum } = inputs;
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
    const q = rotate(inputs.q!, heads, 1);
    const k = rotate(inputs.k!, kvHeads, 1);
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
    const grads = [rotate(dq, heads, -1), rotate(dk, kvHeads, -1), dv];
    for (const t of [stats, q, k, dq, dk]) backend.disposeData(t.dataId);
    return grads;
  });
}
