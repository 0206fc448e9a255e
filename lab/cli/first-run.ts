/**
 * Plays the first run of recipes that have no record of a claim, as a user would, and notes in first-runs/measured.json how long it took and which
 * change it came to: `npm run first-runs --workspace lab -- NAME…`. Nothing is claimed of such a run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RollmeshError } from 'rollmesh';
import { type Summary, thisMachine } from 'rollmesh/local';
import { shipped } from 'rollmesh/recipes';
import { failed } from './failed.ts';
import { change, FIRST_RUNS, type Measured, machineName } from './measured.ts';

const ROUNDS = 12;
const COMMAND = fileURLToPath(import.meta.resolve('rollmesh/cli'));
/** At its end a process says on its fourth stream how many seconds of processor time it took: on a quiet core they are the time that passes. */
const TIMED =
  "data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,String((user+system)/1e6))})";

/** What plays recipes that learn from files: sums and an early version of arithmetic-base. */
const ON_SUMS = '--policy arithmetic-base --set optimizer.learningRate=';
const FLAGS: Readonly<Record<string, string>> = {
  grpo: `${ON_SUMS}2e-4 --tasks lab/first-runs/sums.jsonl --set maxNew=26`,
  distil: `${ON_SUMS}2e-4 --tasks lab/first-runs/sums.jsonl --set maxNew=26 --set teacher.policy=arithmetic-reading`,
  sft: `${ON_SUMS}2e-3 --tasks lab/first-runs/sums.jsonl`,
  dpo: `${ON_SUMS}2e-4 --tasks lab/first-runs/pairs.jsonl`,
  'reward-model': `${ON_SUMS}2e-3 --tasks lab/first-runs/pairs.jsonl`,
};

interface Started {
  readonly policy: string;
  readonly tasks: number;
  readonly groupSize: number;
}

async function firstRun(recipe: string): Promise<Measured & { readonly busy: true }> {
  const state = await mkdtemp(join(tmpdir(), 'first-run-'));
  const flags = [FLAGS[recipe], '--engine kernels'].filter(Boolean).join(' ');
  const more = `--rounds ${ROUNDS} --eval-every ${ROUNDS} --threads 1 --in-process --headless --json --state ${state}`;
  const asked = ['start', '--recipe', recipe, ...`${flags} ${more}`.split(' ')];
  const child = spawn(process.execPath, [...process.execArgv, '--import', TIMED, COMMAND, ...asked], {
    cwd: '..',
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const ended = once(child, 'close');
  let started: Started | undefined;
  let summary: Summary | undefined;
  let seconds = '';
  child.stdio[3]!.on('data', (text) => {
    seconds += text;
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const said = JSON.parse(line);
    if (said.kind === 'start') started = said.settings;
    if (said.kind === 'summary') summary = said;
  }
  const [status] = await ended;
  await rm(state, { recursive: true });
  if (status !== 0 || !started || !summary || !seconds)
    throw new RollmeshError('give-up', 'first-run', `The first run of ${recipe} ended with ${status}.`, {
      next: `Run it alone: npx rollmesh ${asked.join(' ')}`,
    });
  const { heldout } = summary;
  const curve = {
    accuracy: heldout.map(({ accuracy }) => accuracy),
    sampled: heldout.map(({ sampled }) => sampled),
  };
  return {
    flags,
    start: FLAGS[recipe] ? started.policy : shipped.find(recipe).startPolicy,
    sizes: [started.tasks, started.groupSize],
    rounds: ROUNDS,
    seeds: 1,
    seconds: Math.round(Number(seconds)),
    busy: true,
    machine: machineName(thisMachine()),
    greedy: change([curve], 'accuracy'),
    sampled: change([curve], 'sampled'),
  };
}

try {
  for (const recipe of process.argv.slice(2)) {
    const row = await firstRun(recipe);
    console.log(`${recipe}: ${JSON.stringify(row)}`);
    const rows = { ...JSON.parse(await readFile(FIRST_RUNS, 'utf8')), [recipe]: row };
    const lines = Object.keys(rows)
      .sort()
      .map((name) => `  "${name}": ${JSON.stringify(rows[name])}`);
    await writeFile(FIRST_RUNS, `{\n${lines.join(',\n')}\n}\n`);
  }
} catch (error) {
  failed(error);
}
