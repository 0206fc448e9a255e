/** Describes the machine of a measurement; the results contain it. */
import { execFileSync } from 'node:child_process';
import { arch, cpus, platform } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
  readonly commit: string;
  readonly at: string;
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** What is written of measurements is no code: records, and what shows them. Registrations count as code. */
const WRITTEN = [
  ...['test/bench/results/**', 'lab/records/*.json', 'lab/records/attempts/**', 'lab/records/sizes/**'],
  ...['docs/**', 'README.md'],
];

/** The commit, and whether the measured code differs from it. Outside version control it is what SOURCE_COMMIT says, or `unknown`, so that no result is lost. */
function commit(): string {
  try {
    const excluded = WRITTEN.map((path) => `:(top,exclude,glob)${path}`);
    const dirty = git('status', '--porcelain', '--', ':(top)', ...excluded) !== '';
    return git('rev-parse', '--short', 'HEAD') + (dirty ? '+changes' : '');
  } catch {
    return process.env.SOURCE_COMMIT ?? 'unknown';
  }
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    platform: `${platform()} ${arch()}`,
    node: process.version,
    commit: commit(),
    at: new Date().toISOString(),
  };
}
