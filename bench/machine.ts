/** Where a measurement was made, to stand beside its numbers. */
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

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

export function thisMachine(): Machine {
  const dirty = git('status', '--porcelain', '--', 'model', 'infer', 'core', 'learner') !== '';
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    platform: `${platform()} ${arch()}`,
    node: process.version,
    commit: git('rev-parse', '--short', 'HEAD') + (dirty ? '+changes' : ''),
    at: new Date().toISOString(),
  };
}
