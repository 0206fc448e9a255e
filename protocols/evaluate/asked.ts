/** What roles say in an evaluation. */
import type { Completion, SamplingSettings } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';

/** A completion with its text. */
type Said = Completion & { readonly text: string };

interface Asking<T> extends Partial<SamplingSettings> {
  readonly prompt: (item: T, i: number) => string;
  /** What the ids of an item's samples are derived from. */
  readonly key: (item: T, i: number) => readonly (string | number)[];
  /** Samples of each item, whose numbers are then a part of their keys; default one, without a number. */
  readonly samples?: number;
}

/** Asks a role of each item [items][samples]. */
export async function asked<T>(
  { tokenizer, generate }: Pick<RoundContext, 'tokenizer' | 'generate'>,
  role: string,
  items: readonly T[],
  { prompt, key, samples, ...sampling }: Asking<T>,
): Promise<Said[][]> {
  const numbers = samples === undefined ? [[]] : Array.from({ length: samples }, (_, s) => [s]);
  const prompts = items.map((item, i) => ({
    ids: tokenizer.encode(prompt(item, i)),
    sampleIds: numbers.map((number) => deriveId('evaluate', ...key(item, i), ...number)),
  }));
  const completions = await generate(role, prompts, sampling);
  return completions.map((each) => each.map((one) => ({ ...one, text: tokenizer.decode(one.ids) })));
}
