/**
 * The arms in which a partner is trained and frozen, played again with larger policies: what the page on co-training says of the policy's size. The
 * larger policies are the shipped start, widened, so that all sizes begin with the same skill. They are evaluated at the start and at the end. There is no verdict.
 */

import { existsSync } from 'node:fs';
import { wrongInput } from 'rollmesh';
import { parameterCount, thisMachine } from 'rollmesh/local';
import type { ClaimedRecipe, ClaimedRegistry } from '../rule/claim.ts';
import { settingsOf } from '../rule/registration.ts';
import { sizedFile, writeSized } from './files.ts';
import { FinishedRuns } from './finished-runs.ts';
import { type PlaySettings, playClaim } from './play-claim.ts';
import { SIZES, type Sized } from './record.ts';
import type { Players } from './run-arms.ts';
import { startOfShape } from './starts.ts';
import { withStepSizes } from './step-sizes.ts';

/** How many of a claim's seeds are played. */
const SEEDS = 4;

/**
 * Plays, or goes on with, the sizes of a recipe that have no record yet. Throws `claims.partners` where its claim compares no partner, and
 * names those of the known recipes whose claims do.
 */
export async function playSizes(
  recipe: ClaimedRecipe,
  known: ClaimedRegistry,
  settings: PlaySettings & { readonly state: string },
  players: Players,
): Promise<void> {
  const { name } = recipe;
  const { partners = [], rounds } = recipe.claim;
  const arms = partners.flatMap(({ trained, frozen }) => [trained, frozen]);
  if (!arms.length)
    throw wrongInput('claims.partners', `The claim of ${name} compares no partner trained and frozen.`, {
      expected: known.recipes.flatMap((one) => (one.claim.partners?.length ? [one.name] : [])).join(', '),
    });
  const machine = thisMachine();
  for (const shape of SIZES) {
    if (existsSync(sizedFile(name, shape))) {
      console.log(`${name}, ${shape}: is played; remove ${sizedFile(name, shape)} to play it again.`);
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
    await writeSized(recipe, record);
    await finished.forget();
  }
}
