/** Which policies an isolate has room for. */
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';

/** What the 128 MB of an isolate leave for weights, beside the program, the caches of a batch, and the messages. */
const MOST_BYTES = 100 << 20;

/** Bytes of a weight as an engine holds it; scales of blocks and channels are not counted. */
const BYTES = { float32: 4, int8: 1, w8a8: 1, int4: 0.5 } as const;

const CODE = 'policy.isolate';

/** Throws `policy.isolate` for a policy that is too large for an isolate. `deltas`: bytes of the deltas that its weights are made by. */
export function expectRoom(config: ModelConfig, { name, version, weights }: PolicyRef, deltas: number): void {
  const parameters = parameterCount(config);
  const form = weights ?? 'float32';
  const bytes = BYTES[form] * parameters + deltas;
  if (bytes <= MOST_BYTES) return;
  const size = `${parameters} parameters, ${Math.ceil(bytes / 2 ** 20)} MiB in ${form}${deltas ? ' with its deltas' : ''}`;
  throw new RollmeshError(
    'give-up',
    CODE,
    `Version ${version} of ${name} has ${size}: an isolate has no room for it.`,
    {
      expected: `at most ${MOST_BYTES / 2 ** 20} MiB`,
      next: 'Lend a machine with `rollmesh node`, which samples from any policy that its memory holds, or run with --weights int8.',
    },
  );
}

export const hasNoRoom = (error: unknown): boolean => error instanceof RollmeshError && error.code === CODE;
