/** What a start of the world `composition` must be able to do: every part of a composition without fault, and the whole not too often, so that rewards have something to teach. */
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import type { Seen } from '../stage.ts';
import { STOP } from '../worked.ts';
import { anySolution, readOut } from './demonstrations.ts';
import { composition, DEEPEST_TRAINED, depthOf, examOf } from './family.ts';
import { FUNCTIONS, NESTED } from './functions.ts';
import { ask, parseSolution } from './text.ts';

/** Tasks that a share is measured on. */
const TASKS = 128;
const PROPOSALS = 4096;

/** The tasks that evaluations ask, by their side of the split. */
const asked = (heldOut: boolean) => new Set(composition.heldOut({ heldOut, most: Number.POSITIVE_INFINITY }));

/** Tasks to measure a start by, none of which an evaluation asks; those that are not held out may have been shown. */
function tasksOf(depth: number, functions: readonly string[], count: number, heldOut = true): string[] {
  const evaluated = asked(heldOut);
  return examOf(depth, functions, { heldOut, most: 256 })
    .filter((task) => !evaluated.has(task))
    .slice(0, count);
}

interface Sampling {
  readonly maxNew: number;
  readonly temperature: number;
  readonly draws: number;
}

/** Texts of `draws` completions of each prompt [prompts][draws]. */
async function textsOf(
  { tokenizer, generate }: AskedPolicy,
  prompts: readonly string[],
  { maxNew, temperature, draws }: Sampling,
): Promise<string[][]> {
  const made = await generate(
    prompts.map((prompt, p) => ({
      ids: tokenizer.encode(prompt),
      sampleIds: Array.from({ length: draws }, (_, d) => `gate/${p}/${d}`),
    })),
    { maxNew, temperature, stop: [tokenizer.id(STOP)] },
  );
  return made.map((completions) => completions.map(({ ids }) => tokenizer.decode(ids)));
}

const GREEDY = { temperature: 0, draws: 1 };

/** Share of the solutions of each task that have every step right [tasks]. */
async function solved(policy: AskedPolicy, tasks: readonly string[], sampling = GREEDY): Promise<number[]> {
  const settings = { maxNew: composition.maxNew.solver, ...sampling };
  const texts = await textsOf(policy, tasks.map(composition.solverPrompt), settings);
  return texts.map((solutions, t) =>
    mean(
      solutions.map((text) => {
        const parsed = parseSolution(text);
        return Number(parsed.ok && composition.exactJudgment(tasks[t]!, parsed.value).right);
      }),
    ),
  );
}

/** Share of right results by function, each applied alone. */
async function functionsOf(policy: AskedPolicy, count: number, heldOut?: boolean) {
  const tasks = FUNCTIONS.flatMap((name) => tasksOf(1, [name], count, heldOut));
  const right = await solved(policy, tasks);
  return FUNCTIONS.map((name) => ({
    name,
    right: mean(right.filter((_, t) => tasks[t]!.startsWith(name))),
  }));
}

const DEPTHS = Array.from({ length: DEEPEST_TRAINED }, (_, i) => i + 1);

/** Share of right read-outs by depth, from 1. */
async function readOutsOf(policy: AskedPolicy, count: number, heldOut?: boolean): Promise<number[]> {
  const tasks = DEPTHS.flatMap((depth) => tasksOf(depth, FUNCTIONS, count, heldOut));
  const settings = { maxNew: composition.maxNew.solver, ...GREEDY };
  const prompts = tasks.map((task) => ask('Read out', task));
  const texts = await textsOf(policy, prompts, settings);
  const right = texts.map(([text], t) => Number(text === readOut(tasks[t]!) + STOP));
  return DEPTHS.map((depth) => mean(right.filter((_, t) => depthOf(tasks[t]!) === depth)));
}

/** What the proposer writes: the shares that are tasks, whether or not they may be used, and that have three calls. */
async function proposalsOf(policy: AskedPolicy) {
  const settings = { maxNew: composition.maxNew.proposer, temperature: 1, draws: PROPOSALS };
  const [texts] = await textsOf(policy, [composition.proposerPrompt()], settings);
  const depths = texts!.map((text) => depthOf(text.slice(0, -STOP.length)));
  return {
    wellFormed: mean(depths.map((depth) => Number(depth > 0 && depth <= DEEPEST_TRAINED))),
    three: mean(depths.map((depth) => Number(depth === 3))),
  };
}

