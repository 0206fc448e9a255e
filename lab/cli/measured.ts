/**
 * Makes cli/recipe/measured.json from the records: what a first run of each recipe took and came to, which `rollmesh recipe show NAME` prints. By
 * hand: `npm run measured --workspace lab`.
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
interface Recorded {
  readonly recipe: string;
  readonly machine: { readonly cpu: string; readonly cores: number };
  readonly settings: { readonly start: string; readonly tasks: number; readonly groupSize: number };
  readonly rounds: number;
  readonly arms: readonly [
    { readonly variant?: string; readonly reward?: string; readonly runs: readonly Run[] },
  ];
}

export const TABLE = '../cli/recipe/measured.json';
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (share: number): number => Math.round(1000 * share) / 1000;

/** The mean over the seeds at the start and at the end; null where it was not measured. */
function change(runs: readonly Run[], figure: keyof Run['heldout']): readonly number[] | null {
  const ends = [0, -1].map((at) => runs.map(({ heldout }) => heldout[figure].at(at) ?? null));
  if (ends.flat().includes(null)) return null;
  return ends.map((values) => rounded(mean(values as number[])));
}

function measured({ machine, settings, rounds, arms: [{ variant, reward, runs }] }: Recorded) {
  return {
    // The flags by which a reader plays the arm.
    flags: [...(variant ? ['--variant', variant] : []), ...(reward ? ['--reward', reward] : [])].join(' '),
    start: settings.start,
    sizes: [settings.tasks, settings.groupSize],
    // A run may have ended before the last round, by its tokens.
    rounds: Math.round(mean(runs.map((run) => run.rounds ?? rounds))),
    seeds: runs.length,
    seconds: Math.round(mean(runs.map(({ wallMs }) => wallMs)) / 1000),
    machine: `${machine.cores} cores of ${machine.cpu.replaceAll(/\(R\)|\(TM\)/g, '')}`,
    greedy: change(runs, 'accuracy'),
    sampled: change(runs, 'sampled'),
  };
}

/** The table as JSON, a line for each recipe. */
export function measuredTable(): string {
  const records = readdirSync('records')
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join('records', file), 'utf8')) as Recorded);
  // Of a recipe's claims the one of its name.
  const rows = records
    .filter(({ recipe, arms: [{ runs }] }) => runs[0]!.recipe === recipe)
    .map((record) => `  "${record.recipe}": ${JSON.stringify(measured(record))}`);
  return `{\n${rows.join(',\n')}\n}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(TABLE, measuredTable());
