/** What a start of the world `composition` must be able to do: every part of a composition without fault, and the whole hardly ever. */
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

/** Least share of read-outs without a fault. */
const FAULTLESS = 0.95;

/** Share of solutions of three calls that have every step right, sampled: of functions that were shown nested, two deep. */
const threeOf = async (policy: AskedPolicy): Promise<number> =>
  mean(await rightOf(policy, tasksOf(3, NESTED), 1, 4)) / 4;

/** Least and most of it: training by rewards needs something to begin from, and something to add. */
const [LEAST_THREE, MOST_THREE] = [0.02, 0.2];

/** Least shares of proposals that are tasks, and that are a call deeper than what was shown. */
const [LEAST_WELL_FORMED, LEAST_DEEPER] = [0.95, 0.001];

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

export async function gates(policy: AskedPolicy): Promise<Gate[]> {
  const share = (rights: readonly number[], draws = 1) => mean(rights) / draws;
  const deep = await rightOf(policy, tasksOf(3, ALONE).slice(0, TASKS / 4), 1, PASSES);
  const proposals = await proposalsOf(policy);
  const readOuts: Gate[] = [];
  for (let depth = 1; depth <= DEEPEST_TRAINED; depth++)
    readOuts.push({
      description: `read-outs of ${depth} calls, greedy`,
      value: await readOutsOf(policy, depth),
      least: FAULTLESS,
    });
  return [
    {
      description: 'one call, greedy',
      value: share(await rightOf(policy, tasksOf(1, FUNCTIONS), 0)),
      least: 0.95,
    },
    ...readOuts,
    {
      description: 'two calls of functions never shown nested, sampled',
      value: share(await rightOf(policy, tasksOf(2, ALONE), 1, 4), 4),
      least: 0.1,
      most: 0.3,
    },
    { description: 'three calls of such functions, sampled', value: share(deep, PASSES), most: 0.1 },
    {
      description: `three calls of such functions, pass@${PASSES}`,
      value: mean(deep.map((right) => passAtK(PASSES, right, PASSES))),
      least: 1 / deep.length,
    },
    {
      description: 'three calls of functions shown nested, sampled',
      value: await threeOf(policy),
      least: LEAST_THREE,
      most: MOST_THREE,
    },
    { description: 'proposals that are tasks', value: proposals.wellFormed, least: LEAST_WELL_FORMED },
    { description: 'proposals of three calls', value: proposals.three, least: LEAST_DEEPER },
  ];
}

/** Least of three calls at which a policy is taught no more. */
const TAUGHT_THREE = 0.05;

/** Has it been taught enough: are three calls solved now and then, are proposals tasks, and are read-outs faultless, the deepest of which come last? */
export async function isReady(policy: AskedPolicy): Promise<boolean> {
  if ((await threeOf(policy)) < TAUGHT_THREE) return false;
  const { wellFormed, three } = await proposalsOf(policy);
  if (wellFormed < LEAST_WELL_FORMED || three < LEAST_DEEPER) return false;
  for (let depth = DEEPEST_TRAINED; depth > 0; depth--)
    if ((await readOutsOf(policy, depth)) < FAULTLESS) return false;
  return true;
}
