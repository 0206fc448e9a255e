/**
 * Samples completions of prompts in one batch and records them with their outcomes. A group may have several prompts, and the samples of each are
 * kept apart.
 */
import type { SamplingSettings } from '../core/policy/policy.ts';
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import type { ParseResult } from '../core/recipe/task-family.ts';
import type { Sample } from '../core/schema/sample.ts';

export interface SampledPrompt {
  readonly prompt: string;
  /** One completion each. */
  readonly sampleIds: readonly string[];
  /** What it is about, where that is not the task of the group: recorded with its samples. */
  readonly about?: string | undefined;
  /** Parses a completion with its stop token. */
  readonly parse: (text: string) => ParseResult<unknown>;
}

/** [prompts] -> [prompts][sampleIds], without rewards. */
export async function samplePrompts(
  context: RoundContext,
  role: string,
  asked: readonly SampledPrompt[],
  change: Partial<SamplingSettings> = {},
): Promise<Sample[][]> {
  const { tokenizer } = context;
  const prompts = asked.map(({ prompt, sampleIds }) => ({ ids: tokenizer.encode(prompt), sampleIds }));
  const completions = await context.generate(role, prompts, change);
  return asked.map(({ parse, about }, p) =>
    completions[p]!.map((completion, i) => {
      const parsed = parse(tokenizer.decode(completion.ids));
      const outcome = !completion.stopped ? 'cut-off' : parsed.ok ? 'ok' : parsed.reason;
      const { ids, sampleIds } = prompts[p]!;
      const sample = sampleOf(context, role, sampleIds[i]!, ids, completion, outcome);
      return about === undefined ? sample : { ...sample, about };
    }),
  );
}
