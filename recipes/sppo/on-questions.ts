/**
 * sppo on questions of files, for any policy. Of two answers the one with the higher reward is preferred, and equal rewards are preferred half of the
 * time. The checker's rewards make it a game between right and wrong answers; votes make one that needs no reference answer.
 */
import type { Recipe } from '../../core/recipe/recipe.ts';
import { exactReward, formatReward, majorityReward, randomReward } from '../../protocols/answer-rewards.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { SOLVER, solverAlone } from '../../protocols/solver.ts';
import { winRatePairs, withWinRates } from '../../protocols/win-rates.ts';
import { planPairs, sppo } from './recipe.ts';

const sppoOn = ({ family, maxNew, tasks }: QuestionGame): Recipe =>
  onQuestions(
    {
      ...sppo,
      tasks: 32,
      summary:
        'Five answers to a question play a game in which a right answer beats a wrong one. The best and the worst by win rate are regressed, each by itself, on what multiplicative weights would make of them against the policy that wrote them.',
      method: {
        ...sppo.method!,
        roles: 'The solver writes five answers to each question.',
        rewards:
          'The reward of an answer is what the checker says of it. Its win rate is the mean over all five answers of its question, where the higher reward wins and equal ones win half of the time.',
        schedule:
          'A round is an iteration: 32 questions, one pass over their pairs. The next round’s reference is the policy that this one made.',
      },
      differences: [
        'The preference follows from the checker: right beats wrong, and equal answers win half of the time; in the paper a model of 0.4 B parameters compares them. `--reward majority` compares with the answer that most samples give.',
        'Answers are sampled at temperature 1 without truncation, in the paper at 0.7 and the top 0.9.',
        'beta is 1 instead of 0.001: targets of one or two tenths of a nat a round.',
        'AdamW at a constant step size instead of RMSprop at 5e-7, falling.',
      ],
    },
    {
      ...solverAlone({
        family,
        maxNew,
        tasks,
        rewards: {
          checker: exactReward,
          majority: majorityReward,
          format: formatReward,
          random: randomReward,
        },
      }),
      learn: (records, tools) =>
        planPairs(SOLVER, winRatePairs(withWinRates(records.groups)), records, tools),
    },
  );

/** The recipe on questions of files, for any policy. */
export const sppoOnQuestions: RecipeOnQuestions = {
  make: sppoOn,
};
