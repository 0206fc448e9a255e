/** A recipe of a proposer and a solver of programs, without its rewards, its training plan and its texts. */
import type { RoundShape } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { type AnswerReward, payAnswers } from '../../protocols/answer-rewards.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
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
  taskName: programs.name,
  stop: programs.stop,
  rewards,
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
  rollOut: (context, tasks) => rollOut({ family: programs }, context, tasks),
  judge: async (context, groups) => {
    const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
    return groups.map((group) => payAnswers(programs, reward, context, group));
  },
  evaluate: evaluatePrograms,
  describe: { difficulty: programs.difficulty, worked: (text) => text.startsWith(programs.workedPrefix) },
});
