/** The weak-supervision study: which labels, and which form of answers, let training on rewards generalise. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { readTags } from '../../core/recipe/reading.ts';
import type { Described, RecipeOver, RoundShape, WithoutSetup } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { answersAlone, faithfulness, withTraces } from './forms.ts';
import { chainLabels, labelledTasks, labelsIn, rewardsBy } from './labels.ts';

const EXAMINED = 250;
/** Weight of the KL divergence to the start policy. */
const KL = 0.02;

const shapeOf = (family: TaskFamily): RoundShape =>
  solverAlone({
    family,
    rewards: rewardsBy(chainLabels),
    tasks: (context) => labelledTasks(chainLabels, context),
    tests: (asked) => family.heldOut({ ...asked, most: Math.min(asked.most, EXAMINED) }),
    examine: async (context) => ({ faithful: await faithfulness(context) }),
  });
const traces = shapeOf(withTraces);
const answers = shapeOf(answersAlone);
const shape = ({ round }: Pick<RoundContext, 'round'>): RoundShape =>
  round.settings.variant === 'answers' ? answers : traces;

/** A solver’s text with the token that the prompt ended in, so that its first part is read as what it is; prompts begin with a tag of their own. */
const begun = (text: string): string =>
  text.startsWith('<') ? text : `${text.includes('<answer>') ? '<step>' : '<answer>'}${text}`;

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: solverUpdate(groupItems(groups, grpo), { ...ppoClip(), ...nearStart(KL) }),
});

const described = {
  name: 'weak-sup',
  title: 'A study of training on few labels, wrong labels and none',
  paper: { title: 'When Can LLMs Learn to Reason with Weak Supervision?', year: 2026 },
  summary:
    'A study and not a method. A solver is trained by GRPO under three kinds of weak labels: eight exact ones, 64 of which two in five are wrong, and the majority of its own answers. It answers with its steps or without. What is read off is how far held-out accuracy has come, and how soon the reward saturates.',
  method: {
    setting:
      'Tasks are arithmetic chains. The start policy can answer them with running totals as steps, of which one in ten has a slip when they are sampled, and without, where half of the answers ignore the last term. Which of the two it does is forced by the first token of the answer, so that one start stands for a policy that was taught to reason in steps and for one that was not.',
    roles: 'The solver is the only role, eight answers to each task.',
    rewards:
      'Few: 1 for an exact answer, on eight tasks. Noisy: 1 for the answer of the label, on 64 tasks, two in five of them labelled with a number near the exact one. Majority: 1 for the answer that most of the eight give, on 64 tasks. Otherwise 0.',
    credit: 'Rewards are standardised among the answers to one task (GRPO).',
    objective:
      'A clipped policy gradient, ratios in [0.8, 1.2], with a mean over tokens, plus 0.02 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'One start whose answers are forced into one form or the other stands for two starts; the paper fine-tunes base models on explicit traces, and pretrains some of them further.',
    'The two forms begin at different accuracies, as the paper’s do, so that what is compared is by how much each rises.',
    'Faithfulness is measured by an error that is put into the steps: the answer either follows from them or does not.',
    'A policy of this size, and chains of at most five operators; the paper compares families of models on mathematics.',
  ],
  sets: trainedSolver({ warmup: 8 }),
  learn,
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => {
    const labels = labelsIn(game);
    return {
      ...described,
      ...solverAlone({
        ...game,
        rewards: rewardsBy(labels),
        tasks: (context) => labelledTasks(labels, context),
      }),
    };
  },
  elsewhere: {
    method: {
      rewards:
        'Few: 1 for an exact answer, on eight questions of the files. Noisy: 1 for the answer of the label, on 64 questions, of which two in five have the answer of another question as their label. Majority: 1 for the answer that most of a group give, on 64 questions. Otherwise 0.',
    },
    differences: [
      'One start that answers as it likes; the paper fine-tunes base models on explicit traces, and pretrains some of them further.',
    ],
  },
  ownReward: 'its rewards are the labels that it compares',
  ownOrder: 'the questions are those that are labelled',
  readsAllTasks: 'it labels questions with the answers of others',
};

export const weakSup: WithoutSetup = {
  ...described,
  written,
  figures: {
    faithful:
      'Share of held-out tasks in which the greedy answer follows from steps with an error in the last that is shown.',
  },
  variants: { answers: 'answers without steps' },
  ...traces,
  propose: (context) => shape(context).propose(context),
  rollOut: (context, tasks) => shape(context).rollOut(context, tasks),
  judge: (context, groups) => shape(context).judge(context, groups),
  evaluate: (context) => shape(context).evaluate(context),
  describe: { ...traces.describe, parts: (_role, text) => readTags(begun(text)) },
};
