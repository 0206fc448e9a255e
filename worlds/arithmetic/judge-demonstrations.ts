/**
 * Demonstrations for judges that compare and rate, and for the proposer and the solver that they judge. They are imperfect on purpose: nearly half of
 * the comparing judge’s verdicts have no check, and then it mostly prefers A; one check in seven has a wrong total; one rating of an answer in five,
 * and three ratings of a question in five, are drawn at random; two proposed questions in five are unsound. Held-out tasks are never demonstrated.
 */
import type { Choice } from '../../core/game/verbs.ts';
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import {
  type Demonstration,
  flawedSolution,
  freshTask,
  judgedSolution,
  solverDemonstration,
} from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';
import { type Comparison, followCheck, pairPrompt, writeComparison } from './pairwise.ts';
import { looseTotals, proposalPrompt, spoiled, varied } from './questions.ts';
import { answerPrompt, type Band, questionBand, questionPrompt, scoreIn, writeRating } from './ratings.ts';

/** Shares of the kinds of demonstrations. */
const SHARES = { solve: 0.26, compare: 0.4, rateAnswer: 0.2, rateQuestion: 0.06, propose: 0.08 } as const;
const GLANCE_SHARE = 0.45;
/** Probability that a verdict without a check names the better response; otherwise it is A with the second probability. */
const GLANCE_SEES = 0.3;
const GLANCE_SAYS_A = 0.8;
/** Share of checks with a wrong total. */
const SLIP_SHARE = 0.15;
/** Share of ratings whose band is drawn at random, by the kind of what is rated. */
const BLIND_SHARE = { answer: 0.2, question: 0.6 } as const;
/** Share of unsound tasks among proposals, and among the questions that are rated and solved. */
const SPOILED_SHARE = { propose: 0.4, rateQuestion: 0.5, rateAnswer: 0.1, solve: 0.06 } as const;

const exact = (task: string): Solution => {
  const totals = runningTotals(task).map(String);
  return { steps: totals, answer: totals.at(-1)! };
};

/** The totals of a check of a task: exact, or with one wrong total. */
const checked = (random: Random, task: string): readonly string[] =>
  (random.bool(SLIP_SHARE) ? flawedSolution(random, task) : exact(task)).steps;

/** A worse answer to a task: the right answer to a slightly different task, or one that follows from a wrong total. */
function worseAnswer(random: Random, task: string): string {
  for (;;) {
    const { answer } = random.bool() ? exact(varied(random, task)) : flawedSolution(random, task);
    if (answer !== exact(task).answer) return answer;
  }
}

function compare(random: Random): Demonstration {
  const task = freshTask(random);
  const [good, bad] = [exact(task).answer, worseAnswer(random, task)];
  const truth: Choice = random.bool() ? 'A' : 'B';
  const [first, second] = truth === 'A' ? [good, bad] : [bad, good];
  const demonstrated = (comparison: Comparison): Demonstration => ({
    role: 'judge',
    prompt: pairPrompt(task, first, second),
    completion: writeComparison(comparison) + arithmetic.stop,
  });
  if (random.bool(GLANCE_SHARE)) {
    const blind: Choice = random.bool(GLANCE_SAYS_A) ? 'A' : 'B';
    return demonstrated({ totals: [], choice: random.bool(GLANCE_SEES) ? truth : blind });
  }
  const totals = checked(random, task);
  return demonstrated({ totals, choice: followCheck(totals, first, second) ?? random.pick(['A', 'B']) });
}

const blindly = (random: Random, band: Band, share: number): Band =>
  random.bool(share) ? random.pick(['flawed', 'partial', 'flawless']) : band;

/** A sound task, or sometimes a question that has no answer. */
const question = (random: Random, spoiledShare: number): string => {
  const task = freshTask(random);
  return random.bool(spoiledShare) ? spoiled(random, task) : task;
};

/** The totals that a solver writes for a question that has none. */
function looseSolution(text: string): Solution {
  const steps = looseTotals(text).map(String);
  return { steps, answer: steps.at(-1)! };
}

export function rateQuestion(random: Random): Demonstration {
  const asked = question(random, SPOILED_SHARE.rateQuestion);
  const score = scoreIn(random, blindly(random, questionBand(asked), BLIND_SHARE.question));
  return { role: 'judge', prompt: questionPrompt(asked), completion: writeRating(score) + arithmetic.stop };
}

/** The score follows from the check: a check with a wrong total rates a right answer low. */
export function rateAnswer(random: Random): Demonstration {
  const task = freshTask(random);
  const asked = random.bool(SPOILED_SHARE.rateAnswer) ? spoiled(random, task) : task;
  const sound = asked === task;
  const { answer } = sound ? judgedSolution(random, task) : looseSolution(asked);
  const totals = sound ? checked(random, task) : looseSolution(asked).steps;
  const matches = sound && answer === totals.at(-1);
  const score = scoreIn(random, blindly(random, matches ? 'flawless' : 'flawed', BLIND_SHARE.answer));
  const completion = writeRating(score, { totals, matches }) + arithmetic.stop;
  return { role: 'judge', prompt: answerPrompt(asked, answer), completion };
}

function solve(random: Random): Demonstration {
  const task = freshTask(random);
  const asked = random.bool(SPOILED_SHARE.solve) ? spoiled(random, task) : task;
  const solution = asked === task ? solverDemonstration(random, task) : looseSolution(asked);
  const prompt = arithmetic.solverPrompt(asked);
  return { role: 'solver', prompt, completion: writeSolution(solution) + arithmetic.stop };
}

/** Half of the demonstrated proposals are variations of a question in the prompt. */
export function proposeSpoiling(random: Random, spoiledShare: number): Demonstration {
  const reference = random.bool() ? freshTask(random) : undefined;
  let task = reference === undefined ? freshTask(random) : varied(random, reference);
  while (arithmetic.isHeldOut(task)) task = freshTask(random);
  if (random.bool(spoiledShare)) task = spoiled(random, task);
  return { role: 'proposer', prompt: proposalPrompt(reference), completion: task + arithmetic.stop };
}

const propose = (random: Random) => proposeSpoiling(random, SPOILED_SHARE.propose);

const KINDS = { solve, compare, rateAnswer, rateQuestion, propose };

export function demonstrateJudging(random: Random): Demonstration {
  const kind = (Object.keys(SHARES) as (keyof typeof SHARES)[])[random.weighted(Object.values(SHARES))]!;
  return KINDS[kind](random);
}
