/** A build that computes something else than it promises is found, and is not used. */
import { describe, expect, test } from 'vitest';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { instantiate, type KernelInstance } from '../../../infer/kernels/kernels.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { openKernels } from '../../../infer/kernels/open-kernels.ts';
import { faultOf } from '../../../infer/kernels/self-test.ts';

const { plain } = loadBuilds();
const open = () => instantiate(plain!);
const withKernel = (
  instance: KernelInstance,
  changes: Partial<KernelInstance['kernels']>,
): KernelInstance => ({
  ...instance,
  kernels: { ...instance.kernels, ...changes },
});

describe('the self-test', () => {
  test('passes every build that this engine accepts', () => {
    for (const build of BUILDS) {
      const module = loadBuilds()[build];
      if (module) expect(faultOf(build, instantiate(module)), build).toBeUndefined();
    }
  });

  test('finds a multiply-add that rounds in another way than its build promises', () => {
    expect(faultOf('fused', open())).toContain('round twice');
    const fusing = withKernel(open(), { probeMadd: () => 2 ** -24 });
    expect(faultOf('plain', fusing)).toContain('fused');
    expect(faultOf('dot', fusing)).toContain('fused');
  });

  test('finds a dot product that saturates at 16 bits, or forgets to add', () => {
    const instance = open();
    const saturating = withKernel(instance, {
      probeDot: (weights, activations, sums) => {
        const { buffer } = instance.heap.memory;
        const [w, a] = [new Int8Array(buffer, weights, 16), new Int8Array(buffer, activations, 16)];
        const out = new Int32Array(buffer, sums, 4);
        for (let lane = 0; lane < 4; lane++) {
          let sum = 0;
          for (let i = 4 * lane; i < 4 * lane + 4; i++) sum += w[i]! * a[i]!;
          out[lane] = out[lane]! + Math.max(-32768, Math.min(32767, sum));
        }
        return 0;
      },
    });
    expect(faultOf('plain', saturating)).toContain('dot product');
    expect(faultOf('plain', withKernel(open(), { probeDot: () => 0 }))).toContain('dot product');
  });
});

test('a host without an arithmetic says so, and computes the portable forms all the same', () => {
  const only = { plain: plain! };
  expect(() => openKernels(only, 'fused')).toThrow(
    expect.objectContaining({ code: 'kernels.arithmetic', kind: 'retry' }),
  );
  for (const form of ['plain', 'int8', 'w8a8'] as const) expect(openKernels(only, form).heap).toBeDefined();
});
