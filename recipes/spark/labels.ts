/**
 * Labels of steps without a reference: how many verdicts on one solution become a label, and which verdict the verifier is then fine-tuned on. Pure
 * functions.
 */
import type { Judgment } from '../../core/recipe/task-family.ts';

/** What a label is made from: the marks of every verdict, the final verdict of each, or the first verdict alone. */
export type Consensus = 'steps' | 'outcome' | 'single';

/** Whether more than half of the verdicts say so; a tie counts as no. */
const most = (said: readonly boolean[]): boolean => 2 * said.filter(Boolean).length > said.length;

/** The marks that more than half of the verdicts give each line [steps]. verdicts: those that parse, at least one. */
export const majorityMarks = (verdicts: readonly Judgment[]): boolean[] =>
  verdicts[0]!.steps.map((_, line) => most(verdicts.map(({ steps }) => steps[line]!)));

/**
 * The index of the verdict that is trained on; null where no verdict agrees with the consensus. `steps`: the first whose marks are the majority's on
 * each line; `outcome`: the first whose final verdict is the majority's; `single`: the first.
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
