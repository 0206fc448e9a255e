/** Sampling for evaluations where a task may be longer than the policy's context. Such a task is not asked, and counts as not answered. */
import type { Completion, GeneratePrompt, SamplingSettings } from '../../core/policy/policy.ts';
import { type RoundContext, roleOf } from '../../core/recipe/round-context.ts';

/** Takes the place of an answer where the prompt leaves no room for one. */
const UNANSWERED: Completion = { ids: [], logprobs: [], stopped: false };

/** As `context.generate`, [prompts][samples]; completions of prompts that leave too little room are empty and not ended. */
export async function generateWithin(
  context: Pick<RoundContext, 'recipe' | 'contextLength' | 'generate'>,
  role: string,
  prompts: readonly GeneratePrompt[],
  change: Partial<SamplingSettings> = {},
): Promise<Completion[][]> {
  const { maxNew } = { ...roleOf(context.recipe, role).sampling, ...change };
  const isLong = ({ ids }: GeneratePrompt) => ids.length + maxNew > context.contextLength;
  const fitting = prompts.filter((prompt) => !isLong(prompt));
  const completions = (await context.generate(role, fitting, change)).values();
  return prompts.map((prompt) =>
    isLong(prompt) ? prompt.sampleIds.map(() => UNANSWERED) : completions.next().value!,
  );
}

/** The same context, which samples within the policy's context. */
export const within = <C extends Pick<RoundContext, 'recipe' | 'contextLength' | 'generate'>>(
  context: C,
): C => ({
  ...context,
  generate: (role: string, prompts: readonly GeneratePrompt[], change?: Partial<SamplingSettings>) =>
    generateWithin(context, role, prompts, change),
});
