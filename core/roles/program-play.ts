/** A recipe of a proposer and a solver of programs: everything but its rewards, its lesson and its words. */
import type { RoundShape } from '../recipe.ts';
import { programs } from '../tasks/programs/family.ts';
import type { QuestionKind } from '../tasks/programs/questions.ts';
import { type AnswerReward, payAnswers } from './answer-rewards.ts';
import { examinePrograms } from './program-exam.ts';
import { PROPOSER, proposePrograms } from './proposed-programs.ts';
import { solve } from './solve.ts';
import { rewardNamed, SOLVER } from './solver-recipe.ts';

/** Tokens; longer than what is demonstrated by half. */
const MAX_NEW = 100;

export interface ProgramGame {
  readonly rewards: Readonly<Record<string, AnswerReward>>;
  /** Kinds that are played, and whether proposers are shown references, by the run's variant. */
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
    [PROPOSER]: {
      says: 'writes a program with an input, or inputs for a program',
      sampling: { maxNew: MAX_NEW, temperature: 1 },
    },
    [SOLVER]: { says: 'answers, deduction with its steps', sampling: { maxNew: MAX_NEW, temperature: 1 } },
  },
  freezable: [PROPOSER, SOLVER],
  propose: (stage) => {
    const { kinds, referenced } = shape(stage.round.settings.variant);
    return proposePrograms(stage, kinds, referenced);
  },
  rollOut: (stage, tasks) => solve({ family: programs }, stage, tasks),
  judge: async (stage, groups) => {
    const reward = rewardNamed(rewards, stage.round.settings.reward);
    return groups.map((group) => payAnswers(programs, reward, stage, group));
  },
  evaluate: examinePrograms,
  describe: { difficulty: programs.difficulty, worked: (text) => text.startsWith(programs.workedPrefix) },
});
