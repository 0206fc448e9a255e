/** Plays a round of a recipe with one solver whose answers are written by the test. */
import type { PolicyPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/play-written.ts';
import { shipped } from '../../recipes/index.ts';
import type { RunOrder } from '../../recipes/run-order.ts';

/** `answer` gives the text of the i-th sample of a task, without its stop token; other roles' prompts come as they are. */
export const playSolver = (
  order: Partial<RunOrder> & Pick<RunOrder, 'recipe'>,
  answer: (task: string, i: number) => string,
  index = 1,
  recipeState?: unknown,
) =>
  playWritten(
    shipped.find(order.recipe),
    (prompt, i) => `${answer(prompt.replace('<solve>', '').replace('<sep>', ''), i)}<eos>`,
    { ...order, index, recipeState },
  );

export const policyPart = ({ updates }: TrainingPlan) => updates[0]!.parts[0] as PolicyPart;
