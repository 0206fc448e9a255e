/**
 * A warm start for a policy that rates, proposes and solves, and whose solver answers questions that have no answer: it guesses, or it writes totals
 * until it is cut off. For sound questions it mostly writes its steps, and sometimes it guesses. Rating and proposing are demonstrated as in the
 * judging start (judge-demonstrations.ts), with more unsound questions.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { type Demonstration, freshTask, solverDemonstration } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';
import { proposeSpoiling, rateAnswer, rateQuestion } from './judge-demonstrations.ts';
import { looseTotals, spoiled } from './questions.ts';

const SHARES = { solve: 0.5, rateAnswer: 0.27, rateQuestion: 0.08, propose: 0.15 } as const;
/** Share of unsound tasks among solved questions and proposals. */
const SPOILED_SHARE = { solve: 0.25, propose: 0.5 } as const;
/** Share of the questions without an answer to which the solver guesses one; for the others it writes more totals than an answer may have. */
const GUESS_SHARE = 0.35;
const ENDLESS_STEPS = 14;
/** Share of sound questions that are answered without steps, half of them wrongly. */
const TERSE_SHARE = 0.3;

function takeUnsound(random: Random, question: string): Solution {
  const totals = looseTotals(question).map(String);
  const steps = Array.from({ length: ENDLESS_STEPS }, (_, i) => totals[i % totals.length]!);
  return { steps: random.bool(GUESS_SHARE) ? [] : steps, answer: totals.at(-1)! };
}

function solve(random: Random): Demonstration {
  const task = freshTask(random);
  const asked = random.bool(SPOILED_SHARE.solve) ? spoiled(random, task) : task;
  const solution =
    asked === task ? solverDemonstration(random, task, TERSE_SHARE) : takeUnsound(random, asked);
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(asked),
    completion: writeSolution(solution) + arithmetic.stop,
  };
}

const KINDS = {
  solve,
  rateAnswer,
  rateQuestion,
  propose: (random: Random) => proposeSpoiling(random, SPOILED_SHARE.propose),
};

export function demonstrateOverthinking(random: Random): Demonstration {
  const kind = (Object.keys(SHARES) as (keyof typeof SHARES)[])[random.weighted(Object.values(SHARES))]!;
  return KINDS[kind](random);
}
