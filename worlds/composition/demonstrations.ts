/**
 * What a policy is shown of compositions before any reward: each function alone; steps of any calls, so that a function works at every place of a solution; and the
 * walk along the calls of a question, which applies nothing (read-outs). A solver is shown no question of two or more calls solved.
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

/** A task of one call and its worked solution. */
function demonstrateSolution(random: Random): Demonstration {
  const task = randomTask(random, 1);
  return shown('solver', composition.solverPrompt(task), writeSolution(exactSolution(task)));
}

const anyCalls = (random: Random, depth: number) =>
  drawUntil(
    () => randomCalls(random, depth, FUNCTIONS),
    (task) => !isHeldOutString(readTask(task)!.text),
  );

/** The calls of a question in the layout of a worked solution, without applying any. */
export function readOut(task: string): string {
  const { calls, text } = readTask(task)!;
  const steps = [...calls].reverse().map((call) => `${call} keeps ${text}. `);
  return `${steps.join('')}Answer: ${text}`;
}

const anyDepth = (random: Random) => 1 + random.int(DEEPEST_TRAINED);

function demonstrateReadOut(random: Random): Demonstration {
  const task = anyCalls(random, anyDepth(random));
  return shown('solver', ask('Read out', task), readOut(task));
}

/**
 * As many steps as the deepest question has, each of a call by lot: only what it makes of the string before is learnt, not which call comes next nor when to
 * stop, for the calls are not those of the question. So a function works at every place of a solution, however much stands before it.
 */
function demonstrateSteps(random: Random): Demonstration {
  const task = anyCalls(random, anyDepth(random));
  let now = readTask(task)!.text;
  let completion = '';
  const given: [from: number, to: number][] = [];
  for (let i = 0; i < DEEPEST_TRAINED; i++) {
    const call = random.pick(FUNCTIONS);
    now = apply(call, now);
    const from = completion.length;
    completion += `${call} gives `;
    given.push([from, completion.length]);
    completion += `${now}. `;
  }
  return { ...shown('solver', composition.solverPrompt(task), completion), completion, given };
}

/** A mistake that a solver could make: another result of a call, another call, an end too soon, or another answer; what follows from it is right. */
function flawedSolution(random: Random, task: string): Solution {
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
function demonstrateJudgment(random: Random): Demonstration {
  const depth = 1 + random.int(2);
  const task = randomTask(random, depth, depth === 1 ? FUNCTIONS : NESTED);
  const solution = random.bool() ? exactSolution(task) : flawedSolution(random, task);
  const verdicts = writeJudgment(composition.exactJudgment(task, solution));
  return { role: 'judge', prompt: composition.judgePrompt(task, solution), completion: verdicts + STOP };
}

/** Shares of tasks of one, two and three calls that the proposer is shown; none of more calls are. */
const PROPOSED = [0.75, 0.22, 0.03];

function demonstrateProposal(random: Random): Demonstration {
  const depth = 1 + random.weighted(PROPOSED);
  const task = randomTask(random, depth, depth === 1 ? FUNCTIONS : NESTED);
  return shown('proposer', composition.proposerPrompt(), task);
}

/** Demonstrations of a step, by kind. */
export interface Mix {
  /** Worked solutions of one call. */
  readonly solutions: number;
  /** Steps of any calls. */
  readonly steps: number;
  readonly readOuts: number;
  readonly proposals: number;
  readonly judgments: number;
}

export function demonstrateMix(random: Random, mix: Mix): Demonstration[] {
  const { solutions, steps, readOuts, proposals, judgments } = mix;
  const times = (count: number, demonstrate: (random: Random) => Demonstration) =>
    Array.from({ length: count }, () => demonstrate(random));
  return [
    ...times(solutions, demonstrateSolution),
    ...times(steps, demonstrateSteps),
    ...times(readOuts, demonstrateReadOut),
    ...times(proposals, demonstrateProposal),
    ...times(judgments, demonstrateJudgment),
  ];
}
