/**
 * A total interpreter: every program on every list ends within its fuel, in bounded memory, with a list or with the reason why
 * there is none. It knows nothing of the host: no eval, no clock, no randomness; equal inputs give equal outputs.
 */
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import type { Instruction, List, Program } from './language.ts';

export interface Limits {
  /** Instructions that may be executed, loop tests included. */
  readonly fuel: number;
  /** Elements a list may have at any time. */
  readonly memory: number;
  /** Largest magnitude of an element. */
  readonly magnitude: number;
}

export const LIMITS: Limits = { fuel: 200, memory: 16, magnitude: 9999 };

export interface Run {
  readonly output: List;
  /** The list after each executed instruction, loop brackets left out. */
  readonly trace: readonly List[];
  /** Instructions executed, loop tests included. */
  readonly steps: number;
}

/** Removes and returns the two top elements, lower first; null where there are not two. */
const popTwo = (list: number[]): [number, number] | null =>
  list.length < 2 ? null : (list.splice(-2) as [number, number]);

/** The list after one instruction; null where the instruction needs more elements than there are. */
function apply(instruction: Exclude<Instruction, { to: number }>, list: List): number[] | null {
  const stack = [...list];
  switch (instruction.op) {
    case '+':
      return list.map((x) => x + instruction.k);
    case '-':
      return list.map((x) => x - instruction.k);
    case '*':
      // `+ 0`: there is no -0 in this language.
      return list.map((x) => x * instruction.k + 0);
    case '>':
      return list.filter((x) => x > instruction.k);
    case '<':
      return list.filter((x) => x < instruction.k);
    case 'rev':
      return stack.reverse();
    case 'sort':
      return stack.sort((x, y) => x - y);
    case 'len':
      return [...list, list.length];
    case 'sum':
      return [list.reduce((x, y) => x + y, 0)];
    case 'dup':
      return list.length === 0 ? null : [...list, list.at(-1)!];
    case 'drop':
      return list.length === 0 ? null : list.slice(0, -1);
  }
  const pair = popTwo(stack);
  if (!pair) return null;
  const [x, y] = pair;
  switch (instruction.op) {
    case 'swap':
      return [...stack, y, x];
    case 'add':
      return [...stack, x + y];
    case 'sub':
      return [...stack, x - y];
    case 'mul':
      return [...stack, x * y + 0];
  }
}

/** Runs a program; reasons: underflow, overflow (a number too large), memory, fuel. */
export function execute(program: Program, input: List, limits: Limits = LIMITS): ParseResult<Run> {
  let list = input;
  if (list.length > limits.memory) return invalid('memory');
  const trace: List[] = [];
  let steps = 0;
  for (let at = 0; at < program.length; at++) {
    if (++steps > limits.fuel) return invalid('fuel');
    const instruction = program[at]!;
    if ('to' in instruction) {
      const goesOn = (list.at(-1) ?? 0) > 0;
      // Both brackets test, and the loop variable adds one: past the partner, or into the body again.
      if (instruction.op === '(' ? !goesOn : goesOn) at = instruction.to;
      continue;
    }
    const next = apply(instruction, list);
    if (!next) return invalid('underflow');
    if (next.length > limits.memory) return invalid('memory');
    if (next.some((x) => Math.abs(x) > limits.magnitude)) return invalid('overflow');
    list = next;
    trace.push(list);
  }
  return ok({ output: list, trace, steps });
}

/** Output as a list, or null where the program has none on this input. */
export function outputOf(program: Program, input: List): List | null {
  const run = execute(program, input);
  return run.ok ? run.value.output : null;
}

export const sameList = (a: List, b: List): boolean => a.length === b.length && a.every((x, i) => x === b[i]);

/** Lists on which programs are compared. */
const PROBES: readonly List[] = [[], [3], [-2], [1, 2], [5, 0], [4, -1, 7], [2, 2, 9], [8, -3, 0, 6]];

/** What a program does, as text: programs with equal behaviour on the probes count as one for the held-out split and for diversity. */
export const behaviourOf = (program: Program): string =>
  PROBES.map((probe) => {
    const run = execute(program, probe);
    return run.ok ? run.value.output.join(' ') : run.reason;
  }).join(';');
