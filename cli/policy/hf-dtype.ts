/** The float type of stored weights as config.json names it. */
import type { StorageType } from '../../model/safetensors.ts';

const NAMES: Readonly<Record<StorageType, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };

/** The config with its dtype, under the name that it uses: `dtype` since transformers 5, `torch_dtype` before. */
export function withDtype(config: object, dtype: StorageType): object {
  const field = 'dtype' in config && !('torch_dtype' in config) ? 'dtype' : 'torch_dtype';
  return { ...config, [field]: NAMES[dtype] };
}
