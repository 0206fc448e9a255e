/**
 * trio on questions of files, for any policy. Half of a round's questions are the proposer's, which is shown a question of the files and writes
 * another; the rest are the files' own. Where the checker has no reference answer, the majority of the solver's answers is the label.
 */
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { admit, passed } from '../../protocols/proposals.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { examplesOf } from '../../protocols/questions/propose.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { judge } from './judge.ts';
import { trio } from './recipe.ts';

/** How many held-out questions are voted on with the judge's verdicts, and how many answers each has. */
const VOTED = { voted: 200, answers: 4 };

/** As many questions as a round has tasks. Questions of the files replace those of the proposer that are refused. */
async function propose(
  { verifiedTasks, propose: proposeLike }: QuestionGame,
  context: RoundContext,
): Promise<Proposals> {
  const { round } = context;
  const drawn = verifiedTasks(context);
  const own = drawn.tasks.map(({ task }) => task);
  const asked = Math.ceil(own.length / 2);
  const proposed = await proposeLike(context, 'proposer', examplesOf(context, 'proposer', own, asked));
  const admitted = passed(proposed);
  const rest = own.slice(0, own.length - admitted.length).map((task) => ({ task, proposal: null }));
  return {
    ...drawn,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...admitted, ...rest]),
  };
}

function trioOn(game: QuestionGame): Recipe {
  const { family, maxNew } = game;
  const sampling = { maxNew, temperature: 1 };
  return onQuestions(
    {
      ...trio,
      figures: VERIFIER_FIGURES,
      summary:
        'One policy writes questions like those of the files, answers them and the files’ own, and judges the answers. The proposer is paid for questions that half of the answers get right, the judge for agreeing with the checker or, on the proposer’s questions, with the majority of the answers, the solver by the chosen reward.',
      method: {
        ...trio.method!,
        roles:
          'Half of a round’s questions are asked of the proposer, which is shown a question of the files each time; where what it writes is refused, questions of the files take the places. The solver answers each question several times. The judge says of each answer whether it is right, once, or four times where its verdict alone pays the solver.',
        rewards:
          'The proposer earns 4p(1 - p), where p is the share of the answers to its question that pass; a text that is refused earns -0.5, a held-out question nothing at all. An answer passes if the checker accepts it; to a question whose answer nobody knows, if it is the answer that most of the group give. The solver’s default reward is 0.8 for an answer that passes plus 0.2 where the judge calls it right. The judge earns 1 where its verdict says whether the answer passes, or, with the reward `self-consistency`, whether it is the majority’s.',
      },
      differences: [
        ...trio.differences,
        'Half of a round’s questions are written by the proposer after an example from the files, and the rest are the files’ own: nobody can check a question that a policy wrote, so that its label is the majority of the solver’s answers. A round in which the proposer writes too little is filled up from the files.',
        'The proposer has no reward for well-posed questions beyond the pass rate: a question that makes answers differ, and is no good question, is paid too.',
      ],
    },
    {
      taskName: family.name,
      rewards: trio.rewards,
      roles: {
        proposer: { description: 'writes questions like those of the files', sampling },
        solver: { description: 'answers questions', sampling },
        judge: { description: 'says whether an answer is right', sampling, usesGold: true },
      },
      freezable: trio.freezable,
      propose: (context) => propose(game, context),
      rollOut: (context, tasks) => rollOut({ family }, context, tasks),
      judge: (context, groups) => judge(family, context, groups),
      evaluate: (context) =>
        evaluateVerifier(context, { family, solver: 'solver', judge: 'judge', ...VOTED }),
    },
  );
}

/** The recipe on questions of files, for any policy. */
export const trioOnQuestions: RecipeOnQuestions = {
  make: trioOn,
  ownReward: 'the word that pays its solver is what its judge has to say and what prices its proposals',
};
