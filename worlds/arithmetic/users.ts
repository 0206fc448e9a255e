/** Users who ask a chain and want to hear each of its totals. A policy that reads something beside a chain (aided.ts) reads what it replied last. */
import type { UserNeed, Wordings } from '../../core/game/game.ts';
import { ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { aidedPrompt, referenceSolution } from './aided.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';

const { stop } = arithmetic;

const solutionIn = (task: string, reply: string) => arithmetic.parseSolution(task, reply + stop);

function replyIn(task: string, text: string): ParseResult<string> {
  const solution = arithmetic.parseSolution(task, text);
  return solution.ok ? ok(text.slice(0, -stop.length)) : solution;
}

export const replyWords: Wordings<'reply' | 'coach'> = {
  reply: {
    maxNew: arithmetic.maxNew.solver,
    ask: ({ task, said }) => {
      const last = said.findLast(({ by }) => by === 'assistant')?.text ?? '';
      return solutionIn(task, last).ok ? aidedPrompt(task, last) : arithmetic.solverPrompt(task);
    },
    read: (text, { task }) => replyIn(task, text),
  },
  /** It reads the right totals in place of what was replied last: it was taught to read one thing beside a chain. */
  coach: {
    maxNew: arithmetic.maxNew.solver,
    ask: ({ task }) => aidedPrompt(task, writeSolution(referenceSolution(task))),
    read: (text, { task }) => replyIn(task, text),
  },
};

/** Every total of the chain, the last of which is its result. */
export const totalsWanted = (task: string): UserNeed[] =>
  runningTotals(task).map((total, at) => ({
    wants: `total ${at + 1}`,
    told: String(total),
    isMet: (reply) => {
      const said = solutionIn(task, reply);
      return said.ok && said.value.steps[at] === String(total);
    },
  }));
