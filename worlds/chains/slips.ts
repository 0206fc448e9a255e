/** Wrong lines of chains, by kind: how a static baseline corrupts, and the flaws that verifiers are examined on. Pure functions. */
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';

/**
 * `digit`: the last digit is another one. Of the kinds that are examined, `carry` is ten off, `sign` adds where the task subtracts or the other way
 * round, and `copy` takes an operand of another line.
 */
export type Slip = 'digit' | 'carry' | 'sign' | 'copy';

/** The kinds that detection is examined on; a static corrupter writes `digit` alone. */
export const UNSEEN = ['carry', 'sign', 'copy'] as const satisfies readonly Slip[];

const lineCount = (task: string): number => (task.length - 1) / 2;

/** What line `line`, from 1, makes of the total before it, with the operand of line `from`. */
function sum(before: number, task: string, line: number, from = line): number {
  const operand = Number(task[2 * from]);
  return task[2 * line - 1] === '-' ? before - operand : before + operand;
}

/** The solution whose lines follow from each other, but for line `line`, which says `said`; without one all follow. */
export function chainWith(task: string, line = 0, said = ''): Solution {
  const steps: string[] = [];
  for (let at = 1; at <= lineCount(task); at++) {
    const before = Number(at === 1 ? task[0] : steps.at(-1));
    steps.push(at === line ? said : String(sum(before, task, at)));
  }
  return { steps, answer: steps.at(-1)! };
}

/** A total at `line` that is wrong in this way, as text; null where this way makes none there. */
export function slipAt(random: Random, kind: Slip, task: string, line: number): string | null {
  const { steps } = chainWith(task);
  const right = Number(steps[line - 1]);
  const before = Number(line === 1 ? task[0] : steps[line - 2]);
  const total = (): number => {
    switch (kind) {
      case 'digit': {
        const others = Array.from({ length: 10 }, (_, digit) => digit).filter(
          (digit) => digit !== Math.abs(right) % 10,
        );
        const size = 10 * Math.floor(Math.abs(right) / 10) + random.pick(others);
        return right < 0 ? -size : size;
      }
      case 'carry':
        return right + (random.bool() ? 10 : -10);
      case 'sign':
        return 2 * before - right;
      case 'copy': {
        const others = Array.from({ length: lineCount(task) }, (_, i) => i + 1).filter((at) => at !== line);
        return sum(before, task, line, random.pick(others));
      }
    }
  };
  const said = total();
  // `+ 0`: there is no -0 among the numbers that are written.
  return said === right ? null : String(said + 0);
}

/** Could a line that says this be wrong in one of the kinds that detection is examined on? */
export function isUnseenSlip(task: string, line: number, said: string): boolean {
  const { steps } = chainWith(task);
  const right = Number(steps[line - 1]);
  const before = Number(line === 1 ? task[0] : steps[line - 2]);
  const copied = Array.from({ length: lineCount(task) }, (_, i) => sum(before, task, line, i + 1));
  const total = Number(said);
  return total !== right && [right + 10, right - 10, 2 * before - right, ...copied].includes(total);
}

/** A solution with one wrong line of this kind, at a random line where that is possible; the later lines follow from it. */
export function flawed(random: Random, kind: Slip, task: string): Solution {
  const line = () => 1 + random.int(lineCount(task));
  const { at, said } = drawUntil(
    () => {
      const at = line();
      return { at, said: slipAt(random, kind, task, at) };
    },
    (drawn) => drawn.said !== null,
  );
  return chainWith(task, at, said!);
}

/** The line of a task that is rewritten, from 1; it follows from the task. */
export const rewrittenLine = (task: string): number => 1 + new Random(`line/${task}`).int(lineCount(task));
