/** What a solver answers where another picture is shown in place of the one that is asked about: what it knows without looking. */
import type { Game } from '../../core/game/game.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { heldOutAnswers } from './solver.ts';

/** What the figure of `otherPictures` means. */
export const OTHER_PICTURES = {
  otherPictures:
    'Share of exact greedy answers to held-out questions where another picture is shown in place of the one that is asked about.',
} as const;

/** The variant that is the control. */
export const BLIND = 'other-pictures';

/** Greedy accuracy on held-out tasks with other pictures; no figure where the game has none. */
export async function otherPictures(
  { family: given, otherPicture }: Pick<Game, 'family' | 'otherPicture'>,
  context: EvaluationContext,
  role: string,
  tasks: readonly string[],
): Promise<Readonly<Partial<Record<keyof typeof OTHER_PICTURES, number>>>> {
  if (!otherPicture) return {};
  const family = rendered(given, context);
  const shown = tasks.map((task) => otherPicture(task, task));
  const answers = await heldOutAnswers({ family: given, role, tasks: shown }, context, {
    seed: 'other-pictures',
    temperature: 0,
  });
  const right = answers.map((answer, i) =>
    Number(answer.ok && family.answerIsExact(tasks[i]!, answer.value)),
  );
  return { otherPictures: mean(right) };
}
