/**
 * What a version answers to a few held-out tasks, for readers who compare versions. The recipe's own evaluation runs over these tasks,
 * and what its roles generate is written down, so that every recipe has this view without a line of its own.
 */
import type { TokenIds } from '../policy/policy.ts';
import type { Recipe } from './recipe.ts';
import { openEvaluationContext, type RoundContextParts } from './round-context.ts';

/** Held-out tasks of each family that are answered. */
export const ANSWERED_TASKS = 8;

export interface HeldOutAnswer {
  readonly role: string;
  readonly prompt: TokenIds;
  readonly ids: TokenIds;
  /** Log-probabilities (nats) of `ids`. */
  readonly logprobs: readonly number[];
}

interface Heard extends HeldOutAnswer {
  readonly greedy: boolean;
}

/** The greedy answers of a version, in the order asked; the first sample of each prompt where the evaluation asks for none that is greedy. */
export async function heldOutAnswers(
  recipe: Recipe,
  parts: Omit<RoundContextParts<Recipe>, 'evaluationTasks' | 'recipe'>,
  version: number,
): Promise<HeldOutAnswer[]> {
  const heard = new Map<string, Heard>();
  const evaluationTasks = { heldOut: true, most: ANSWERED_TASKS };
  const context = openEvaluationContext({ ...parts, recipe, evaluationTasks }, version, new Map());
  await recipe.evaluate({
    ...context,
    async generate(role, prompts, change = {}) {
      const completions = await context.generate(role, prompts, change);
      const greedy = (change.temperature ?? recipe.roles[role]?.sampling.temperature) === 0;
      for (const [p, { ids: prompt }] of prompts.entries()) {
        const [first] = completions[p]!;
        const key = `${role} ${greedy} ${prompt.join()}`;
        if (first && !heard.has(key))
          heard.set(key, { role, prompt, ids: first.ids, logprobs: first.logprobs, greedy });
      }
      return completions;
    },
  });
  const all = [...heard.values()];
  const greedy = all.filter((answer) => answer.greedy);
  return (greedy.length ? greedy : all).map(({ greedy: _, ...answer }) => answer);
}
