/**
 * What a policy is shown of compositions before any reward, in the order in which it learns: each function alone; the walk along the calls of a
 * question, which applies nothing (read-outs); two nested calls of one half of the functions. Nothing deeper is shown solved, and the other half is
 * never shown nested. Without read-outs that are learnt without fault, training by rewards composes nothing deeper than two.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import type { Stage } from '../stage.ts';
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

/** A task and its worked solution. */
export function demonstrateSolution(random: Random, depth: 1 | 2): Demonstration {
  const task = randomTask(random, depth, depth === 1 ? FUNCTIONS : NESTED);
  return shown('solver', composition.solverPrompt(task), writeSolution(exactSolution(task)));
}

const anyCalls = (random: Random, depth: number) =>
  drawUntil(
    () => randomCalls(random, depth, FUNCTIONS),
    (task) => !isHeldOutString(readTask(task)!.text),
  );

/**
 * Two wordings of the walk, by their shares. Were there one, its verb would be what every step after the second has, whatever the question asks, and a solution
 * of three calls would turn into a read-out.
 */
const WALKS = [
  { asks: 'Read out', verb: 'keeps' },
  { asks: 'Spell out', verb: 'has' },
] as const;
const WALK_SHARES = [2, 1];

/** The calls of a question in the layout of a worked solution, with the string as it is. */
export function readOut(task: string, verb: (typeof WALKS)[number]['verb'] = 'keeps'): string {
  const { calls, text } = readTask(task)!;
  return `${[...calls]
    .reverse()
    .map((call) => `${call} ${verb} ${text}. `)
    .join('')}Answer: ${text}`;
}

export function demonstrateReadOut(random: Random, depth: number): Demonstration {
  const task = anyCalls(random, depth);
  const { asks, verb } = WALKS[random.weighted(WALK_SHARES)]!;
  return shown('solver', ask(asks, task), readOut(task, verb));
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
  readonly proposals?: number;
  readonly judgments?: number;
}

export function demonstrateMix(random: Random, mix: Mix): Demonstration[] {
  const { one, two, orders = 0, readOuts = 0, proposals = 0, judgments = 0 } = mix;
  const times = (count: number, demonstrate: () => Demonstration) =>
    Array.from({ length: count }, demonstrate);
  const orderDepth = 2 + random.int(DEEPEST_TRAINED - 1);
  const readDepth = 1 + random.int(DEEPEST_TRAINED);
  return [
    ...times(one, () => demonstrateSolution(random, 1)),
    ...times(two, () => demonstrateSolution(random, 2)),
    ...times(orders, () => demonstrateOrder(random, orderDepth)),
    ...times(readOuts, () => demonstrateReadOut(random, readDepth)),
    ...times(proposals, () => demonstrateProposal(random)),
    ...times(judgments, () => demonstrateJudgment(random)),
  ];
}

const stage = (
  steps: number,
  learningRate: number,
  decay: Stage['decay'],
  mix: Mix,
): Stage & { readonly mix: Mix } => ({
  steps,
  learningRate,
  decay,
  demonstrate: (random) => demonstrateMix(random, mix),
  mix,
});

/**
 * One and a half million tokens. Two nested calls go from a guess to a skill within a hundred steps of the third stage; read-outs become faultless at one depth
 * after the other in the fourth, to which they matter; the last one adds the roles that do not solve.
 */
const STAGES = [
  stage(600, 3e-3, [540, 900], { one: 48, two: 2, orders: 4 }),
  stage(160, 1.5e-3, [100, 200], { one: 24, two: 4, readOuts: 10 }),
  stage(320, 2e-3, [224, 320], { one: 16, two: 8, readOuts: 8 }),
  stage(240, 1.5e-3, [192, 320], { one: 16, two: 2, readOuts: 12 }),
  stage(240, 1e-3, [120, 240], { one: 12, two: 2, readOuts: 8, proposals: 12, judgments: 8 }),
];
export const compositionStages: readonly Stage[] = STAGES;

/** A demonstration of any of the stages. */
export const demonstrateComposition = (random: Random): Demonstration =>
  random.pick(demonstrateMix(random, random.pick(STAGES).mix));
