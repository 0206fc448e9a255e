/** Chains of sums whose solutions have a line for each operator, for verifiers that mark lines. */
import { invalid, type TaskFamily } from '../../core/recipe/task-family.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { chainMarks } from '../../worlds/chains/family.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { isInteger, parseWorked } from '../../worlds/worked.ts';
import type { ProcessGame } from './proofs.ts';

/** One line or more, not necessarily one for each operator: what a solver can pass with where no gate requires more. */
export const anyLines: TaskFamily = {
  ...plainProofs,
  parseSolution: (_task, text) => {
    const parsed = parseWorked(text, { step: isInteger, answer: isInteger });
    return !parsed.ok || parsed.value.steps.length > 0 ? parsed : invalid('partial-steps');
  },
  answerIsExact: (task, solution) => plainProofs.answerIsExact(task, solution),
  exactJudgment: (task, solution) => plainProofs.exactJudgment(task, solution),
};

export const proofs: ProcessGame = {
  ...familyGame(plainProofs, { readVerdict: chainMarks }),
  ungated: anyLines,
};
