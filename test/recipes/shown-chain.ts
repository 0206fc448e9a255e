import type { Solution } from '../../core/recipe/task-family.ts';

/** The solution that a verifier of chains is shown, from its prompt: what a scripted one answers by. */
export function solutionShown(prompt: string): Solution {
  const steps = prompt.slice('<judge>'.length, prompt.indexOf('<sep>')).split('=').slice(0, -1);
  return { steps, answer: steps.at(-1) ?? '' };
}
