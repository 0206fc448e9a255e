/** Co-Reward: the majority on a question in other words is the label. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { rewriterRole } from '../../protocols/rewrites.ts';
import { writtenBy } from '../../protocols/samples-of-role.ts';
import { groupItems, SOLVER, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { drawReorderable, reordered } from '../../worlds/arithmetic/reorder.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { answerBoth, answersOf, halvesOf, payBoth, rephrasing, rewards } from './two-phrasings.ts';

/** Passes over a batch, which make as many updates as four times the rounds would. */
const EPOCHS = 4;

/** The two halves of a group, each of which is a group of its own for its advantages. */
const halves = ({ group, samples }: Pick<ScoredGroup, 'group' | 'samples'>) =>
  halvesOf(samples).map((half, h) => ({ group: `${group}/${h}`, samples: half }));

/**
 * Rewards compared with the oracle, for the figures alone: the share of answers whose reward is what gold would pay, and the share of exact answers
 * among those that are paid.
 */
export function rewardFigures(groups: readonly Pick<ScoredGroup, 'samples' | 'answersExact'>[]) {
  const answers = groups.flatMap(({ samples, answersExact }) =>
    samples.map(({ rewards: { reward } }, i) => ({ paid: reward === 1, exact: answersExact[i] === true })),
  );
  const paid = answers.filter((answer) => answer.paid);
  return {
    rewardAccuracy: mean(answers.map((answer) => Number(answer.paid === answer.exact))),
    ...(paid.length ? { paidExact: mean(paid.map(({ exact }) => Number(exact))) } : {}),
    paidShare: paid.length / answers.length,
  };
}

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: solverUpdate(groupItems(groups.map(answersOf).flatMap(halves), grpo), {
    ...ppoClip(),
    ...nearStart(0.001),
  }).map((update) => ({ ...update, epochs: EPOCHS })),
  figures: rewardFigures(groups.map((group) => writtenBy(group, SOLVER))),
});

const described = {
  name: 'co-reward',
  title: 'Majorities on a question label the same question in other words',
  paper: arXiv(
    '2508.00410',
    'Co-Reward: Self-supervised Reinforcement Learning for Large Language Model Reasoning via Contrastive Agreement',
  ),
  summary:
    'A solver answers a question and the same question in other words, without labels. Answers to the one are paid if they are what most answers to the other say, so that an error that comes from the wording is not confirmed by itself.',
  method: {
    setting:
      'A question is a chain of two to four sums, and in other words it is the chain with its terms in another order, which ends on another term and has the same answer. The start policy gives seven of ten answers at once, without steps, and half of these leave out the last term: an error that depends on the order.',
    roles:
      'The solver is the only role. Half of a group’s answers are to the question as it was drawn, the other half to the question in other words.',
    rewards:
      '1 for the answer that most of the other half give, otherwise 0. Ties are broken at random; where no answer of the other half parses, nobody is paid.',
    credit:
      'The advantage of an answer is its reward minus the mean of its half of the group, divided by that half’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round draws fresh tasks that are not held out, and goes over its batch four times.',
  },
  differences: [
    'Questions in other words are chains in another order, made by rule, where the paper lets a language model rewrite each question of a fixed set once. Another order changes how a chain is worked through, which a rewritten sentence seldom does, so that errors are less alike here than the paper’s.',
    'A constant step size after a short warm-up, and four passes over each batch, since updates cost less here than rollouts. Sizes of batches and weights could not be checked against the paper’s.',
  ],
  figures: {
    rewardAccuracy: 'Share of the answers whose reward is what the oracle would pay.',
    paidExact: 'Share of exact answers among those that are paid.',
    paidShare: 'Share of the answers that are paid.',
  },
  sets: trainedSolver(),
} satisfies Described;

const written: RecipeOver<'solve'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve'], orRule: ['rephrase'], data: ['answer'] },
  over: (game) => {
    const alone = solverAlone({ ...game, rewards });
    return {
      ...described,
      ...alone,
      roles: {
        [SOLVER]: { ...alone.roles[SOLVER]!, shown: 'its task in another order or in other words' },
        ...rewriterRole(rephrasing(game)),
      },
      rollOut: (context, tasks) => answerBoth(game, context, tasks),
      judge: async (context, groups) => payBoth(game, context, groups),
      learn,
    };
  },
  elsewhere: {
    method: {
      roles:
        'A rephraser, which has the solver’s weights and is not trained, writes each question in other words. Half of a group’s answers are to the question as it was drawn, the other half to the question in other words, or to the question as it is where the rephraser’s text is none.',
    },
    differences: [
      'The policy rewrites a question anew each time that it is drawn, with the weights of the round; the paper lets a language model rewrite each question once.',
      described.differences[1]!,
    ],
  },
  ownReward: 'the votes of its solver are the reward',
};

const reorderable = familyGame(arithmetic, {
  byRule: { rephrase: reordered },
  tasks: (context, count) => drawnTasks(context, drawReorderable, count),
});

export const coReward = played(written, reorderable);
