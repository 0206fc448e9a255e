/** The layout in which PEFT (Hugging Face) keeps a LoRA adapter: adapter_config.json and adapter_model.safetensors. */
import { wrongInput } from '../core/errors.ts';
import { ADAPTER_TARGETS, type Adapter, ranksOf } from './adapter.ts';
import type { Tensors } from './safetensors.ts';

/** What PEFT puts before the names of a causal language model's tensors. */
const PREFIX = 'base_model.model.';

/** adapter_config.json. `base` names the weights that the adapter was trained on. Throws `export.ranks` where ranks differ. */
export function peftConfig(adapter: Adapter, base: string): Record<string, unknown> {
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
export const peftTensors = ({ tensors }: Adapter): Tensors =>
  new Map([...tensors].map(([name, tensor]) => [`${PREFIX}${name}`, tensor]));
