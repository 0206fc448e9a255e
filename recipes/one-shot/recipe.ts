/** one-shot: reinforcement learning with a verifiable reward on one training example. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { type AnswerReward, CONTROLS, exactReward } from '../../protocols/answer-rewards.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { sums } from '../../worlds/toy-worlds.ts';

/**
 * Of 50 drawn chains of five operators, the one on which the start policy depends most on its steps: right in nine of ten samples that write them,
 * and in one of twenty that do not. Its pass rate of 0.4 gives its reward nearly the largest possible variance.
 */
export const EXAMPLE = '3+1+1+5+0+9';
/** Weights of the KL divergence to the start policy and of the entropy bonus. */
const KL = 0.02;
const ENTROPY = 1e-3;
/** A wrong answer that is easy to remember. */
const WRONG_LABEL = '0';

const wrongLabel: AnswerReward = {
  description: `control: 1 for the answer ${WRONG_LABEL}, which is wrong`,
  usesGold: false,
  pay: ({ answers }) => answers.map((answer) => Number(answer === WRONG_LABEL)),
};

function learn({ round: { settings }, groups }: RoundRecords): TrainingPlan {
  const items = groupItems(groups, grpo);
  const quiet = settings.variant === 'entropy-only';
  return {
    updates: solverUpdate(quiet ? items.map(({ sample }) => ({ sample, advantage: 0 })) : items, {
      ...ppoClip(),
      ...nearStart(KL),
      entropy: settings.variant === 'no-entropy' ? 0 : ENTROPY,
    }),
  };
}

const described = {
  name: 'one-shot',
  title: 'Reinforcement learning on one example',
  paper: arXiv(
    '2504.20571',
    'Reinforcement Learning for Reasoning in Large Language Models with One Training Example',
  ),
  summary:
    'A solver answers one task, again and again, and is paid for the label’s answer. What it learns is read off the held-out tasks.',
  method: {
    setting:
      'A solver is trained on a single arithmetic chain of five operators and its label; everything that the held-out tasks show must come from that one example. The start policy answers it right in four of ten samples, mostly when it writes its steps.',
    roles: 'The solver is the only role. A round repeats the same task in every group, eight answers each.',
    rewards: '1 for the label’s answer, otherwise 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.02 times a k3 estimate of the KL divergence to version 0, minus 0.001 times the entropy.',
    schedule: 'Each round goes once over its 32 groups, in four optimiser steps.',
  },
  differences: [
    'Temperature 1 instead of 0.6, so that log-probabilities are those of the policy that is trained.',
    'The example is a long chain with a pass rate near 0.4, chosen by how much writing steps helps the start on it; the paper takes the largest variance of accuracy over a pilot run.',
    'KL weight 0.02 instead of 0.001: without it a policy of this size forgets arithmetic while it repeats one task. 32 groups of 8 a round instead of 128, in four optimiser steps instead of eight.',
    'The policy also comes to know the example’s answer by heart, without steps: once it does there is little left to learn, where the paper’s models go on improving.',
  ],
  variants: {
    'many-tasks': 'a fresh task for every group',
    'entropy-only': 'the entropy bonus and KL alone, without the policy gradient',
    'no-entropy': 'without the entropy bonus',
  },
  sets: trainedSolver({ learningRate: 3e-5 }),
  learn,
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({
      ...game,
      draws: 2,
      rewards: { label: exactReward, ...CONTROLS, wrong: wrongLabel },
      tasks: async (context) => {
        const { round } = context;
        const { variant, tasks } = round.settings;
        if (variant === 'many-tasks') return game.tasks(context);
        // Drawn by the run, so that it is the same in all rounds.
        const ofRun = { ...context, round: { ...round, id: round.run } };
        const example = game.example ?? (await game.tasks(ofRun, 1)).tasks[0]!.task;
        return admitTasks(
          round,
          Array.from({ length: tasks }, () => example),
        );
      },
    }),
  }),
  elsewhere: {
    differences: [
      'The example is drawn among the questions; the paper takes the one whose accuracy varies most over a pilot run. A file of one question names it.',
      'Temperature 1 instead of 0.6, so that log-probabilities are those of the policy that is trained. KL weight 0.02 instead of 0.001.',
    ],
  },
  ownOrder: 'it trains on one question',
};

export const oneShot = played(written, { ...sums, example: EXAMPLE });
