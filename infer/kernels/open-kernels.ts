/** Opens the build of the kernels that computes a form on this host, as an instance that has passed its self-test. */
import { RollmeshError } from '../../core/errors.ts';
import type { Build, Builds } from './builds.ts';
import { ARITHMETIC, type Form } from './forms.ts';
import type { Heap } from './heap.ts';
import { instantiate, type KernelInstance } from './kernels.ts';
import { faultOf } from './self-test.ts';

/**
 * Throws `retry` if this host cannot compute the form, since another host may. Every host computes `plain`, `int8` and `w8a8`, with the
 * same bits. `heap`: by default one whose memory is this instance's alone.
 */
export function openKernels(builds: Builds, form: Form, heap?: Heap): KernelInstance {
  const reasons: string[] = [];
  const attempt = (build: Build): KernelInstance | undefined => {
    const module = builds[build];
    const instance = module && instantiate(module, heap);
    const fault = instance ? faultOf(build, instance) : 'this engine does not accept its instructions';
    if (fault === undefined) {
      if (builds.wideTiles?.has(build)) instance?.kernels.setWideTiles(1);
      return instance;
    }
    reasons.push(`${build}: ${fault}`);
    return undefined;
  };
  for (const build of ARITHMETIC[form].builds) {
    const instance = attempt(build);
    if (instance) return instance;
  }
  throw new RollmeshError(
    'retry',
    'kernels.arithmetic',
    `This host cannot compute ${form} arithmetic (${reasons.join('; ')}).`,
    {
      next: 'Use a host that can, or --engine kernels-plain or --weights int8, whose bits are the same on every host.',
    },
  );
}
