/** Which policies an isolate has room for. */
import { RollmeshError } from '../../core/errors.ts';
import { ISOLATE_ROOM, WEIGHT_BYTES } from '../../core/policy/isolate-room.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';

const CODE = 'policy.isolate';

/** Throws `policy.isolate` for a policy that is too large for an isolate. `deltas`: bytes of the deltas that its weights are made by. */
export function expectRoom(config: ModelConfig, { name, version, weights }: PolicyRef, deltas: number): void {
  const parameters = parameterCount(config);
  const form = weights ?? 'float32';
  const bytes = WEIGHT_BYTES[form] * parameters + deltas;
  if (bytes <= ISOLATE_ROOM) return;
  const size = `${parameters} parameters, ${Math.ceil(bytes / 2 ** 20)} MiB in ${form}${deltas ? ' with its deltas' : ''}`;
  throw new RollmeshError(
    'give-up',
    CODE,
    `Version ${version} of ${name} has ${size}: an isolate has no room for it.`,
    {
      expected: `at most ${ISOLATE_ROOM / 2 ** 20} MiB`,
      next: 'Lend a machine with `rollmesh node`, which samples from any policy that its memory holds, or run with --weights int8.',
    },
  );
}

/** The same about prompts that hold reference answers, which an ordinary node is not given. Any other error is returned as it is. */
export const needsGoldNode = (error: unknown): unknown => {
  if (!(error instanceof RollmeshError) || error.code !== CODE) return error;
  const { kind, what, expected } = error;
  return new RollmeshError(
    kind,
    CODE,
    `${what} Its prompts hold reference answers, which a node with an ordinary token is not given.`,
    {
      ...(expected === undefined ? {} : { expected }),
      next: 'Lend a machine of your own by a token that is made with `rollmesh node-token create NAME --gold`, or run with --weights int8.',
    },
  );
};

export const hasNoRoom = (error: unknown): boolean => error instanceof RollmeshError && error.code === CODE;
