/** Prints, as JSON, what the site shows of each claim: its registered result, and the two arms that its readers play as short runs. */
import { pathToFileURL } from 'node:url';
import { claimed } from '../claims/index.ts';
import { armsRead } from '../rule/arms-read.ts';
import { type Arm, type Claim, type ClaimedRecipe, startOfClaim } from '../rule/claim.ts';
import { failed } from './failed.ts';
import { judgedRecords } from './files.ts';
import { headlineFigure, pictures, resultText } from './page.ts';
import type { Judged } from './record.ts';

export interface SiteClaim {
  readonly name: string;
  /** The recipe that is played. */
  readonly recipe: string;
  /** The registered result as Markdown; pictures lie beside the page. */
  readonly result: string;
  readonly start: string;
  readonly rounds: number;
  /** Tasks a round, rollouts a task. */
  readonly sizes: readonly [tasks: number, groupSize: number];
  /** The arm that the claim is about, then the one that would refute it. */
  readonly arms: readonly Arm[];
  /** Pictures by file name; the headline’s comes first. */
  readonly pictures: Readonly<Record<string, string>>;
}

/**
 * The arm that a claim is about and the one that would refute it: those that its headline compares, the claim's first arm before others. A headline
 * about one arm is refuted by the control that does as much.
 */
export function armsOfHeadline(claim: Claim): readonly Arm[] {
  const { arms, conditions, headline } = claim;
  const compared = armsRead(conditions[headline?.condition ?? 0]!, claim);
  const controls = conditions.filter(({ control }) => control).flatMap((one) => armsRead(one, claim));
  const inOrder = arms.filter(({ name }) => compared.includes(name));
  const main = inOrder.includes(arms[0]!) ? arms[0]! : inOrder.find(({ name }) => name === compared[0])!;
  const rest = [...compared, ...controls, ...arms.map(({ name }) => name)];
  const other = rest.find((name) => name !== main.name && arms.some((arm) => arm.name === name));
  return [main, ...arms.filter(({ name }) => name === other)];
}

function siteClaim(recipe: ClaimedRecipe, record: Judged | undefined): SiteClaim {
  const { name, claim } = recipe;
  const drawn = record ? [...pictures(record)] : [];
  const first = record && headlineFigure(record);
  return {
    name,
    recipe: claim.recipe ?? name,
    result: record
      ? resultText(record)
      : `${claim.description}\n\nThe registered run of this claim has not been played: there is no result and no curve.`,
    start: startOfClaim(recipe),
    rounds: claim.rounds,
    sizes: [claim.tasks ?? recipe.tasks, claim.groupSize ?? recipe.groupSize],
    arms: armsOfHeadline(claim),
    pictures: Object.fromEntries([
      ...drawn.filter(([file]) => file === first),
      ...drawn.filter(([file]) => file !== first),
    ]),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  try {
    const records = await judgedRecords(claimed);
    const told = claimed.recipes.map((recipe) =>
      siteClaim(
        recipe,
        records.find((one) => one.recipe === recipe.name),
      ),
    );
    process.stdout.write(JSON.stringify(told));
  } catch (error) {
    failed(error);
  }
