/** Causal attention on the CPU device: one task is one key-value head of one sequence. */
import { wrongInput } from '../../../core/errors.ts';
import { type KernelCall, passedOn, register, sizeOf } from './register.ts';

/** The arguments that both passes share; makes room for the longest sequence. */
function geometry({ backend, inputs, number }: KernelCall) {
  const heads = number('heads');
  const kvHeads = number('kvHeads');
  const headDim = inputs.q!.shape[1]! / heads;
  const longest = number('longest');
  if (headDim % 8 !== 0)
    throw wrongInput('learner.head-dim', `Heads of ${headDim} values cannot be rotated on the CPU device.`, {
      expected: 'a head width that is a multiple of 8',
    });
  if (longest > inputs.rotary!.shape[0]!)
    throw new Error(`internal: ${longest} positions, but the rotary table has ${inputs.rotary!.shape[0]}.`);
  backend.runtime.ensureAttentionScratch(longest, headDim);
  const sequences = inputs.offsets!.shape[0]! - 1;
  const { offsets, q, k, v, rotary } = inputs;
  const addresses = [offsets!, q!, k!, v!, rotary!].map((t) => backend.address(t));
  // Each head takes two matrix products over half of [length, length].
  const cycles = (sizeOf(q!) * longest) / 8;
  return {
    args: [sequences, heads, kvHeads, headDim, number('window'), number('scalar'), ...addresses],
    heads,
    cycles,
  };
}

export function registerAttention(): void {
  register('CausalAttention', (call) => {
    const { backend, inputs } = call;
    const { args, heads, cycles } = geometry(call);
    const out = backend.output(inputs.q!.shape);
    const logSum = backend.output([inputs.q!.shape[0]!, heads]);
    backend.runtime.run('attention', [...args, backend.address(out), backend.address(logSum)], cycles);
    return [out, logSum, passedOn(call, 'q'), passedOn(call, 'k')];
  });
  register('CausalAttentionGrad', (call) => {
    const { backend, inputs } = call;
    const { args, cycles } = geometry(call);
    const { q, k, v, out, logSum, dy } = inputs;
    const grads = [q!, k!, v!].map((t) => backend.output(t.shape));
    const addresses = [out!, logSum!, dy!, ...grads].map((t) => backend.address(t));
    backend.runtime.run('attentionGrad', [...args, ...addresses], 3 * cycles);
    return grads;
  });
}
