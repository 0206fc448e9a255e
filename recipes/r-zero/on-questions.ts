/** r-zero on questions of files, for any policy: the challenger is shown a question of the files and writes another; no reference answer is used. */
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { admit, passed } from '../../protocols/proposals.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { examplesOf } from '../../protocols/questions/propose.ts';
import { challengePlay } from './challenge-play.ts';
import { CHALLENGER } from './challenges.ts';
import { phaseOf } from './phases.ts';
import { challengeMethod, LABEL_REWARDS, rZero } from './recipe.ts';

async function challenge(
  { tasks, propose }: QuestionGame,
  context: RoundContext,
  count: number,
): Promise<Proposals> {
  const drawn = tasks(context, count);
  const examples = examplesOf(
    context,
    CHALLENGER,
    drawn.tasks.map(({ task }) => task),
    count,
  );
  const proposed = await propose(context, CHALLENGER, examples);
  return {
    ...drawn,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(context.round, passed(proposed)),
  };
}

function rZeroOn(game: QuestionGame): Recipe {
  const { family } = game;
  return onQuestions(
    {
      ...rZero,
      method: {
        ...rZero.method!,
        roles:
          'The challenger is shown a question of the files and writes another. The solver attempts each new question ten times, and the answer that most attempts give is its label. In the solver’s own rounds it answers labelled questions five times each.',
      },
      differences: [
        'The challenger is shown a question of the files and writes another of the same kind, where the paper’s writes from one fixed prompt without any data. The files’ reference answers are used by the evaluation alone.',
        'Rewards follow the released code, min(p, 1 - p) and -1 for bad form; the paper has 1 - 2|p - 1/2| and 0. BLEU is taken over characters.',
        'The schedule, the KL weights and the numbers of updates are those of the recipe on sums. There is no reward by an oracle, since nobody knows the answers to the challenger’s questions.',
      ],
    },
    {
      ...challengePlay({
        family,
        challenge: (context, count) => challenge(game, context, count),
        phaseOf,
        attempts: 10,
        collected: 3,
        examined: (asked) => family.heldOut(asked),
        rewards: LABEL_REWARDS,
      }),
      ...challengeMethod({
        family,
        questionIn: (text, { renderer }) => renderer().readText(text).text,
      }),
    },
  );
}

/** The recipe on questions of files, for any policy. */
export const rZeroOnQuestions: RecipeOnQuestions = {
  make: rZeroOn,
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'the files’ questions are examples for its challenger',
};
