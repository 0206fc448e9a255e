/** What the three roles of a one-answer family are shown, given how it draws tasks and solutions; for its warm start. */
import type { Random } from '../core/random.ts';
import type { Solution, TaskFamily } from '../core/recipe/task-family.ts';
import type { Demonstration } from './demonstration.ts';
import { writeJudgment, writeSolution } from './worked.ts';

export interface RoleTexts {
  readonly family: TaskFamily;
  /** How often it is each role's part. */
  readonly shares?: { readonly solver: number; readonly judge: number; readonly proposer: number };
  /** A task on the training side. */
  readonly task: (random: Random) => string;
  /** What a proposer writes of a task; default the task itself. */
  readonly proposal?: (task: string) => string;
  /** What a solver writes: not always right, so that training has something to improve. */
  readonly solution: (random: Random, task: string) => Solution;
  /** What a judge is shown; its verdicts on that are exact. */
  readonly judged: (random: Random, task: string) => Solution;
}

const SHARES = { solver: 0.5, judge: 0.38, proposer: 0.12 } as const;

/** One role's demonstration on a new task. */
export function demonstrateRole(
  random: Random,
  { family, shares: { solver, judge, proposer } = SHARES, task: draw, ...texts }: RoleTexts,
): Demonstration {
  const role = (['solver', 'judge', 'proposer'] as const)[random.weighted([solver, judge, proposer])]!;
  const task = draw(random);
  if (role === 'proposer') {
    const proposal = texts.proposal?.(task) ?? task;
    return { role, prompt: family.proposerPrompt(), completion: proposal + family.stop };
  }
  if (role === 'solver') {
    const solution = writeSolution(texts.solution(random, task));
    return { role, prompt: family.solverPrompt(task), completion: solution + family.stop };
  }
  const solution = texts.judged(random, task);
  const verdict = writeJudgment(family.exactJudgment(task, solution));
  return { role, prompt: family.judgePrompt(task, solution), completion: verdict + family.stop };
}
