/** azr: one set of weights proposes questions about programs and solves them; an interpreter is the only teacher. */
import type { PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { taskRelative } from '../../core/rl/estimators/index.ts';
import { interiorDifficulty } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AnswerReward } from '../../protocols/answer-rewards.ts';
import { coinOf } from '../../protocols/gold.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { paidByRate, solveRate } from '../../protocols/proposals.ts';
import { creditedItems, policyPart, rewardOf, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import { KINDS, kindOf } from '../../worlds/programs/family.ts';
import { programPlay } from './program-play.ts';
import { bufferOf, grown, PROPOSER, programBuffer, programFigures } from './proposed-programs.ts';

/** The reward of an answer that parses, by whether it is right. */
const composite = (right: boolean): number => (right ? 1 : -0.5);

/** `rate` is null where the solver's success rate is not known; a held-out question has no reward. */
export function proposerReward(outcome: Outcome, rate: number | null): number | null {
  if (outcome === 'held-out') return null;
  if (outcome !== 'ok') return -1;
  return rate === null ? null : interiorDifficulty(rate) || -0.5;
}

const OUT_OF_FORM = -1;
const rewards: Readonly<Record<string, AnswerReward>> = {
  executor: {
    description: 'the interpreter confirms the answer',
    usesGold: true,
    pay: ({ answersExact }) =>
      answersExact().map((right) => (right === null ? OUT_OF_FORM : composite(right))),
  },
  format: {
    description: 'control: any well-formed answer is right',
    usesGold: false,
    pay: ({ solutions }) => solutions.map(({ ok }) => (ok ? composite(true) : OUT_OF_FORM)),
  },
  random: {
    description: 'control: a coin says whether a well-formed answer is right',
    usesGold: false,
    pay: ({ group, solutions }) =>
      solutions.map(({ ok }, i) => (ok ? composite(coinOf(group.samples[i]!.id)) : OUT_OF_FORM)),
  },
};

const shape = (variant?: string) => ({
  kinds: variant === 'no-induction' ? KINDS.slice(0, 2) : KINDS,
  referenced: variant !== 'no-references',
});

function learn({ round, proposals, groups, recipeState }: RoundRecords): TrainingPlan {
  const { variant } = round.settings;
  const all = [
    ...proposals.samples.map((sample) => ({ sample, kind: sample.about })),
    ...groups.flatMap(({ task, samples }) => samples.map((sample) => ({ sample, kind: kindOf(task) }))),
  ];
  const samples = all.map(({ sample }) => sample);
  const streams = all.map(({ sample, kind }) => (variant === 'pooled' ? 'all' : `${sample.role}/${kind}`));
  const items = creditedItems(samples, samples.map(rewardOf), streams, taskRelative);
  const part = (role: string): PolicyPart =>
    policyPart(
      role,
      items.filter(({ sample }) => sample.role === role),
      ppoClip(0.28),
    );
  const fresh = groups.filter(({ proposal }) => proposal !== null);
  const interior = fresh.map(({ samples }) => Number(interiorDifficulty(solveRate(samples) ?? 0) > 0));
  const buffer = grown(
    bufferOf(recipeState),
    fresh.map(({ task }) => task),
    shape(variant).kinds,
  );
  return {
    updates: [{ set: MAIN_SET, parts: [part(PROPOSER), part(SOLVER)] }],
    recipeState: buffer,
    figures: { ...programFigures(proposals, fresh, buffer), interior: mean(interior) },
  };
}

export const azr: WithoutSetup = {
  name: 'azr',
  title: 'Proposer and solver of programs over an interpreter, without any data',
  paper: arXiv('2505.03335', 'Absolute Zero: Reinforced Self-play Reasoning with Zero Data'),
  summary:
    'One policy proposes questions about small programs beside programs it proposed earlier, and solves them. The interpreter says which questions are valid and which answers are right. The proposer is paid for questions that the solver sometimes fails, the solver for right answers, each of the six streams against its own mean.',
  method: {
    setting:
      'Questions are about short programs over lists of numbers. There are three kinds: deduction (what comes out), abduction (what went in) and induction (which program it was). An interpreter is the only teacher, and no question is supplied by hand. The start policy asks little and short, and slips the more the longer a program is.',
    roles:
      'The proposer sees up to three programs of a buffer of earlier valid questions and writes a new question, as many of each kind. The solver attempts each valid question as many times as the group is large; stored questions of the same kind take the places of invalid ones.',
    rewards:
      'The solver earns 1 for an answer that the interpreter confirms, -0.5 for another, and -1 for text that is not well-formed. The proposer earns 1 - s where the solver’s success rate s on its question lies strictly between 0 and 1, -0.5 where s is 0 or 1, and -1 for an invalid question. Questions about held-out programs have no reward.',
    credit:
      'Rewards are whitened in six streams, one for each role and kind, because the kinds differ in how hard they are (task-relative REINFORCE++).',
    objective:
      'A clipped policy gradient for both roles, ratios in [0.8, 1.28], with a mean over each role’s tokens. There is no KL term.',
    schedule:
      'Each round proposes, solves and makes one update of the shared weights. The round’s valid questions enter the buffer, which keeps the newest 1,024 of a kind.',
  },
  needsOfTasks: { datum: 'interpreter', which: 'programs that the policy writes and an interpreter runs' },
  differences: [
    'The solver trains on the attempts that price the proposals, a group each; the paper draws one further answer to each task.',
    'Three references instead of six, as many as fit; an induction hides four of eight examples, has to get the four shown ones right as well, and carries no message. A buffer holds 1,024 questions of a kind, not 16,384; a stream has 16 prompts a round, not 64.',
    'The buffer starts from one program, +1, since the identity is held out, and grows while training; the paper first lets the untrained proposer fill it.',
    'Outside the held-out programs any valid question counts, repeated ones and copies of a reference too; each role’s tokens have their own mean in the loss, and rewards are centred and scaled over answers, not over their tokens.',
    'The start is taught to ask little and short without references, and to slip the more the longer a program is.',
  ],
  figures: {
    valid: 'Share of the proposals that are valid questions.',
    distinct: 'Number of different behaviours among the round’s new programs, divided by their number.',
    known: 'Number of different behaviours among the programs in the buffer.',
    difficulty: 'Mean difficulty of the round’s new questions: the number of instructions of their program.',
    interior: 'Share of the new questions that some attempts solve and others do not.',
    deduction: 'Held-out greedy accuracy on deduction: which output a program gives.',
    deductionSampled: 'The same accuracy where answers are sampled.',
    abduction: 'Held-out greedy accuracy on abduction: an input that gives the shown output.',
    abductionSampled: 'The same accuracy where answers are sampled.',
    induction: 'Held-out greedy accuracy on induction: a program that gives the shown outputs.',
    inductionSampled: 'The same accuracy where answers are sampled.',
  },
  state: programBuffer,
  variants: {
    'no-references': 'the proposer of deduction and abduction is shown no earlier programs',
    'no-induction': 'deduction and abduction alone',
    pooled: 'one baseline for all six streams',
  },
  sets: trainedSolver({ learningRate: 3e-4, warmup: 6, minibatches: 3 }),
  payProposals: paidByRate(proposerReward),
  learn,
  ...programPlay({ rewards, shape }),
};
