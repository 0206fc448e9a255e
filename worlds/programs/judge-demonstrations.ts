/**
 * A warm start for a judge of answers to questions about programs: every second answer that it is shown has an error, and it marks each step and the
 * whole. The proposer and the solver of the plain warm start are demonstrated, too, so that one policy can play all three roles.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP, writeJudgment } from '../worked.ts';
import { demonstratePrograms, programSolution } from './demonstrations.ts';
import { KINDS, programs, taskOf } from './family.ts';
import { randomQuestion } from './questions.ts';

const JUDGE_SHARE = 0.6;
/** Share of the answers shown that have an error; a few of those are right all the same. */
const SLIP_SHARE = 0.5;

function judge(random: Random): Demonstration {
  const kind = random.pick(KINDS);
  const question = randomQuestion(kind, random);
  const task = taskOf(kind, question);
  const solution = programSolution(random, kind, question, SLIP_SHARE);
  return {
    role: 'judge',
    prompt: programs.judgePrompt(task, solution),
    completion: writeJudgment(programs.exactJudgment(task, solution)) + STOP,
  };
}

export const demonstrateProgramJudge = (random: Random): Demonstration =>
  random.bool(JUDGE_SHARE) ? judge(random) : demonstratePrograms(random);
