/**
 * What a policy is shown of compositions before any reward, in the order in which it learns: each function alone; the walk along the calls of a
 * question, which applies nothing (read-outs); two nested calls of one half of the functions. Nothing deeper is shown solved, and the other half is
 * never shown nested. Without read-outs that are learnt without fault, training by rewards composes nothing deeper than two.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP, writeJudgment } from '../worked.ts';
import {
  composition,
  DEEPEST_TRAINED,
  exactSolution,
  isHeldOutString,
  randomCalls,
  randomString,
  randomTask,
} from './family.ts';
import { apply, FUNCTIONS, NESTED } from './functions.ts';
import { ask, readTask, writeSolution } from './text.ts';

/** How much the tokens of a question count: little, for most of them are drawn at random. */
const PROMPT_WEIGHT = 0.1;

const shown = (role: string, prompt: string, completion: string): Demonstration => ({
  role,
  prompt,
  completion: completion + STOP,
  promptWeight: PROMPT_WEIGHT,
});

/** A task and its worked solution. */
export function demonstrateSolution(random: Random, depth: 1 | 2): Demonstration {
  const task = randomTask(random, depth, depth === 1 ? FUNCTIONS : NESTED);
  return shown('solver', composition.solverPrompt(task), writeSolution(exactSolution(task)));
}

const trainedString = (random: Random) =>
  drawUntil(
    () => randomString(random),
    (text) => !isHeldOutString(text),
  );

const anyCalls = (random: Random, depth: number, functions = FUNCTIONS) =>
  drawUntil(
    () => randomCalls(random, depth, functions),
    (task) => !isHeldOutString(readTask(task)!.text),
  );

/** The calls of a question in the layout of a worked solution. Those at the indices `applied`, the innermost first, are applied; the others keep the string. */
export function readOut(task: string, applied: readonly number[] = []): string {
  const { calls, text } = readTask(task)!;
  let now = text;
  const steps = [...calls].reverse().map((call, i) => {
    if (applied.includes(i)) now = apply(call, now);
    return `${call} ${applied.includes(i) ? 'gives' : 'keeps'} ${now}. `;
  });
  return `${steps.join('')}Answer: ${now}`;
}

const anyDepth = (random: Random) => 1 + random.int(DEEPEST_TRAINED);

function demonstrateReadOut(random: Random): Demonstration {
  const task = anyCalls(random, anyDepth(random));
  return shown('solver', ask('Read out', task), readOut(task));
}

/**
 * The walk with one call applied, or two of those that are shown nested, whichever. Without it every step after the second is a copy in all that is shown, whatever
 * the question asks and the verb says, and a solution of three calls turns into a read-out.
 */
function demonstrateSomeApplied(random: Random): Demonstration {
  const depth = anyDepth(random);
  const two = depth > 1 && random.bool();
  const task = anyCalls(random, depth, two ? NESTED : FUNCTIONS);
  const applied = random.shuffle(Array.from({ length: depth }, (_, i) => i)).slice(0, two ? 2 : 1);
  return shown('solver', ask('Apply some of', task), readOut(task, applied));
}

/**
 * One step of a solution, alone: the steps before it have strings by lot, and neither they nor the call are learnt, but what the call makes of the string before. So a
 * function works at every step, and what is left to learn of a deep question is which call comes next and when to stop.
 */
function demonstrateStep(random: Random): Demonstration {
  const task = anyCalls(random, anyDepth(random));
  const { calls, text } = readTask(task)!;
  const at = random.int(calls.length);
  const inOrder = [...calls].reverse();
  const before = inOrder.slice(0, at).map((call) => ({ call, string: trainedString(random) }));
  const steps = before.map(({ call, string }) => `${call} gives ${string}. `).join('');
  const call = inOrder[at]!;
  return {
    role: 'solver',
    prompt: `${composition.solverPrompt(task)}${steps}${call} gives `,
    completion: apply(call, before.at(-1)?.string ?? text),
  };
}

/** The calls of a question by name, the innermost first. */
export function demonstrateOrder(random: Random, depth: number): Demonstration {
  const task = anyCalls(random, depth);
  return shown(
    'solver',
    ask('Name the calls of', task),
    `${[...readTask(task)!.calls].reverse().join(', ')}.`,
  );
}

/** A mistake that a solver could make: another result of a call, another call, an end too soon, or another answer; what follows from it is right. */
export function flawedSolution(random: Random, task: string): Solution {
  const { calls, text } = readTask(task)!;
  const inOrder = [...calls].reverse();
  const kind = random.pick(['result', 'call', ...(calls.length > 1 ? ['end'] : []), 'answer']);
  const at = random.int(calls.length);
  const another = (call: string) =>
    drawUntil(
      () => random.pick(FUNCTIONS),
      (other) => other !== call,
    );
  let now = text;
  const steps = inOrder.map((call, i) => {
    const made = kind !== 'answer' && kind !== 'end' && i === at ? another(call) : call;
    now = apply(made, now);
    return `${kind === 'call' ? made : call} gives ${now}`;
  });
  if (kind === 'end') steps.length = 1 + random.int(calls.length - 1);
  const last = steps.at(-1)!.slice(-text.length);
  return { steps, answer: kind === 'answer' ? apply(another(''), last) : last };
}

/** A solution of one or two calls with its exact verdicts. What the judge reads is not learnt: it would teach mistakes. */
export function demonstrateJudgment(random: Random): Demonstration {
  const depth = 1 + random.int(2);
  const task = randomTask(random, depth, depth === 1 ? FUNCTIONS : NESTED);
  const solution = random.bool() ? exactSolution(task) : flawedSolution(random, task);
  const verdicts = writeJudgment(composition.exactJudgment(task, solution));
  return { role: 'judge', prompt: composition.judgePrompt(task, solution), completion: verdicts + STOP };
}

/** Share of two calls among the tasks that the proposer is shown; none of more calls are. */
const TWO_PROPOSED = 0.2;

export function demonstrateProposal(random: Random): Demonstration {
  const [depth, functions] = random.bool(TWO_PROPOSED) ? ([2, NESTED] as const) : ([1, FUNCTIONS] as const);
  return shown('proposer', composition.proposerPrompt(), randomTask(random, depth, functions));
}

/** Demonstrations of a step, by kind. */
export interface Mix {
  /** Worked solutions of one and of two calls. */
  readonly one: number;
  readonly two: number;
  readonly orders?: number;
  readonly readOuts?: number;
  /** Walks with one or two calls applied. */
  readonly some?: number;
  /** Single steps. */
  readonly steps?: number;
  readonly proposals?: number;
  readonly judgments?: number;
}

export function demonstrateMix(random: Random, mix: Mix): Demonstration[] {
  const { one, two, orders = 0, readOuts = 0, some = 0, steps = 0, proposals = 0, judgments = 0 } = mix;
  const times = (count: number, demonstrate: () => Demonstration) =>
    Array.from({ length: count }, demonstrate);
  const orderDepth = 2 + random.int(DEEPEST_TRAINED - 1);
  return [
    ...times(one, () => demonstrateSolution(random, 1)),
    ...times(two, () => demonstrateSolution(random, 2)),
    ...times(orders, () => demonstrateOrder(random, orderDepth)),
    ...times(readOuts, () => demonstrateReadOut(random)),
    ...times(some, () => demonstrateSomeApplied(random)),
    ...times(steps, () => demonstrateStep(random)),
    ...times(proposals, () => demonstrateProposal(random)),
    ...times(judgments, () => demonstrateJudgment(random)),
  ];
}
