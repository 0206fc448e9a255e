/** A head on a policy's hidden states, as a version's `<set>.head.safetensors` holds it: one value, or a number of classes, for each token. */
import { wrongInput } from '../core/errors.ts';
import type { HeadKind, PolicyRef } from '../core/policy/policy.ts';
import { checkTensor, invalid } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { readSafetensors } from './safetensors.ts';

/** The prefix of a head's tensors, `<name>.weight` [outputs, hidden] and `<name>.bias` [outputs], by its kind. */
export const HEAD_NAMES = { value: 'value_head', classes: 'class_head' } as const satisfies Record<
  HeadKind,
  string
>;

export interface HeadWeights {
  readonly kind: HeadKind;
  readonly outputs: number;
  /** [outputs, hidden] */
  readonly weight: Float32Array;
  /** [outputs] */
  readonly bias: Float32Array;
}

/** The most classes: outputs are computed and recorded after every token. */
const MOST_OUTPUTS = 64;

/** Throws `head.missing` where a version that is to measure has no head of this kind, and what is wrong with the one that it has. */
export function expectHead(
  { name, version, set }: Pick<PolicyRef, 'name' | 'version' | 'set'>,
  kind: HeadKind,
  config: ModelConfig,
  file: Uint8Array | undefined,
): void {
  const found = file && readHead(config, file);
  if (found?.kind === kind) return;
  throw wrongInput(
    'head.missing',
    `${name}@${version}${set === undefined ? '' : ` (${set})`} has ${found ? `a ${found.kind} head` : 'no head'}, and its ${kind} are asked for.`,
    {
      expected:
        kind === 'classes'
          ? 'a version that recipe reward-model trained, or an imported sequence classifier'
          : 'a version whose main set has a value head',
      next: 'Run `npx rollmesh policy list` for the policies and their versions.',
    },
  );
}

/** Reads a head's file. Throws `wrong-input` where it is no head of such a model, or has numbers that are not finite. */
export function readHead(config: Pick<ModelConfig, 'hiddenSize'>, file: Uint8Array): HeadWeights {
  const tensors = readSafetensors(file);
  const kind = (['value', 'classes'] as const).find((one) => tensors.has(`${HEAD_NAMES[one]}.weight`));
  const name = HEAD_NAMES[kind ?? 'value'];
  const [weight, bias] = [tensors.get(`${name}.weight`), tensors.get(`${name}.bias`)];
  if (!kind || !weight || !bias)
    throw invalid(
      'head.tensors',
      `The head's file holds ${[...tensors.keys()].join(', ') || 'no tensors'}.`,
      'value_head.weight and value_head.bias, or class_head.weight and class_head.bias',
    );
  const outputs = bias.data.length;
  if (kind === 'value' ? outputs !== 1 : outputs < 2 || outputs > MOST_OUTPUTS)
    throw invalid(
      'head.outputs',
      `The ${kind} head has ${outputs} outputs.`,
      kind === 'value' ? '1' : `2 to ${MOST_OUTPUTS}`,
    );
  checkTensor(`${name}.weight`, weight.shape, weight.data, [outputs, config.hiddenSize]);
  checkTensor(`${name}.bias`, bias.shape, bias.data, [outputs]);
  return { kind, outputs, weight: weight.data, bias: bias.data };
}
