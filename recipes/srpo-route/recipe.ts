/** SRPO: rewards train right attempts, and a teacher that reads more than the task corrects wrong ones. */
import type { LearnTools, RoundRecords, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import {
  SIBLINGS_ALONE,
  siblingOrFeedback,
  type TaughtAttempt,
  type TaughtGame,
  taughtAttempts,
} from '../../protocols/privileged-teacher.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { slowTeacher, TEACHER_RATE, TEACHER_SET, teacherPass } from '../../protocols/teacher-pass.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';

/** β of the weight exp(−β·H) on a token at which the teacher's distribution has entropy H. */
const ENTROPY_BETA = 1;

const VARIANTS = {
  grpo: 'rewards alone: the advantages of GRPO for all attempts, and no teacher',
  sdpo: 'the teacher alone: it corrects right attempts and wrong ones, all tokens alike',
  'no-entropy-weight': 'wrong attempts go to the teacher, and all of their tokens count alike',
  'no-teacher': 'the attempts that the teacher would correct are left out',
  'inverse-route': 'right attempts go to the teacher and wrong ones to rewards',
} as const;

/** Whether the teacher trains an attempt for which it has an aid. An attempt without a reward is trained by neither. */
function goesToTeacher({ sample: { rewards } }: TaughtAttempt, variant: string | undefined): boolean {
  const reward = rewards.reward ?? null;
  if (variant === 'grpo' || reward === null) return false;
  return variant === 'sdpo' || reward > 0 === (variant === 'inverse-route');
}

const tokensOf = (items: readonly { readonly sample: Pick<Sample, 'ids'> }[]): number =>
  items.reduce((sum, { sample }) => sum + sample.ids.length, 0);

/** `attempts`: those whose teachers have something to read. */
function planTraining(
  attempts: readonly TaughtAttempt[],
  { groups, round, version }: RoundRecords,
): TrainingPlan {
  const { variant } = round.settings;
  const corrected = attempts.filter((attempt) => goesToTeacher(attempt, variant));
  const routed = new Set(corrected.map(({ sample }) => sample.id));
  const rewarded =
    variant === 'sdpo' ? [] : groupItems(groups, grpo).filter(({ sample }) => !routed.has(sample.id));
  // Each part is a mean over its own tokens; weighted by their shares, the two are one mean over all tokens.
  const tokens = tokensOf(corrected) + tokensOf(rewarded);
  const parts: UpdatePart[] = [
    ...solverUpdate(rewarded, ppoClip()).flatMap((update) =>
      update.parts.map((part) => ({ ...part, weight: tokensOf(rewarded) / tokens })),
    ),
    ...(corrected.length && variant !== 'no-teacher'
      ? [
          teacherPass(corrected, {
            set: TEACHER_SET,
            version,
            weight: tokensOf(corrected) / tokens,
            divergence: { kind: 'jensen-shannon', beta: 0.5 },
            ...(variant === 'sdpo' || variant === 'no-entropy-weight' ? {} : { entropyBeta: ENTROPY_BETA }),
          }),
        ]
      : []),
  ];
  const samples = groups.reduce((sum, group) => sum + group.samples.length, 0);
  return { updates: updateOf(parts), figures: { corrected: samples ? corrected.length / samples : 0 } };
}

function learn(game: TaughtGame, records: RoundRecords, tools: LearnTools): TrainingPlan {
  const checked = records.round.settings.rewardFunction === 'exact';
  const aidFor = siblingOrFeedback(game, tools, { told: 'both', checked });
  return planTraining(taughtAttempts(game, records.groups, tools, aidFor), records);
}

const described = {
  name: 'srpo-route',
  title: 'Rewards for right attempts, a teacher for wrong ones',
  paper: arXiv(
    '2604.02288',
    'Unifying Group-Relative and Self-Distillation Policy Optimization via Sample Routing',
  ),
  summary:
    'A policy answers. Right attempts are trained by their rewards. A wrong attempt is read again by the same policy after a prompt that also shows a sibling’s right solution, or the checker’s feedback, and what it would have written at each token is taught to the policy that is asked without them; tokens of which the teacher is uncertain count less.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read the beginning of a solution, with which it goes on, and a draft, which it hands in unchanged in half of the cases.',
    roles:
      'The solver makes eight attempts at a task. The teacher is the solver’s moving average, and writes nothing: its prompt shows the first right solution by a sibling, and where no sibling is right the feedback of a checker of steps, which are the right totals up to the first wrong one, corrected.',
    rewards: 'An exact answer earns 1 and any other 0. The reward also says which way an attempt is routed.',
    credit:
      'A right attempt, and a wrong one about which there is nothing to tell, has the advantage of GRPO: its reward minus the mean of its group, which counts all eight, divided by the group’s deviation. Each token of another wrong attempt is compared with what the teacher would have written there, and counts exp(−H) times, where H is the entropy of the teacher’s distribution in nats.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] on the attempts that rewards train, and on the others the Jensen-Shannon divergence between the next-token distributions of policy and teacher, each with half of the weight, over the whole vocabulary. The loss is a mean over the tokens of all attempts; a token’s weight does not change the number by which it is divided.',
    schedule:
      'Each round goes once over its batch, in four optimiser steps; after it the teacher’s weights move by a twentieth of their distance to the policy’s for each of them.',
  },
  differences: [
    'How the paper normalises the weights exp(−βH) over tokens could not be checked; here they are not normalised, so that they also lower the share of the teacher in the loss.',
    'How the paper weighs its two losses could not be checked; here both are parts of one mean over tokens, by their shares in the round.',
    'The divergence, the context of the teacher and its average are those of `sdpo`, with which the paper compares itself; its differences hold here, too.',
    'The solver had to be taught to read solutions and feedback, in supervised training before; a language model needs no more than a template.',
  ],
  figures: { corrected: 'Share of the attempts that a teacher corrects instead of a reward.' },
  variants: VARIANTS,
  sets: { ...trainedSolver({ warmup: 8 }), [TEACHER_SET]: slowTeacher(TEACHER_RATE) },
} satisfies Described;

const written: RecipeOver<'solve' | 'retell' | 'correct'> = {
  needs: { verbs: ['solve', 'retell', 'correct'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: { differences: [SIBLINGS_ALONE, ...described.differences.slice(0, 3)] },
  ownReward: 'what its teacher is told are answers that its reward calls right',
};

export const srpoRoute = played(written, aidedSums);
