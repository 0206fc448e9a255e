/**
 * The arms in which a partner is trained and frozen, played again with larger policies: what docs/co-training.md says of the policy's size. The
 * larger policies are the shipped start, widened, so that all sizes begin with the same skill. They are evaluated at the start and at the end. There is no verdict.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisMachine } from '../../bench/machine.ts';
import { claimOf } from '../../core/claims/claim.ts';
import { settingsOf } from '../../core/claims/registration.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ShapeName } from '../pretrain/shapes.ts';
import { FinishedRuns } from './finished-runs.ts';
import { type PlaySettings, playClaim } from './play-claim.ts';
import type { Played } from './record.ts';
import type { Players } from './run-arms.ts';
import { startOfShape } from './starts.ts';
import { withStepSizes } from './step-sizes.ts';

/** The shapes that are played besides that of the shipped starts, `nano`. */
export const SIZES = ['micro', 'mini'] as const satisfies readonly ShapeName[];
type Size = (typeof SIZES)[number];
/** How many of a claim's seeds are played. */
const SEEDS = 4;

const FOLDER = join('claims', 'sizes');
const fileOf = (recipe: string, shape: Size) => join(FOLDER, `${recipe}-${shape}.json`);

/** What was played of a recipe with one larger policy. */
export interface Sized extends Omit<Played, 'registration'> {
  readonly shape: Size;
  readonly parameters: number;
}

/** The records of all sizes that were played of these recipes, by recipe and then by size. */
export async function sizedRecords({ recipes }: Registry): Promise<Sized[]> {
  const files = recipes
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => SIZES.map((shape) => fileOf(name, shape)))
    .filter((file) => existsSync(file));
  return await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as Sized));
}

/**
 * Plays, or goes on with, the sizes of a recipe that have no record yet. Throws `claims.partners` where its claim compares no partner, and
 * names those of the known recipes whose claims do.
 */
export async function playSizes(
  recipe: Recipe,
  known: Registry,
  settings: PlaySettings & { readonly state: string },
  players: Players,
): Promise<void> {
  const { name } = recipe;
  const { partners = [], rounds } = claimOf(recipe);
  const arms = partners.flatMap(({ trained, frozen }) => [trained, frozen]);
  if (!arms.length)
    throw wrongInput('claims.partners', `The claim of ${name} compares no partner trained and frozen.`, {
      expected: known.recipes.flatMap((one) => (one.claim?.partners?.length ? [one.name] : [])).join(', '),
    });
  const machine = thisMachine();
  for (const shape of SIZES) {
    if (existsSync(fileOf(name, shape))) {
      console.log(`${name}, ${shape}: is played; remove ${fileOf(name, shape)} to play it again.`);
      continue;
    }
    const start = await startOfShape(settings.state, recipe.startPolicy, shape);
    const parameters = parameterCount(start.config);
    console.log(`${name}, ${shape}: ${parameters} parameters`);
    const finished = new FinishedRuns(settings.state, name, `${shape}-${machine.commit}`);
    const { began: _, ...played } = await playClaim(
      recipe,
      { ...settings, arms, seeds: SEEDS, evaluateEvery: rounds },
      players,
      {
        finished,
        startOf: () => start.folder,
        stepSizes: start.stepSizes,
      },
    );
    const record: Sized = {
      recipe: name,
      shape,
      parameters,
      machine,
      settings: {
        start: recipe.startPolicy,
        ...settingsOf(withStepSizes(recipe, start.stepSizes)),
        evaluateEvery: rounds,
      },
      ...played,
    };
    await mkdir(FOLDER, { recursive: true });
    await writeFile(fileOf(name, shape), `${JSON.stringify(record)}\n`);
    await finished.forget();
  }
}
