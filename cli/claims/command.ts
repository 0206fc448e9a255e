/** `npm run claims -- [NAME…]`: runs the arms of recipes' claims, judges them, writes claims/*.json, docs/claims.md and what the page shows. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { thisMachine } from '../../bench/machine.ts';
import { type ArmResults, judgeCondition, verdictOf } from '../../core/claims.ts';
import type { Recipe } from '../../core/recipe.ts';
import { findRecipe, recipes } from '../../recipes/index.ts';
import { fail } from '../fail.ts';
import { claimsForPage } from '../page-claims.ts';
import { whole } from '../run-options.ts';
import { claimsPage, pictures } from './page.ts';
import type { ClaimRecord } from './record.ts';
import { type ArmRun, runArms } from './run-arms.ts';

interface ClaimsOptions {
  readonly quick: boolean;
  readonly page: boolean;
  readonly jobs: number;
}

const DATA = 'claims';
const PICTURES = 'docs/claims';
/** What the dashboard shows of the claims. */
const PAGE_DATA = 'dashboard/claims.json';

/** A quick run goes through every arm's real path, and is too short to say anything: its verdict is not recorded. */
const QUICK = { rounds: 2, evalEvery: 2, tasks: 8, group: 4 };

async function runClaim(recipe: Recipe, { quick, jobs }: ClaimsOptions): Promise<ClaimRecord> {
  const {
    arms,
    seeds: all,
    rounds,
    says,
    conditions,
    evaluateEvery: evalEvery = 5,
    tasks,
    group,
  } = recipe.claim;
  const seeds = quick ? all.slice(0, 1) : all;
  const settings = quick
    ? QUICK
    : { rounds, evalEvery, ...(tasks ? { tasks } : {}), ...(group ? { group } : {}) };
  const runs = arms.flatMap((arm) =>
    seeds.map((seed): ArmRun => ({ recipe: recipe.name, arm, seed, ...settings })),
  );
  const summaries = await runArms(runs, jobs, ({ arm, seed }, { heldout, wallMs }) => {
    const [first, last] = [heldout[0], heldout.at(-1)].map((point) =>
      (100 * (point?.accuracy ?? Number.NaN)).toFixed(1),
    );
    console.log(
      `${recipe.name} ${arm.name}, seed ${seed}: greedy ${first} -> ${last} %, ${Math.round(wallMs / 1000)} s`,
    );
  });
  const ofArm = arms.map((arm, a) => ({
    ...arm,
    runs: summaries.slice(a * seeds.length, (a + 1) * seeds.length),
  }));
  const results: ArmResults = Object.fromEntries(ofArm.map(({ name, runs: mine }) => [name, mine]));
  // Two tiny rounds of one seed say nothing, and conditions may ask for all seeds.
  const judged = quick ? [] : conditions.map((condition) => judgeCondition(condition, results, seeds.length));
  return {
    recipe: recipe.name,
    claim: says,
    verdict: verdictOf(judged),
    conditions: judged,
    machine: thisMachine(),
    rounds: settings.rounds,
    seeds,
    ...(recipe.claim.pictures ? { pictures: recipe.claim.pictures } : {}),
    arms: ofArm,
  };
}

async function writePage(): Promise<void> {
  const names = (await readdir(DATA)).filter((name) => name.endsWith('.json')).sort();
  const records = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(DATA, name), 'utf8')) as ClaimRecord),
  );
  await mkdir(PICTURES, { recursive: true });
  for (const record of records)
    for (const [name, svg] of pictures(record)) await writeFile(join(PICTURES, name), svg);
  const diagnoses = Object.fromEntries(recipes.map(({ name, claim }) => [name, claim.diagnosis]));
  await writeFile('docs/claims.md', claimsPage(records, diagnoses));
  await writeFile(PAGE_DATA, `${JSON.stringify(claimsForPage(records))}\n`);
}

const command = new Command('npm run claims --')
  .description('Runs the arms of the recipes’ claims and judges them.')
  .argument('[names...]', 'recipes, or all', ['all'])
  .option('--quick', 'two tiny rounds of every arm: does everything run?', false)
  .option('--page', 'only write docs/claims.md from the files in claims/', false)
  .option('--jobs <n>', 'processes at once', whole(1), availableParallelism())
  .action(async (names: readonly string[], options: ClaimsOptions) => {
    const chosen = names.includes('all') ? recipes : names.map(findRecipe);
    for (const recipe of options.page ? [] : chosen) {
      const record = await runClaim(recipe, options);
      if (options.quick) {
        console.log(`${recipe.name}: every arm ran`);
        continue;
      }
      await mkdir(DATA, { recursive: true });
      await writeFile(join(DATA, `${recipe.name}.json`), `${JSON.stringify(record)}\n`);
      console.log(`${recipe.name}: ${record.verdict}`);
    }
    if (!options.quick) await writePage();
  });

try {
  await command.parseAsync();
} catch (error) {
  fail(error);
}
