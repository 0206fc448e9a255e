/** Labels of steps without a reference: how many verdicts on one solution become one, and which verdict is then imitated. Pure functions. */
import type { Judgment } from '../../core/task-family.ts';

/** What a label is made from: every verdict’s marks, every verdict’s last word, or the first verdict alone. */
export type Consensus = 'steps' | 'outcome' | 'single';

/** More than half of the verdicts say so; a tie is no. */
const most = (said: readonly boolean[]): boolean => 2 * said.filter(Boolean).length > said.length;

/** By more than half of the verdicts: the marks that each line has [steps]. verdicts: those that can be read, at least one. */
export const majorityMarks = (verdicts: readonly Judgment[]): boolean[] =>
  verdicts[0]!.steps.map((_, line) => most(verdicts.map(({ steps }) => steps[line]!)));

/**
 * The verdict that is imitated, as its index among all; null where there is none that the consensus shares. `steps`: the first whose marks are those
 * of the majority on each line; `outcome`: the first whose last word is that of the majority; `single`: the first.
 */
export function chosenVerdict(verdicts: readonly (Judgment | null)[], consensus: Consensus): number | null {
  const read = verdicts.filter((verdict) => verdict !== null);
  if (read.length === 0) return null;
  const marks = majorityMarks(read);
  const right = most(read.map((verdict) => verdict.right));
  const agrees = (verdict: Judgment): boolean => {
    if (consensus === 'single') return true;
    if (consensus === 'outcome') return verdict.right === right;
    return verdict.steps.every((mark, line) => mark === marks[line]);
  };
  const index = verdicts.findIndex((verdict) => verdict !== null && agrees(verdict));
  return index < 0 ? null : index;
}
