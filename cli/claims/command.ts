/** `npm run claims -- [NAME…]`: runs the arms of recipes' claims, judges them, writes claims/*.json, docs/claims.md and what the page shows. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { thisMachine } from '../../bench/machine.ts';
import { type ArmResults, type Condition, curveOf, judgeCondition, verdictOf } from '../../core/claims.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe.ts';
import { findRecipe, recipes } from '../../recipes/index.ts';
import { fail } from '../fail.ts';
import { claimsForPage } from '../page-claims.ts';
import { whole } from '../run-options.ts';
import { claimsPage, pictures, picturesOf } from './page.ts';
import { type PlaySettings, playClaim } from './play-claim.ts';
import type { ClaimRecord } from './record.ts';
import { Players } from './run-arms.ts';

interface ClaimsOptions extends PlaySettings {
  readonly jobs: number;
  readonly page: boolean;
}

const DATA = 'claims';
const PICTURES = 'docs/claims';
/** What the dashboard shows of the claims. */
const PAGE_DATA = 'dashboard/claims.json';

type Played = Awaited<ReturnType<typeof playClaim>>;
const resultsOf = ({ arms }: Played): ArmResults =>
  Object.fromEntries(arms.map(({ name, runs }) => [name, runs]));

/** A record judged by the conditions as they are now. */
function judged<T extends Played & Pick<ClaimRecord, 'recipe' | 'machine'>>(record: T): ClaimRecord {
  const { claim } = findRecipe(record.recipe);
  const judge = (condition: Condition) => judgeCondition(condition, resultsOf(record), record.seeds.length);
  const conditions = claim.conditions.map(judge);
  const { recipe, machine, rounds, seeds, arms } = record;
  return {
    recipe,
    claim: claim.says,
    verdict: verdictOf(conditions),
    conditions,
    ...(claim.observations ? { observations: claim.observations.map(judge) } : {}),
    machine,
    rounds,
    seeds,
    ...(claim.pictures ? { pictures: claim.pictures } : {}),
    arms,
  };
}

/** What a pilot measured: every condition that its arms suffice for, and each curve. */
function printPilot({ claim }: Recipe, played: Played): void {
  const results = resultsOf(played);
  for (const condition of [...claim.conditions, ...(claim.observations ?? [])]) {
    try {
      const { says, bound, measured, holds } = judgeCondition(condition, results, played.seeds.length);
      const values = measured.map((value) => value.toFixed(3)).join(', ');
      if (!measured.some(Number.isNaN))
        console.log(`${holds ? 'holds ' : 'FAILS '} ${says}: ${values} (${bound})`);
    } catch (error) {
      if (played.arms.length === claim.arms.length) throw error;
    }
  }
  for (const { name, runs } of played.arms)
    for (const figure of Object.keys(picturesOf(claim)))
      runs.forEach((_, seed) => {
        const values = curveOf(results, name, seed, figure).map((value) => (100 * value).toFixed(1));
        console.log(`${name}, seed ${played.seeds[seed]}, ${figure}: ${values.join(' ')}`);
      });
}

async function writePage(): Promise<void> {
  const names = (await readdir(DATA)).filter((name) => name.endsWith('.json')).sort();
  const records = await Promise.all(
    names.map(async (name) => judged(JSON.parse(await readFile(join(DATA, name), 'utf8')) as ClaimRecord)),
  );
  for (const record of records)
    await writeFile(join(DATA, `${record.recipe}.json`), `${JSON.stringify(record)}\n`);
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
  .option('--pilot', 'other seeds, examined on other tasks: to choose settings; writes nothing', false)
  .option('--arms <names>', 'of a pilot: only these arms, by commas', (text) => text.split(','))
  .option('--seeds <n>', 'of a pilot: so many seeds', whole(1))
  .option('--rounds <n>', 'of a pilot: so many rounds', whole(1))
  .option('--page', 'only judge the runs in claims/ again and write docs/claims.md from them', false)
  .option('--jobs <n>', 'processes at once', whole(1), availableParallelism())
  .action(async (names: readonly string[], options: ClaimsOptions) => {
    if (!options.pilot && (options.arms || options.seeds || options.rounds))
      throw wrongInput('claims.options', 'A claim is all of its arms, seeds and rounds.', {
        expected: '--arms, --seeds and --rounds with --pilot only',
      });
    const chosen = names.includes('all') ? recipes : names.map(findRecipe);
    const players = new Players(options.jobs, options.pilot ? 'pilot' : options.quick ? 'quick' : 'full');
    try {
      for (const recipe of options.page ? [] : chosen) {
        const played = await playClaim(recipe, options, players);
        if (options.pilot) printPilot(recipe, played);
        else if (options.quick) console.log(`${recipe.name}: every arm ran`);
        else {
          const record = judged({ recipe: recipe.name, machine: thisMachine(), ...played });
          await mkdir(DATA, { recursive: true });
          await writeFile(join(DATA, `${recipe.name}.json`), `${JSON.stringify(record)}\n`);
          console.log(`${recipe.name}: ${record.verdict}`);
        }
      }
    } finally {
      players.stop();
    }
    if (!options.quick && !options.pilot) await writePage();
  });

try {
  await command.parseAsync();
} catch (error) {
  fail(error);
}
