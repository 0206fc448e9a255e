/** `npm run claims -- NAME…`: runs the arms of recipes' claims, judges them, writes claims/*.json, docs/claims.md and the dashboard's data. */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { thisMachine } from '../../bench/machine.ts';
import { type ArmResults, claimOf, curveOf, judgeCondition } from '../../core/claim.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { calledAs } from '../called-as.ts';
import { whole } from '../shared/run-options.ts';
import { recordToComplete, writePage, writeRecord } from './files.ts';
import { picturesOf } from './page.ts';
import { type PlaySettings, playClaim } from './play-claim.ts';
import { judged, missingArms, type Played, settingsOf, withArms } from './record.ts';
import { Players } from './run-arms.ts';

interface ClaimsOptions extends PlaySettings {
  readonly jobs: number;
  readonly missing: boolean;
  readonly page: boolean;
}

/** Prints what a pilot measured: every condition for which it ran the arms, and each curve. */
function printPilot(recipe: Recipe, played: Pick<Played, 'arms' | 'seeds'>): void {
  const claim = claimOf(recipe);
  const results: ArmResults = Object.fromEntries(played.arms.map(({ name, runs }) => [name, runs]));
  for (const condition of [...claim.conditions, ...(claim.observations ?? [])]) {
    try {
      const { description, bound, measured, holds } = judgeCondition(condition, results, played.seeds.length);
      const values = measured.map((value) => value.toFixed(3)).join(', ');
      if (!measured.some(Number.isNaN))
        console.log(`${holds ? 'holds ' : 'FAILS '} ${description}: ${values} (${bound})`);
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

/** Runs the requested arms of a claim, and writes the records that are to be kept. */
async function play(recipe: Recipe, options: ClaimsOptions, players: Players): Promise<void> {
  const { name } = recipe;
  const earlier = options.missing ? await recordToComplete(name) : undefined;
  const arms = earlier ? missingArms(earlier, recipe) : options.arms;
  const played = await playClaim(recipe, { ...options, ...(arms ? { arms } : {}) }, players);
  if (options.pilot) return printPilot(recipe, played);
  if (options.quick) return console.log(`${name}: every arm ran`);
  const machine = thisMachine();
  const all = earlier
    ? withArms(earlier, played.arms, machine, recipe)
    : { recipe: name, machine, settings: settingsOf(recipe), ...played };
  const record = judged(all, recipe);
  await writeRecord(record);
  console.log(`${name}: ${record.verdict}`);
}

export const command = (): Command =>
  new Command(calledAs('claims'))
    .description('Runs the arms of the recipes’ claims and judges them.')
    .argument('[names...]', 'recipes, or `all`: hours of two cores')
    .option('--quick', 'a few tiny rounds of every arm: does everything run?', false)
    .option('--pilot', 'other seeds, examined on other tasks: to choose settings; writes nothing', false)
    .option('--arms <names>', 'of a pilot: only these arms, by commas', (text) => text.split(','))
    .option('--seeds <n>', 'of a pilot: so many seeds', whole(1))
    .option('--rounds <n>', 'of a pilot: so many rounds', whole(1))
    .option('--missing', 'only the arms that the claim has and its results file lacks', false)
    .option('--page', 'only judge the runs in claims/ again and write docs/claims.md from them', false)
    .option('--jobs <n>', 'processes at once', whole(1), availableParallelism())
    .action(async (names: readonly string[], options: ClaimsOptions) => {
      if (!options.pilot && (options.arms || options.seeds || options.rounds))
        throw wrongInput('claims.options', 'A claim is all of its arms, seeds and rounds.', {
          expected: '--arms, --seeds and --rounds with --pilot only',
        });
      if (options.missing && (options.pilot || options.quick))
        throw wrongInput(
          'claims.options',
          '--missing completes a results file, which --pilot and --quick do not write.',
          {
            expected: '--missing without --pilot and --quick',
          },
        );
      if (!names.length && !options.page)
        throw wrongInput('claims.names', 'No recipe is named.', {
          expected: `all, or some of ${recipes.map(({ name }) => name).join(', ')}`,
          next: 'All of them take hours; `npm run claims -- all --quick` takes minutes.',
        });
      const chosen = names.includes('all') ? recipes.filter(({ claim }) => claim) : names.map(shipped.find);
      const players = new Players(options.jobs, options.pilot ? 'pilot' : options.quick ? 'quick' : 'full');
      try {
        for (const recipe of options.page ? [] : chosen) await play(recipe, options, players);
      } finally {
        players.stop();
      }
      if (!options.quick && !options.pilot) await writePage();
    });
