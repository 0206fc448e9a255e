/** Commands that only say something say it at once: by the processor's time, which other work on the machine does not lengthen. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-times-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Seconds of the processor that a command takes: at best of three, and of as many as it takes to be below `wanted`. The first may fill Node's caches. */
function seconds(wanted: number, ...args: string[]): number {
  const command = [process.execPath, ...NODE_FLAGS, 'cli/rollmesh.ts', ...args];
  const script = '"$@" >/dev/null 2>&1; times';
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && least >= wanted; attempt++) {
    const said = execFileSync('bash', ['-c', script, 'bash', ...command], { encoding: 'utf8' });
    const of = [...said.split('\n')[1]!.matchAll(/(\d+)m([\d.]+)s/g)];
    const taken = of.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
    least = Math.min(least, taken);
  }
  return least;
}

test.each([[[]], [['start']], [['trigger']], [['learner']], [['policy']], [['audit']], [['deploy']]])(
  'rollmesh %j --help takes less than a second',
  (words) => {
    expect(seconds(1, ...words, '--help')).toBeLessThan(1);
  },
  60_000,
);

test('policy list takes less than two seconds', () => {
  expect(seconds(2, 'policy', 'list', '--state', folder)).toBeLessThan(2);
}, 60_000);
