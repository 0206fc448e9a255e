/** TRACE: rewards, and a teacher on the decisive tokens of an attempt. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { besideCritic } from '../../protocols/critic.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { type TaughtSample, teacherPass } from '../../protocols/teacher-pass.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { type Marking, overMarked, type RoutedGame, spansOf } from './spans.ts';

/** The teacher's weight beside the policy gradient in the first round, and the number of rounds over which it falls to zero. */
const WEIGHT = 1;
const FALLS_OVER = 12;

const VARIANTS = {
  grpo: 'rewards alone, and no teacher',
  whole: 'the teacher is heard at every token of the attempts at which it would be heard',
  'random-spans': 'the teacher is used at a part of the attempt that is drawn at random',
  'fixed-weight': 'the weight of the teacher stays what it is in the first round',
} as const;

const markingOf = (variant: string | undefined): Marking =>
  variant === 'whole' ? 'whole' : variant === 'random-spans' ? 'random' : 'spans';

/** The teacher's weight in a round, from 1 on. */
const weightAt = (index: number, variant: string | undefined): number =>
  variant === 'fixed-weight' ? WEIGHT : WEIGHT * Math.max(0, 1 - (index - 1) / FALLS_OVER);

/** Whether a teacher is heard in a round. The checker provides the spans, so a run whose reward does not come from it has no teacher. */
const hears = ({ index, settings: { variant, rewardFunction } }: RoundSpec): boolean =>
  variant !== 'grpo' && rewardFunction === 'exact' && weightAt(index, variant) > 0;

async function learn(
  game: RoutedGame,
  { groups, round, version }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const updates = grpoUpdate(groups);
  if (!hears(round)) return { updates };
  const weight = weightAt(round.index, variant);
  const { decisive, faulty } = spansOf(game, groups, tools, markingOf(variant));
  const from = { set: MAIN_SET, version, weight };
  const heard = (taught: readonly TaughtSample[], kind: 'forward-kl' | 'reverse-kl') =>
    taught.length ? [teacherPass(overMarked(taught), { ...from, divergence: { kind } })] : [];
  const parts = [...heard(decisive, 'forward-kl'), ...heard(faulty, 'reverse-kl')];
  return {
    updates: updates.map((update) => ({ ...update, parts: [...update.parts, ...parts] })),
    figures: { weight, decisive: decisive.length, faulty: faulty.length },
  };
}

const described = {
  name: 'trace',
  title: 'A teacher that is heard where an attempt is decided',
  paper: arXiv('2605.10194', 'TRACE: Distilling Where It Matters via Token-Routed Self On-Policy Alignment'),
  summary:
    'A policy is rewarded for right answers. Beside that, the policy itself teaches, after a prompt that tells it how the solution begins, but only where it matters: at the part where a wrong attempt goes wrong first, and in a right attempt at the part where others failed.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read the beginning of a solution, and to go on with it.',
    roles:
      'The solver makes eight attempts at a task. The teacher has the weights that the round trains from, and writes nothing: its prompt shows the exact totals up to the marked part of the attempt, and where that is the last total the whole solution.',
    rewards: 'An exact answer earns 1 and any other 0.',
    credit:
      'The advantage of an attempt is its reward minus the mean of its group, divided by the group’s deviation (GRPO). A checker of steps marks one part of an attempt: its first wrong total, or in a right attempt the total at which most of the group’s wrong ones go wrong first.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus λ times the sum of two divergences from the teacher: KL(teacher‖policy) at the marked tokens of right attempts, and KL(policy‖teacher) at those of wrong ones, each scaled so that over the round it is a mean over marked tokens.',
    schedule:
      'Each round goes once over its batch, in four optimiser steps. λ falls from 1 in the first round in a straight line to 0 after the twelfth.',
  },
  differences: [
    'The paper’s spans are marked by a stronger model or by the policy; here a checker of steps knows them.',
    'What makes a part of a right attempt decisive is that others failed there; groups without a wrong attempt have no such part.',
    'The teacher is told the beginning of a solution; the paper’s is told only of what kind a marked part is.',
    'Rewards train the marked tokens, too. The paper leaves to rewards the tokens that are not marked; whether it takes the marked ones from them could not be checked.',
    'The coefficients, and how λ falls, could not be checked against the paper’s.',
    'The part that is drawn in the control is one of all parts, the decisive one included.',
    'The solver had to be taught to read the beginning of a solution, in supervised training before; a language model needs no more than a template.',
  ],
  figures: {
    weight: 'Weight of the teacher beside the policy gradient.',
    decisive: 'Number of right attempts that a teacher repeats at the part where others failed.',
    faulty: 'Number of wrong attempts that a teacher corrects at their first wrong part.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'retell' | 'correct'> = {
  needs: { verbs: ['solve', 'retell', 'correct'], alsoSays: ['critique'], data: ['answer', 'solution'] },
  over: (game) => ({
    ...described,
    ...besideCritic(game, solverAlone({ ...game, draws: 2 }), hears),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    differences: [
      'The parts of an attempt are its lines. The policy itself marks the first wrong one: it reads the worked solution of the file and the attempt, repeats the right lines and corrects the first that is wrong. Where it corrects nothing, no part is marked.',
      'What makes a line of a right attempt decisive is that most wrong attempts at the question go wrong at the line of that number.',
      'The teacher is told that correction at a wrong attempt, and the worked solution at a right one; the paper’s is told only of what kind a marked part is.',
      ...described.differences.slice(3, 5),
    ],
  },
  ownReward: 'which part of an attempt is marked follows from its reward',
};

export const trace = played(written, aidedSums);
