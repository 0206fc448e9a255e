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
  randomString,
  randomTask,
} from './family.ts';
import { apply, FUNCTIONS, LETTERS, NESTED } from './functions.ts';
import { ask, readTask, writeSolution } from './text.ts';

/** How much the tokens of a question count: little, for most of them are drawn at random. */
const PROMPT_WEIGHT = 0.1;

const shown = (role: string, prompt: string, completion: string): Demonstration => ({
  role,
  prompt,
  completion: completion + STOP,
  promptWeight: PROMPT_WEIGHT,
});

/** Share of faults by function; empty where nothing was measured yet. */
export type Faults = Readonly<Record<string, number>>;

/** What a function without fault counts beside one that is always wrong. */
const KNOWN = 0.1;

/** A random function; one that is not known is drawn more often. */
const anyFunction = (random: Random, faults: Faults): string =>
  FUNCTIONS[random.weighted(FUNCTIONS.map((name) => KNOWN + (faults[name] ?? 1)))]!;

/** A task of one call and its worked solution. */
function demonstrateSolution(random: Random, faults: Faults): Demonstration {
  const task = randomTask(random, 1, [anyFunction(random, faults)]);
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
 * As many steps as the deepest question has, each of a random call: only what it makes of the string before is learnt, not which call comes next nor when to
 * stop, for the calls are not those of the question. So a function works at every place of a solution, however much stands before it.
 */
function demonstrateSteps(random: Random, faults: Faults): Demonstration {
  const task = anyCalls(random, anyDepth(random));
  let now = readTask(task)!.text;
  let completion = '';
  const given: [from: number, to: number][] = [];
  for (let i = 0; i < DEEPEST_TRAINED; i++) {
    const call = anyFunction(random, faults);
    now = apply(call, now);
    const from = completion.length;
    completion += `${call} gives `;
    given.push([from, completion.length]);
    completion += `${now}. `;
  }
  return { ...shown('solver', composition.solverPrompt(task), completion), completion, given };
}

/**
 * The other half of a solution: which call comes next and when to stop is learnt; the string after each call is any string, and read only. So the walk of
 * read-outs is known where something is asked, too, of questions of at most `deepest` calls.
 */
function demonstrateWalk(random: Random, deepest: number): Demonstration {
  const task = anyCalls(random, 1 + random.int(deepest));
  const { calls } = readTask(task)!;
  let completion = '';
  const given: [from: number, to: number][] = [];
  const give = (text: string) => {
    given.push([completion.length, completion.length + text.length]);
    completion += text;
  };
  for (const call of [...calls].reverse()) {
    completion += `${call} gives `;
    give(randomString(random));
    completion += '. ';
  }
  completion += 'Answer: ';
  return { ...shown('solver', composition.solverPrompt(task), completion), completion, given };
}

const otherThan = <T>(random: Random, items: readonly T[], item: T): T =>
  drawUntil(
    () => random.pick(items),
    (other) => other !== item,
  );

/** A mistake that a solver could make: a letter of a result, the result of another call, another call, a call left out, or another answer; what follows from it is right. */
function flawedSolution(random: Random, task: string): Solution {
  const { calls, text } = readTask(task)!;
  const kind = random.pick(['letter', 'result', 'call', ...(calls.length > 1 ? ['left out'] : []), 'answer']);
  const at = random.int(calls.length);
  const wrongLetter = (made: string) => {
    const i = random.int(made.length);
    return made.slice(0, i) + otherThan(random, [...LETTERS], made[i]!) + made.slice(i + 1);
  };
  let now = text;
  const steps = [...calls].reverse().flatMap((call, i) => {
    const other = i === at ? otherThan(random, FUNCTIONS, call) : call;
    if (i === at && kind === 'left out') return [];
    now = apply(kind === 'result' || kind === 'call' ? other : call, now);
    if (i === at && kind === 'letter') now = wrongLetter(now);
    return [`${kind === 'call' ? other : call} gives ${now}`];
  });
  return { steps, answer: kind === 'answer' ? wrongLetter(now) : now };
}

/** A solution to judge: every other one is right. */
export const anySolution = (random: Random, task: string): Solution =>
  random.bool() ? exactSolution(task) : flawedSolution(random, task);

/** A solution with its exact verdicts. What the judge reads is not learnt: it would teach mistakes. */
function demonstrateJudgment(random: Random): Demonstration {
  const task = randomTask(random, anyDepth(random));
  const solution = anySolution(random, task);
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
  /** Calls of solutions without what they give. */
  readonly walks: number;
  /** Most calls of the questions of walks; default 2. */
  readonly walked?: number;
  readonly proposals: number;
  readonly judgments: number;
}

export function demonstrateMix(random: Random, mix: Mix, faults: Faults = {}): Demonstration[] {
  const { solutions, steps, readOuts, walks, walked = 2, proposals, judgments } = mix;
  const times = (count: number, demonstrate: (random: Random, faults: Faults) => Demonstration) =>
    Array.from({ length: count }, () => demonstrate(random, faults));
  return [
    ...times(solutions, demonstrateSolution),
    ...times(steps, demonstrateSteps),
    ...times(readOuts, demonstrateReadOut),
    ...times(walks, () => demonstrateWalk(random, walked)),
    ...times(proposals, demonstrateProposal),
    ...times(judgments, demonstrateJudgment),
  ];
}
