/** A recipe of a proposer and a solver of programs, without its rewards, its training plan and its texts. */
import type { RoundShape } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { AnswerReward } from '../../protocols/answer-rewards.ts';
import { SOLVER, solverAlone } from '../../protocols/solver.ts';
import { programs } from '../../worlds/programs/family.ts';
import type { QuestionKind } from '../../worlds/programs/questions.ts';
import { evaluatePrograms } from './evaluate.ts';
import { PROPOSER, proposePrograms } from './proposed-programs.ts';

/** Longest completions in tokens: half as long again as those that are demonstrated. */
const MAX_NEW = 100;

export interface ProgramGame {
  readonly rewards: Readonly<Record<string, AnswerReward>>;
  /** The kinds that are played, and whether proposers are shown references, by the run's variant. */
  readonly shape: (variant?: string) => {
    readonly kinds: readonly QuestionKind[];
    readonly referenced: boolean;
  };
}

export const programPlay = ({ rewards, shape }: ProgramGame): RoundShape => ({
  ...solverAlone({ family: programs, rewards }),
  roles: {
    // The program for which it writes inputs is the answer to the question that they make.
    [PROPOSER]: role('writes a program with an input, or inputs for a program', MAX_NEW, { seesGold: true }),
    [SOLVER]: role('answers, deduction with its steps', MAX_NEW, {
      shown: 'a program with its input or its output, of a task that holds both',
    }),
  },
  freezable: [PROPOSER, SOLVER],
  propose: (context) => {
    const { kinds, referenced } = shape(context.round.settings.variant);
    return proposePrograms(context, kinds, referenced);
  },
  evaluate: evaluatePrograms,
});
