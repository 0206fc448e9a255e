/** Users who ask a chain and want to hear each of its totals. A policy that reads something beside a chain (aided.ts) reads what it replied last. */
import type { UserNeed, Wordings } from '../../core/game/game.ts';
import { aidedPrompt } from './aided.ts';
import { arithmetic, runningTotals } from './family.ts';

const { stop } = arithmetic;

const solutionIn = (task: string, reply: string) => arithmetic.parseSolution(task, reply + stop);

export const replyWords: Wordings<'reply'> = {
  reply: {
    maxNew: arithmetic.maxNew.solver,
    ask: ({ task, said }) => {
      const last = said.findLast(({ by }) => by === 'assistant')?.text ?? '';
      return solutionIn(task, last).ok ? aidedPrompt(task, last) : arithmetic.solverPrompt(task);
    },
    read: (text, { task }) => {
      const solution = arithmetic.parseSolution(task, text);
      return solution.ok ? { ok: true, value: text.slice(0, -stop.length) } : solution;
    },
  },
};

/** Every total of the chain, the last of which is its result. */
export const totalsWanted = (task: string): UserNeed[] =>
  runningTotals(task).map((total, at) => ({
    wants: `total ${at + 1}`,
    isMet: (reply) => {
      const said = solutionIn(task, reply);
      return said.ok && said.value.steps[at] === String(total);
    },
  }));