/** What the judge says of solutions of every depth: the shares that are verdicts, and that are right of right and of wrong solutions. */
async function judgmentsOf(policy: AskedPolicy) {
  const random = new Random('composition/gates/judge');
  const items = DEPTHS.flatMap((depth) => tasksOf(depth, FUNCTIONS, TASKS)).map((task) => ({
    task,
    solution: anySolution(random, task),
  }));
  const settings = { maxNew: composition.maxNew.judge, ...GREEDY };
  const prompts = items.map(({ task, solution }) => composition.judgePrompt(task, solution));
  const texts = await textsOf(policy, prompts, settings);
  const judged = items.map(({ task, solution }, i) => {
    const parsed = composition.parseJudgment(solution, texts[i]![0]!);
    const { right } = composition.exactJudgment(task, solution);
    return { parsed: Number(parsed.ok), right, hit: Number(parsed.ok && parsed.value.right === right) };
  });
  const hits = (right: boolean) => mean(judged.filter((one) => one.right === right).map(({ hit }) => hit));
  return { wellFormed: mean(judged.map(({ parsed }) => parsed)), right: hits(true), wrong: hits(false) };
}

/** Least share of what every start must do without fault. */
const FAULTLESS = 0.95;

/** Every function and the walk. */
async function* partsOf(policy: AskedPolicy): AsyncGenerator<Gate> {
  for (const { name, right } of await functionsOf(policy, TASKS / 2))
    yield { description: `${name} alone, greedy`, value: right, least: FAULTLESS };
  const walked = await readOutsOf(policy, TASKS);
  for (const [i, value] of walked.entries())
    yield { description: `read-outs of ${i + 1} calls, greedy`, value, least: FAULTLESS };
}

/** The forms of proposals and judgments. */
async function* rolesOf(policy: AskedPolicy): AsyncGenerator<Gate> {
  const judgments = await judgmentsOf(policy);
  yield { description: 'judgments that are verdicts', value: judgments.wellFormed, least: FAULTLESS };
  yield { description: 'right solutions that are judged right', value: judgments.right };
  yield { description: 'wrong solutions that are judged wrong', value: judgments.wrong };
  const proposals = await proposalsOf(policy);
  yield { description: 'proposals that are tasks', value: proposals.wellFormed, least: FAULTLESS };
  yield { description: 'proposals of three calls', value: proposals.three, least: 0.001 };
}

/** What it puts together: enough for rewards to begin from, and not what they are to teach. */
async function* wholeOf(policy: AskedPolicy): AsyncGenerator<Gate> {
  const sampled = { temperature: 1, draws: 4 };
  const two = await solved(policy, tasksOf(2, NESTED, TASKS), sampled);
  yield { description: 'two calls, sampled', value: mean(two), least: 0.6 };
  const three = await solved(policy, tasksOf(3, NESTED, TASKS), sampled);
  yield { description: 'three calls, sampled', value: mean(three), least: 0.03, aim: 0.1, most: 0.5 };
  const four = await solved(policy, tasksOf(4, NESTED, TASKS));
  yield { description: 'four calls, greedy', value: mean(four), most: 0.3 };
}

const KINDS = [partsOf, rolesOf, wholeOf];

export async function gates(policy: AskedPolicy): Promise<Gate[]> {
  const all: Gate[] = [];
  for (const kind of KINDS) for await (const gate of kind(policy)) all.push(gate);
  return all;
}

const percent = (share: number) => `${Math.round(100 * share)}`;

/** Does it know every function and the walk? Asked on strings that are not held out, for what is not known is shown more. */
export async function seeParts(policy: AskedPolicy): Promise<Seen> {
  const functions = await functionsOf(policy, TASKS / 4, false);
  const walked = await readOutsOf(policy, TASKS / 4, false);
  const unknown = functions.filter(({ right }) => right < FAULTLESS);
  return {
    done: unknown.length === 0 && walked.every((share) => share >= FAULTLESS),
    said: `unknown: ${unknown.map(({ name, right }) => `${name} ${percent(right)}`).join(' ') || 'none'}; read-outs ${walked.map(percent).join(' ')}`,
    faults: Object.fromEntries(functions.map(({ name, right }) => [name, 1 - right])),
  };
}

/** Can it do as much as it must of some kinds? It may do more already. Measures no further than to the first thing that is missing. */
const seeing =
  (kinds: typeof KINDS) =>
  async (policy: AskedPolicy): Promise<Seen> => {
    const { faults } = await seeParts(policy);
    for (const kind of kinds)
      for await (const { description, value, least = 0, aim = least } of kind(policy))
        if (value < aim) return { done: false, said: `missing: ${description} ${percent(value)}`, faults };
    return { done: true, said: 'nothing is missing', faults };
  };

/** The parts, and the forms of the roles. */
export const seeRoles = seeing([partsOf, rolesOf]);
/** All that a start must be able to do. */
export const seeAll = seeing(KINDS);
