/** SD-Zero: a policy learns to revise its attempts by one bit, and then teaches itself as its own reviser. */
import type { LearnTools, RoundRecords, Sequence, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { role } from '../../core/recipe/role.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import {
  type AidFor,
  isPaid,
  rewardsAlone,
  TAUGHT_FIGURES,
  taughtAlone,
  taughtAttempts,
} from '../../protocols/privileged-teacher.ts';
import { exactShare, writtenBy } from '../../protocols/samples-of-role.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import {
  attemptAndRevise,
  presentTeacher,
  REVISER,
  type RevisedGame,
  revisionOf,
  turnOf,
  VARIANTS,
} from './revisions.ts';

/** Supervised fine-tuning of roles on sequences; no part where there are no sequences. */
function fineTuning(sequences: Readonly<Record<string, readonly Sequence[]>>): TrainingPlan['updates'] {
  return updateOf(Object.entries(sequences).map(([role, items]) => sftPart(role, items)));
}

const rightOf = ({ samples }: Pick<ScoredGroup, 'samples'>): Sequence[] =>
  samples.filter(isPaid).map(({ prompt, ids }) => ({ prompt, ids }));

/** Right revisions train the reviser to revise, and the solver to give such answers at once. */
function revisionPlan(
  { words }: RevisedGame,
  groups: readonly ScoredGroup[],
  tools: LearnTools,
): TrainingPlan {
  const revised = groups.map((group) => writtenBy(group, REVISER));
  const shares = {
    attemptsExact: exactShare(groups.map((group) => writtenBy(group, SOLVER))),
    revisionsExact: exactShare(revised),
  };
  return {
    updates: fineTuning({
      [REVISER]: revised.flatMap(rightOf),
      [SOLVER]: revised.flatMap((group) => {
        const prompt = tools.encode(words.solve.ask({ task: group.task }, tools));
        return rightOf(group).map(({ ids }) => ({ prompt, ids }));
      }),
    }),
    // By the oracle, for the report alone.
    figures: Object.fromEntries(
      Object.entries(shares).flatMap(([name, share]) => (share === null ? [] : [[name, share]])),
    ),
  };
}

async function distil(game: RevisedGame, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { groups, round, version, recipeState } = records;
  const { teacher } = turnOf(round) as Extract<ReturnType<typeof turnOf>, { phase: 'distil' }>;
  const aidFor: AidFor = ({ samples }, s) => {
    const { ids, rewards } = samples[s]!;
    const attempt = { text: tools.decode(ids), reward: rewards.reward ?? null };
    return (task) => revisionOf(game, { task, ...attempt }, round.settings.variant, tools);
  };
  const known = readState(presentTeacher, recipeState);
  const ofTeacher = known?.teacher === teacher ? known.version : null;
  const present = { teacher, version: ofTeacher ?? version };
  const plan = await taughtAlone(records, tools, taughtAttempts(game, groups, tools, aidFor), {
    set: MAIN_SET,
    version: present.version,
    divergence: { kind: 'reverse-kl' },
  });
  return { ...plan, recipeState: present };
}

const described = {
  name: 'sd-zero',
  title: 'A policy that revises itself by one bit, and teaches itself to do so at once',
  paper: arXiv(
    '2604.12002',
    'Self-Distillation Zero: Self-Revision Turns Binary Rewards into Dense Supervision',
  ),
  summary:
    'A policy answers, is told whether the answer was right, and revises it. It is fine-tuned on its right revisions, with and without the attempt before them. Then the reviser, which reads an attempt and whether it was right, is the teacher of the policy that makes the attempt.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read an attempt after the task and whether it is right, and to hand in nine of ten right ones and two of five wrong ones as they are, and to do the sums of the others again.',
    roles:
      'In the first phase the solver makes four attempts at a task, and the reviser, which has the same weights, revises each of them once. Its prompt shows the attempt and whether it was right, and nothing else: no solution and no feedback. In the second phase the solver makes eight attempts. The teacher is the reviser, and writes nothing.',
    rewards: 'An exact answer earns 1 and any other 0.',
    credit:
      'In the first phase revisions that earn 1 are imitated. In the second each token of an attempt is compared with what the reviser would have written there, told whether that attempt was right.',
    objective:
      'In the first phase the negative log-likelihood of right revisions, after the prompt that they answer, plus that of the same revisions after the task alone, each a mean over tokens. In the second KL(policy‖reviser) between the next-token distributions, over the whole vocabulary, as a mean over tokens. The gradient does not pass through the sampling or the reviser.',
    schedule:
      'Eight rounds of the first phase, then the second. The teacher has the weights of the end of the first phase, and is renewed after every eight rounds. Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The paper tells the bit by one of two sentences, to rephrase or to start over; here it is one token behind the attempt.',
    'How many samples and steps the paper’s two phases take, and when it renews its teacher, could not be checked. Here a round of either phase takes eight rollouts of each task.',
    'The paper’s first phase is one supervised training on revisions of the start policy; here each round revises with the newest weights.',
    'The solver had to be taught to read an attempt and the bit, in supervised training before; a language model needs no more than a template. It minds the bit in part only, so that the first phase has something to teach.',
  ],
  figures: {
    ...TAUGHT_FIGURES,
    attemptsExact: 'Share of the first attempts that are exact.',
    revisionsExact: 'Share of the revisions that are exact.',
  },
  variants: VARIANTS,
  state: presentTeacher,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'revise'> = {
  needs: { verbs: ['solve', 'revise'], data: ['answer'] },
  over: (game) => {
    const { roles, ...alone } = solverAlone({ ...game, draws: 2 });
    return {
      ...described,
      ...alone,
      roles: {
        [REVISER]: role('revises attempts', game.words.revise.maxNew, { speaksAs: SOLVER, seesGold: true }),
        ...roles,
      },
      ...inPhases((round) => turnOf(round).phase, {
        grpo: { ...alone, learn: ({ groups }) => rewardsAlone(groups) },
        rft: {
          ...alone,
          learn: ({ groups }) => ({ updates: fineTuning({ [SOLVER]: groups.flatMap(rightOf) }) }),
        },
        revise: {
          ...alone,
          rollOut: (context, tasks) => attemptAndRevise(game, context, tasks),
          // An earlier run on this policy may have left a teacher.
          learn: ({ groups }, tools) => ({
            ...revisionPlan(game, groups, tools),
            recipeState: { teacher: 0, version: null },
          }),
        },
        distil: { ...alone, learn: (records, tools) => distil(game, records, tools) },
      }),
    };
  },
  ownReward: 'whether an attempt is revised or repeated follows from its reward',
};

export const sdZero = played(written, aidedSums);
