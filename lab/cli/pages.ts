/** The pages that are made from the records: all claims with their pictures, co-training, the rule's spread. */
import { join } from 'node:path';
import type { ClaimedRegistry } from '../rule/claim.ts';
import { coTrainingPage, coTrainingPicture } from './co-training.ts';
import { claimsPage, pictures, type Told } from './page.ts';
import type { Judged, Sized } from './record.ts';
import { spreadPage } from './spread.ts';

/** The pages that are made from the records, by their paths in `build/`. */
export function pagesOf(
  known: ClaimedRegistry,
  records: readonly Judged[],
  sized: readonly Sized[],
): Map<string, string> {
  const { recipes } = known;
  const waiting = recipes.flatMap(({ name }) =>
    records.some(({ recipe }) => recipe === name) ? [] : [name],
  );
  const told: Readonly<Record<string, Told>> = Object.fromEntries(
    recipes.map(({ name, claim }) => [name, claim]),
  );
  return new Map([
    ...records.flatMap((record) =>
      [...pictures(record, told[record.recipe]?.along)].map(
        ([name, svg]) => [join('claims', name), svg] as const,
      ),
    ),
    ['claims/co-training.svg', coTrainingPicture(known, records)],
    ['claims.md', claimsPage(records, told, waiting)],
    ['co-training.md', coTrainingPage(known, records, sized)],
    ['spread.md', spreadPage(known, records)],
  ]);
}
