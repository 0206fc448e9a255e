/** The layout in which PEFT (Hugging Face) keeps a LoRA adapter: adapter_config.json and adapter_model.safetensors. */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { finite, positive } from '../core/schema/numbers.ts';
import { ADAPTER_TARGETS, type Adapter, ranksOf, readAdapter } from './adapter.ts';
import {
  readSafetensors,
  readStoredFloats,
  type StorageType,
  type Tensors,
  writeSafetensors,
} from './safetensors.ts';

/** What PEFT puts before the names of a causal language model's tensors. */
const PREFIX = 'base_model.model.';

/** adapter_config.json. `base` names the weights that the adapter was trained on. Throws `export.ranks` where ranks differ. */
function peftConfig(adapter: Adapter, base: string): Record<string, unknown> {
  const ranks = ranksOf(adapter);
  const [rank, ...others] = new Set(ranks.values());
  if (rank === undefined || others.length)
    throw wrongInput('export.ranks', `The adapter has the ranks ${[rank, ...others].join(', ')}.`, {
      expected: 'one rank for all projections',
      next: 'Leave --adapter out: the whole checkpoint is exported.',
    });
  const adapted = [...ranks.keys()];
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    r: rank,
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    use_rslora: false,
    bias: 'none',
    fan_in_fan_out: false,
    target_modules: ADAPTER_TARGETS.filter((name) =>
      adapted.some((weight) => weight.endsWith(`.${name}.weight`)),
    ),
    modules_to_save: null,
    inference_mode: true,
  };
}

/** The tensors of adapter_model.safetensors. */
const peftTensors = ({ tensors }: Adapter): Tensors =>
  new Map([...tensors].map(([name, tensor]) => [`${PREFIX}${name}`, tensor]));

export interface PeftFiles {
  readonly dtype: StorageType;
  readonly files: Readonly<Record<'adapter_config.json' | 'adapter_model.safetensors', Uint8Array>>;
}

/**
 * A version's adapter as the two files of PEFT; without a type its numbers are what they are stored as. `base` names what it is loaded onto.
 * @throws RollmeshError `export.ranks` where ranks differ
 */
export function peftFiles(stored: Uint8Array, base: string, wanted?: StorageType): PeftFiles {
  const adapter = readAdapter(stored);
  const [first] = readStoredFloats(stored).values();
  const dtype = wanted ?? first?.dtype ?? 'F32';
  const config = new TextEncoder().encode(`${JSON.stringify(peftConfig(adapter, base), null, 2)}\n`);
  const weights = writeSafetensors(peftTensors(adapter), dtype);
  return { dtype, files: { 'adapter_config.json': config, 'adapter_model.safetensors': weights } };
}

const peft = v.looseObject({
  peft_type: v.literal('LORA'),
  base_model_name_or_path: v.nullish(v.string()),
  lora_alpha: v.pipe(finite, v.gtValue(0)),
  r: positive,
  use_rslora: v.optional(v.boolean(), false),
});
/** Fields that change what an adapter computes, and the values with which they change nothing. */
const UNUSED: Readonly<Record<string, readonly unknown[]>> = {
  use_dora: [false],
  bias: ['none'],
  fan_in_fan_out: [false],
  modules_to_save: [],
  rank_pattern: [],
  alpha_pattern: [],
  layer_replication: [],
};

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && Object.keys(value as object).length === 0);

export interface PeftAdapter {
  /** The base model, as the file names it; undefined where it does not. */
  readonly base: string | undefined;
  readonly adapter: Adapter;
}

/** An adapter of PEFT from its two files. Throws `adapter.peft` where it computes something else than W + BA · alpha / r. */
export function readPeft(config: unknown, weights: Uint8Array): PeftAdapter {
  const refuse = (why: string, expected: string) =>
    wrongInput('adapter.peft', `The adapter cannot be read: in adapter_config.json ${why}.`, {
      expected,
      next: 'Fold it into its base model with PEFT (`merge_and_unload`), save that, and import the folder.',
    });
  const read = v.safeParse(peft, config);
  if (!read.success) {
    const field = v.getDotPath(read.issues[0]) ?? 'the file';
    throw refuse(`${field} is no field of a LoRA adapter`, 'peft_type LORA, r and lora_alpha');
  }
  const { r, lora_alpha, use_rslora, base_model_name_or_path, ...others } = read.output;
  for (const [field, plain] of Object.entries(UNUSED))
    if (!isNothing(others[field]) && !plain.includes(others[field]))
      throw refuse(`${field} is ${JSON.stringify(others[field])}`, `a plain LoRA adapter, without ${field}`);
  const tensors = new Map(
    [...readSafetensors(weights)].map(([name, tensor]) => [name.replace(PREFIX, ''), tensor]),
  );
  // Rank-stabilised adapters are scaled by the root of their rank.
  const alpha = use_rslora ? lora_alpha * Math.sqrt(r) : lora_alpha;
  return { base: base_model_name_or_path ?? undefined, adapter: { alpha, tensors } };
}
