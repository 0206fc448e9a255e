/** trio: one set of weights proposes tasks, solves them and judges the solutions. Its stages are in protocols/trio. */
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { groupCentredBatchScaled } from '../../core/rl/estimators/index.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { evaluate } from '../../protocols/trio/evaluate.ts';
import { rewards } from '../../protocols/trio/rewards.ts';
import { type Asked, DIFFERENCES, PAPER, ROLES, SCHEDULE, trioOver } from '../../protocols/trio/stages.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { sums } from '../../worlds/toy-worlds.ts';

/** How many held-out tasks are voted on with the judge's verdicts, and how many answers each has. */
const VOTED = { voted: 200, answers: 4 };

const described = {
  name: 'trio',
  title: 'Proposer, solver and judge co-trained on shared weights',
  paper: PAPER,
  summary:
    'One policy writes arithmetic tasks, solves them with or without steps, and judges the solutions step by step. The proposer is paid for tasks that half of the rollouts solve, the judge for agreeing with the exact checker (or, without any labels, with the majority of the solver’s answers), the solver by the chosen reward.',
  method: {
    setting:
      'Tasks are chains of small sums and differences. One set of weights plays all three roles; the start policy has seen demonstrations of each and mostly answers without steps, though it would be right more often with them. Nobody supplies tasks.',
    roles: ROLES,
    rewards:
      'The proposer earns 4p(1 - p), where p is the share of the task’s rollouts that pass: most for tasks that half of them solve. An invalid or repeated task earns -0.5, a held-out one nothing at all. The solver’s default reward is 0.8 for an exact answer plus 0.2 times the share of its steps that the judge calls right. The judge earns 1 where its verdict on the whole is that of the exact checker, or, with the rewards `self-consistency` and `majority`, where it says whether the solution gives the majority answer of its task.',
    credit:
      'Advantages are computed role by role, since the three rewards have different scales. The proposer’s rewards are whitened over the round. The solver’s are centred on the mean of their task and scaled by the deviation of the round. The judge is trained on at most 256 judgments, half of them of right solutions, weighted so that both kinds count the same.',
    objective:
      'The loss is the sum of the three roles’ clipped policy gradients (ratios in [0.8, 1.28], a mean over each role’s tokens), plus a k3 estimate of the KL divergence to version 0 with weight 0.1, or 0.3 where the solver is paid by the judge or by a coin.',
    schedule: SCHEDULE,
  },
  differences: DIFFERENCES,
  rewards,
  sets: trainedSolver(),
} satisfies Described;

const written: RecipeOver<Asked> = {
  needs: { verbs: ['solve', 'propose', 'verify'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...trioOver(game, { rewards, solver: groupCentredBatchScaled, weights: () => ({}) }),
    evaluate: (context) =>
      evaluateVerifier(context, { family: game.family, solver: 'solver', judge: 'judge', ...VOTED }),
  }),
  elsewhere: {
    figures: VERIFIER_FIGURES,
    summary:
      'One policy writes questions like those of the files, answers them and the files’ own, and judges the answers. The proposer is paid for questions that half of the answers get right, the judge for agreeing with the checker or, on the proposer’s questions, with the majority of the answers, the solver by the chosen reward.',
    differences: [
      ...DIFFERENCES,
      'Half of a round’s questions are written by the proposer after an example from the files, and the rest are the files’ own: nobody can check a question that a policy wrote, so that its label is the majority of the solver’s answers. A round in which the proposer writes too little is filled up from the files.',
      'The proposer has no reward for well-posed questions beyond the pass rate: a question that makes answers differ, and is no good question, is paid too.',
    ],
  },
  ownReward: 'the word that pays its solver is what its judge has to say and what prices its proposals',
};

export const trio = played(written, sums, {
  evaluate: (context) => evaluate(arithmetic, context),
});
