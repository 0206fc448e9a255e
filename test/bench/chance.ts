/**
 * After how many completions the audit finds a close node that draws at another temperature: a node and the trusted policy draw after the
 * prompts of a round's solvers, and the sums of core/audit/chance.ts are looked at after every completion. Seeds are fixed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareDraws, deviationOf, mayBeByChance } from '../../core/audit/chance.ts';
import { scoredAfter } from '../../core/audit/score-again.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { thisMachine } from '../../local/machine.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

const ORDER = { recipe: 'trio', seed: 0, rounds: 1, freeze: [], tasks: 16, groupSize: 2 };
const TEMPERATURES = [0, 0.4, 0.6, 0.8, 1, 1.25, 1.5];
/** A node that is not found in so many completions counts as not found. */
const MOST = 3000;

/** The prompts that solvers were given in a round, and the token that ends a solution. */
async function promptsOf(policy: Policy, files: Awaited<ReturnType<typeof readPolicyFolder>>) {
  const { recipe, settings } = runOf(shipped, ORDER);
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const tokenizer = tokenizerOf(files, settings.policy);
  const context = openRoundContext({
    recipe,
    round,
    tokenizer,
    use: (_ref, work) => work(policy),
    recipeState: () => Promise.resolve(undefined),
  });
  const { groups } = await playStages(context);
  return { prompts: groups.map(({ samples }) => samples[0]!.prompt), stop: [tokenizer.id(recipe.stop!)] };
}

async function playNode(
  policy: Policy,
  { prompts, stop }: Awaited<ReturnType<typeof promptsOf>>,
  temperature: number,
  node: number,
) {
  const sums = { drift: 0, squares: 0, slack: 0 };
  let [completions, tokens] = [0, 0];
  for (let turn = 0; completions < MOST; turn++) {
    const draw = async (who: string, at: number) => {
      const asked = prompts.map((ids, p) => ({
        ids,
        sampleIds: [`${who}/${temperature}/${node}/${turn}/${p}`],
      }));
      const made = await policy.generate(asked, { maxNew: 48, temperature: at, stop });
      return made.map(([completion], p) => ({ prompt: prompts[p]!, ids: completion!.ids }));
    };
    const [own, mesh] = [await draw('node', temperature), await draw('mesh', 1)];
    const [ownScores, meshScores] = [await scoredAfter(policy, own), await scoredAfter(policy, mesh)];
    for (const [i, scores] of ownScores.entries()) {
      const { drift, squares, slack } = compareDraws(scores, meshScores[i]!);
      sums.drift += drift;
      sums.squares += squares;
      sums.slack += slack;
      completions++;
      tokens += own[i]!.ids.length;
      if (!mayBeByChance(sums)) return { found: true, completions, tokens, deviation: deviationOf(sums) };
    }
  }
  return { found: false, completions, tokens, deviation: deviationOf(sums) };
}

/** `--nodes N` (5) at each temperature, `--json`: one JSON object. Results also go to test/bench/results/chance.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { nodes: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
  });
  const files = await readPolicyFolder('models/arithmetic-base');
  const policy = await openVersion(nodeEngines, { name: 'any', version: 0, engine: 'kernels' }, files);
  const asked = await promptsOf(policy, files);
  const temperatures = [];
  for (const temperature of TEMPERATURES) {
    const nodes = [];
    for (let node = 0; node < Number(values.nodes); node++)
      nodes.push(await playNode(policy, asked, temperature, node));
    temperatures.push({ temperature, nodes });
    const told = nodes.map(({ found, completions }) =>
      found ? String(completions) : `not in ${completions}`,
    );
    if (!values.json) console.log(`temperature ${temperature}: found after ${told.join(', ')} completions`);
  }
  await policy.dispose();
  const result = { bench: 'chance', machine: thisMachine(), policy: 'arithmetic-base', temperatures };
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync('test/bench/results/chance.json', `${JSON.stringify(result, null, 2)}\n`);
}
