/** What a start of the world `composition` must be able to do: every part of a composition without fault, and the whole not too often, so that rewards have something to teach. */
import { mean } from '../../core/rl/statistics.ts';
import { passAtK } from '../../core/statistics/pass-at-k.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { readOut } from './demonstrations.ts';
import { composition, DEEPEST_TRAINED, depthOf, examOf } from './family.ts';
import { ALONE, FUNCTIONS, NESTED } from './functions.ts';
import { ask, parseSolution } from './text.ts';

/** Tasks that a share is measured on. */
const TASKS = 128;
const PROPOSALS = 4096;
const PASSES = 64;

/** Tasks for measurement of a depth, none of which an evaluation asks. */
const tasksOf = (depth: number, functions: readonly string[]) =>
  examOf(depth, functions, { heldOut: true, most: 2 * TASKS }).slice(TASKS);

/** Texts of `draws` completions of each prompt [prompts][draws]. */
async function textsOf(
  { tokenizer, generate }: AskedPolicy,
  prompts: readonly string[],
  { maxNew, temperature, draws }: { maxNew: number; temperature: number; draws: number },
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

/** How many of `draws` solutions of each task have every step right [tasks]. */
async function rightOf(policy: AskedPolicy, tasks: readonly string[], temperature: number, draws = 1) {
  const settings = { maxNew: composition.maxNew.solver, temperature, draws };
  const texts = await textsOf(policy, tasks.map(composition.solverPrompt), settings);
  return texts.map(
    (solutions, t) =>
      solutions.filter((text) => {
        const parsed = parseSolution(text);
        return parsed.ok && composition.exactJudgment(tasks[t]!, parsed.value).right;
      }).length,
  );
}

async function readOutsOf(policy: AskedPolicy, depth: number): Promise<number> {
  const tasks = tasksOf(depth, FUNCTIONS);
  const settings = { maxNew: composition.maxNew.solver, temperature: 0, draws: 1 };
  const texts = await textsOf(
    policy,
    tasks.map((task) => ask('Read out', task)),
    settings,
  );
  return mean(texts.map(([text], t) => Number(text === readOut(tasks[t]!) + STOP)));
}

/** Least share of what every start must do without fault. */
const FAULTLESS = 0.95;

/** Share of solutions that have every step right, greedy or of `draws` samples of each task. */
const solved = async (policy: AskedPolicy, tasks: readonly string[], draws?: number): Promise<number> =>
  mean(await rightOf(policy, tasks, draws ? 1 : 0, draws)) / (draws ?? 1);

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

/** Measures one thing after the other: whoever wants to know whether all are met may stop at the first that is not. */
async function* measured(policy: AskedPolicy): AsyncGenerator<Gate> {
  // The deepest are learnt last.
  for (let depth = DEEPEST_TRAINED; depth > 0; depth--)
    yield {
      description: `read-outs of ${depth} calls, greedy`,
      value: await readOutsOf(policy, depth),
      least: FAULTLESS,
    };
  yield {
    description: 'one call, greedy',
    value: await solved(policy, tasksOf(1, FUNCTIONS)),
    least: FAULTLESS,
  };
  const { wellFormed, three } = await proposalsOf(policy);
  yield { description: 'proposals that are tasks', value: wellFormed, least: 0.95 };
  yield { description: 'proposals of three calls', value: three, least: 0.001 };
  yield {
    description: 'two calls of functions never shown nested, sampled',
    value: await solved(policy, tasksOf(2, ALONE), 4),
    least: 0.1,
    most: 0.3,
  };
  yield {
    description: 'three calls of functions shown nested, sampled',
    value: await solved(policy, tasksOf(3, NESTED), 4),
    least: 0.02,
    most: 0.2,
  };
  const deep = await rightOf(policy, tasksOf(3, ALONE).slice(0, TASKS / 4), 1, PASSES);
  yield {
    description: 'three calls of functions never shown nested, sampled',
    value: mean(deep) / PASSES,
    most: 0.1,
  };
  yield {
    description: `three calls of such functions, pass@${PASSES}`,
    value: mean(deep.map((right) => passAtK(PASSES, right, PASSES))),
    least: 1 / deep.length,
  };
}

export async function gates(policy: AskedPolicy): Promise<Gate[]> {
  const all: Gate[] = [];
  for await (const gate of measured(policy)) all.push(gate);
  return all;
}

/** Can it do as much as it must of everything? Of what it can put together it may do more already. */
export async function isReady(policy: AskedPolicy): Promise<boolean> {
  for await (const { value, least = 0 } of measured(policy)) if (value < least) return false;
  return true;
}
