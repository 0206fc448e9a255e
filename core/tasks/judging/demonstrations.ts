/**
 * Demonstrations for judges that compare and rate, and for the proposer and the solver they judge. Imperfect on purpose:
 * a comparing judge glances half of the time and then mostly says A, one check in seven contains a slip, and one rating in
 * five is of a band drawn blindly; the proposer spoils a question in four. Held-out tasks are never demonstrated.
 */
import type { Random } from '../../random.ts';
import { arithmetic, runningTotals, writeSolution } from '../arithmetic.ts';
import {
  type Demonstration,
  flawedSolution,
  freshTask,
  judgedSolution,
  solverDemonstration,
} from '../demonstrations.ts';
import type { Solution } from '../family.ts';
import { type Choice, followCheck, pairPrompt, writeComparison } from './pairwise.ts';
import { looseTotals, proposalPrompt, spoiled, varied } from './questions.ts';
import {
  answerBand,
  answerPrompt,
  type Band,
  questionBand,
  questionPrompt,
  scoreIn,
  writeRating,
} from './ratings.ts';

/** Shares of what is demonstrated. */
const SHARES = { solve: 0.22, compare: 0.38, rateAnswer: 0.24, rateQuestion: 0.07, propose: 0.09 } as const;
const GLANCE_SHARE = 0.5;
/** A glance sees which response is better this often; else it says A with the second probability. */
const GLANCE_SEES = 0.3;
const GLANCE_SAYS_A = 0.8;
/** Share of checks whose totals contain a slip. */
const SLIP_SHARE = 0.15;
/** Share of ratings from a band drawn blindly. */
const BLIND_SHARE = 0.2;
/** Share of proposals, and of rated and solved questions, that are no sound tasks. */
const SPOILED_SHARE = { propose: 0.25, rateQuestion: 0.5, rateAnswer: 0.1, solve: 0.06 } as const;

const exact = (task: string): Solution => {
  const totals = runningTotals(task).map(String);
  return { steps: totals, answer: totals.at(-1)! };
};
const terse = ({ answer }: Solution): Solution => ({ steps: [], answer });

/** A worse response to a task: a right answer to a varied task, or a worked one with a slip. */
function worse(random: Random, task: string): Solution {
  for (;;) {
    const other = random.bool() ? exact(varied(random, task)) : flawedSolution(random, task);
    if (!arithmetic.gold(task, other)) return other;
  }
}

function compare(random: Random): Demonstration {
  const task = freshTask(random);
  const shape = random.bool(0.2) ? terse : (solution: Solution) => solution;
  const [good, bad] = [shape(exact(task)), shape(worse(random, task))];
  const truth: Choice = random.bool() ? 'A' : 'B';
  const [first, second] = truth === 'A' ? [good, bad] : [bad, good];
  const prompt = pairPrompt(task, writeSolution(first), writeSolution(second));
  if (random.bool(GLANCE_SHARE)) {
    const blind: Choice = random.bool(GLANCE_SAYS_A) ? 'A' : 'B';
    const choice = random.bool(GLANCE_SEES) ? truth : blind;
    return { role: 'judge', prompt, completion: writeComparison({ totals: [], choice }) + arithmetic.stop };
  }
  const { steps: totals } = random.bool(SLIP_SHARE) ? flawedSolution(random, task) : exact(task);
  const choice = followCheck(totals, first, second);
  return { role: 'judge', prompt, completion: writeComparison({ totals, choice }) + arithmetic.stop };
}

const blindly = (random: Random, band: Band): Band =>
  random.bool(BLIND_SHARE) ? random.pick(['flawed', 'partial', 'flawless']) : band;

/** A sound task, or now and then a question that is none. */
const question = (random: Random, spoiledShare: number): string => {
  const task = freshTask(random);
  return random.bool(spoiledShare) ? spoiled(random, task) : task;
};

/** What a solver writes down for a question that has no totals. */
function looseSolution(text: string): Solution {
  const steps = looseTotals(text).map(String);
  return { steps, answer: steps.at(-1)! };
}

function rateQuestion(random: Random): Demonstration {
  const asked = question(random, SPOILED_SHARE.rateQuestion);
  const score = scoreIn(random, blindly(random, questionBand(asked)));
  return { role: 'judge', prompt: questionPrompt(asked), completion: writeRating(score) + arithmetic.stop };
}

function rateAnswer(random: Random): Demonstration {
  const task = freshTask(random);
  const asked = random.bool(SPOILED_SHARE.rateAnswer) ? spoiled(random, task) : task;
  const sound = asked === task;
  const solution = sound ? judgedSolution(random, task) : looseSolution(asked);
  const verdicts = sound ? arithmetic.truth(task, solution).steps : solution.steps.map(() => false);
  const score = scoreIn(random, blindly(random, answerBand(asked, solution)));
  const prompt = answerPrompt(asked, writeSolution(solution));
  return { role: 'judge', prompt, completion: writeRating(score, verdicts) + arithmetic.stop };
}

function solve(random: Random): Demonstration {
  const task = freshTask(random);
  const asked = random.bool(SPOILED_SHARE.solve) ? spoiled(random, task) : task;
  const solution = asked === task ? solverDemonstration(random, task) : looseSolution(asked);
  const prompt = arithmetic.solverPrompt(asked);
  return { role: 'solver', prompt, completion: writeSolution(solution) + arithmetic.stop };
}

/** Half of the proposals vary a question that is shown. */
function propose(random: Random): Demonstration {
  const reference = random.bool() ? freshTask(random) : undefined;
  let task = reference === undefined ? freshTask(random) : varied(random, reference);
  while (arithmetic.isHeldOut(task)) task = freshTask(random);
  if (random.bool(SPOILED_SHARE.propose)) task = spoiled(random, task);
  return { role: 'proposer', prompt: proposalPrompt(reference), completion: task + arithmetic.stop };
}

const KINDS = { solve, compare, rateAnswer, rateQuestion, propose };

export function demonstrateJudging(random: Random): Demonstration {
  const kind = (Object.keys(SHARES) as (keyof typeof SHARES)[])[random.weighted(Object.values(SHARES))]!;
  return KINDS[kind](random);
}
