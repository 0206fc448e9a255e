/**
 * Makes cli/recipe/measured.json from the records, and from first runs (first-run.ts) of recipes that have none: what a run of each recipe took and came
 * to, which `rollmesh recipe show NAME` prints. By hand: `npm run measured --workspace lab`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A run as its record holds it: the evaluations as columns. */
interface Run {
  readonly recipe: string;
  readonly rounds?: number;
  readonly wallMs: number;
  readonly heldout: Readonly<Record<'accuracy' | 'sampled', readonly (number | null)[]>>;
}
interface MeasuredOn {
  readonly cpu: string;
  readonly cores: number;
}
interface Recorded {
  readonly recipe: string;
  readonly machine: MeasuredOn;
  readonly settings: { readonly start: string; readonly tasks: number; readonly groupSize: number };
  readonly rounds: number;
  readonly arms: readonly [
    { readonly variant?: string; readonly reward?: string; readonly runs: readonly Run[] },
  ];
}

export const TABLE = '../cli/recipe/measured.json';
export const FIRST_RUNS = 'first-runs/measured.json';
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (share: number): number => Math.round(1000 * share) / 1000;

/** The mean over the seeds at the start and at the end; null where it was not measured. */
export function change(
  curves: readonly Run['heldout'][],
  figure: keyof Run['heldout'],
): readonly number[] | null {
  const ends = [0, -1].map((at) => curves.map((heldout) => heldout[figure].at(at) ?? null));
  if (ends.flat().includes(null)) return null;
  return ends.map((values) => rounded(mean(values as number[])));
}

export const machineName = ({ cpu, cores }: MeasuredOn): string =>
  `${cores} cores of ${cpu.replaceAll(/\(R\)|\(TM\)/g, '')}`;

function measured({ machine, settings, rounds, arms: [{ variant, reward, runs }] }: Recorded) {
  const curves = runs.map(({ heldout }) => heldout);
  return {
    // The flags by which a reader plays the arm.
    flags: [...(variant ? ['--variant', variant] : []), ...(reward ? ['--reward', reward] : [])].join(' '),
    start: settings.start,
    sizes: [settings.tasks, settings.groupSize],
    // A run may have ended before the last round, by its tokens.
    rounds: Math.round(mean(runs.map((run) => run.rounds ?? rounds))),
    seeds: runs.length,
    seconds: Math.round(mean(runs.map(({ wallMs }) => wallMs)) / 1000),
    machine: machineName(machine),
    greedy: change(curves, 'accuracy'),
    sampled: change(curves, 'sampled'),
  };
}
export type Measured = ReturnType<typeof measured>;

/** The table as JSON, a line for each recipe. */
export function measuredTable(): string {
  const records = readdirSync('records')
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join('records', file), 'utf8')) as Recorded);
  // Of a recipe's claims the one of its name.
  const claimed = records
    .filter(({ recipe, arms: [{ runs }] }) => runs[0]!.recipe === recipe)
    .map((record) => [record.recipe, measured(record)] as const);
  const table: Record<string, Measured> = {
    ...JSON.parse(readFileSync(FIRST_RUNS, 'utf8')),
    ...Object.fromEntries(claimed),
  };
  const rows = Object.keys(table)
    .sort()
    .map((recipe) => `  "${recipe}": ${JSON.stringify(table[recipe])}`);
  return `{\n${rows.join(',\n')}\n}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(TABLE, measuredTable());
