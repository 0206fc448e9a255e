/** `npm run soak -- --damage N`: N runs, each with one damaged file. Every kind of file and of damage comes once before any comes again. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { printableLines } from '../../cli/printable.ts';
import { duration } from '../../cli/shared/figures.ts';
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { thisMachine } from '../../local/machine.ts';
import { DAMAGE_TARGETS, DAMAGES } from '../faults/damage.ts';
import { type DamageCase, type DamageResult, MOMENTS, playDamage, prepareDamage } from './damage-run.ts';
import { SILENCE_MS } from './soak-run.ts';

export interface DamageSoakOptions {
  readonly damage: number;
  readonly seed: number;
  readonly rounds: number;
  readonly tasks: number;
  readonly groupSize: number;
  readonly json: boolean;
  readonly out?: string;
}

const JITTER_MS = 300;

/** Draws the cases; the optimiser's file is there from the first commit on. */
function drawCases({ damage, rounds }: DamageSoakOptions, random: Random): DamageCase[] {
  const cases: DamageCase[] = [];
  const all = DAMAGE_TARGETS.flatMap((target) => DAMAGES.map((how) => ({ target, damage: how })));
  while (cases.length < damage)
    for (const one of random.shuffle(all).slice(0, damage - cases.length)) {
      const first = one.target === 'optimiser' ? Math.min(2, rounds) : 1;
      const round = first + random.int(rounds - first + 1);
      // After the last commit nothing is left to be disturbed.
      const events = round === rounds ? MOMENTS.slice(0, -1) : MOMENTS;
      cases.push({ ...one, round, event: random.pick(events), delayMs: random.int(JITTER_MS) });
    }
  return cases;
}

function recordOf({ seed, rounds, tasks, groupSize }: DamageSoakOptions, results: readonly DamageResult[]) {
  const count = (ending: DamageResult['ending']) => results.filter((one) => one.ending === ending).length;
  return {
    kind: 'damage-soak',
    machine: thisMachine(),
    seed,
    rounds,
    tasks,
    groupSize,
    runs: results.length,
    same: count('same'),
    named: count('named'),
    wrong: count('wrong'),
    silences: results.filter(({ silenceMs }) => silenceMs > SILENCE_MS).length,
    longestSilenceMs: Math.max(0, ...results.map(({ silenceMs }) => silenceMs)),
    results,
  };
}

const lineOf = ({
  target,
  damage,
  event,
  round,
  ending,
  said,
  wayOn,
  silenceMs,
  wallMs,
}: DamageResult): string =>
  `${ending.toUpperCase().padEnd(5)}  ${target}: ${damage}, round ${round} after ${event} (${duration(wallMs)}, silent ${duration(silenceMs)} at most)` +
  `${said === null ? '' : `\n       ${said}`}${wayOn === null ? '' : `\n       It went on: ${wayOn}.`}`;

/** The results of an earlier soak of the same settings that was interrupted. Throws `soak.out` where the file is of anything else. */
function earlierResults(options: DamageSoakOptions): readonly DamageResult[] {
  if (options.out === undefined || !existsSync(options.out)) return [];
  const found = JSON.parse(readFileSync(options.out, 'utf8')) as ReturnType<typeof recordOf>;
  const { kind, seed, rounds, tasks, groupSize } = recordOf(options, []);
  const same = { kind, seed, rounds, tasks, groupSize };
  for (const [name, value] of Object.entries(same)) {
    const there = found[name as keyof typeof same];
    if (there === value) continue;
    throw wrongInput('soak.out', `${options.out} holds a soak with ${name} ${there}.`, {
      expected: `${name} ${value}`,
      next: 'Name another file with --out, or remove this one.',
    });
  }
  return found.results;
}

/**
 * Plays the cases that `--out` does not hold yet.
 *
 * @returns whether every run came to the right versions or named its loss, and no terminal stood still
 */
export async function damageSoak(recipes: Registry, options: DamageSoakOptions): Promise<boolean> {
  const { seed, rounds, tasks, groupSize } = options;
  const cases = drawCases(options, new Random(`damage/${seed}`));
  const results = [...earlierResults(options)];
  const order = { recipe: 'trio', seed, rounds, freeze: [], tasks, groupSize };
  const soak = await prepareDamage(recipes, order);
  for (const [i, one] of cases.entries()) {
    if (i < results.length) continue;
    const result = await playDamage(soak, one, new Random(`damage/${seed}/${i}`));
    results.push(result);
    if (!options.json) console.log(printableLines(lineOf(result)));
    // Written after each run, so that a soak that is interrupted goes on from what it found.
    if (options.out) {
      mkdirSync(dirname(resolve(options.out)), { recursive: true });
      writeFileSync(options.out, `${JSON.stringify(recordOf(options, results), null, 2)}\n`);
    }
  }
  const { results: _, ...record } = recordOf(options, results);
  console.log(
    options.json
      ? JSON.stringify(record)
      : `\n${record.runs} runs: ${record.same} with the versions of the reference run, ${record.named} with a loss that was named, ${record.wrong} wrong; ${record.silences} stood still for more than ${duration(SILENCE_MS)}.`,
  );
  return record.wrong === 0 && record.silences === 0;
}
