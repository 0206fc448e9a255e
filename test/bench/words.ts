/**
 * What training by reinforcement learning adds to the policy that reads English, on questions that nobody here wrote: `words` is trained
 * by a recipe on its own generated questions, one run a seed, and version 0 and the last version of each run answer the six files of
 * examples/reasoning-gym greedily and sampled, as the chat template asks and with the steps forced. Runs are kept and gone on with.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wrongInput } from '../../core/errors.ts';
import type { Interval } from '../../core/statistics/intervals.ts';
import { tInterval } from '../../core/statistics/t-interval.ts';
import { thisMachine } from '../../local/machine.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { FAMILIES } from '../../worlds/words/questions.ts';

const POLICY = 'words';
const FILES = 'examples/reasoning-gym';
const SAMPLES = 2;

/** The settings of the runs of each recipe; log 154 has their reasons. */
const SETTINGS: Readonly<Record<string, (rounds: number) => readonly string[]>> = {
  grpo: (rounds) => [
    ...['--tasks-per-round', '128', '--group-size', '8', '--set', 'curriculum.unanimousWeight=0.25'],
    ...['--set', 'optimizer.learningRate=5e-4', '--set', `optimizer.minibatches=${MINIBATCHES}`],
    ...['--set', 'optimizer.schedule=linear', '--set', `optimizer.totalSteps=${MINIBATCHES * rounds}`],
    ...['--set', 'optimizer.warmup=8'],
  ],
  trio: () => ['--tasks-per-round', '32', '--group-size', '8'],
};
/** Optimiser steps a round of grpo: few, on many answers each, since a step on few answers moves what they say nothing about. */
const MINIBATCHES = 2;

/** How the questions are asked: as the chat template has it, or with the beginning of the steps in the prompt. */
const PROMPTS = { free: [], stepsForced: ['--template', 'enable_thinking=true'] } as const;
type Prompt = keyof typeof PROMPTS;

interface Share extends Interval {
  readonly share: number;
}

/** One version on one file. `oneDigit` and `twoDigit`: greedy answers that are right, of how many. */
interface Measured {
  readonly greedy: Share;
  readonly sampled: Share;
  readonly oneDigit: readonly [number, number];
  readonly twoDigit: readonly [number, number];
}

type OfFamilies = Readonly<Record<string, Measured>>;
type OfPrompts = Readonly<Record<Prompt, OfFamilies>>;

interface AnsweredQuestion {
  readonly messages: readonly { readonly content: string }[];
  readonly metadata: { readonly expression?: string; readonly numbers?: readonly number[] };
  readonly greedy: { readonly outcome: string };
}

const rollmesh = nodeArguments('cli/rollmesh');

/** Plays the rounds of one seed that are missing. What it prints goes to the standard error. */
async function train(recipe: string, seed: number, rounds: number, state: string): Promise<void> {
  const args = [
    ...['start', '--recipe', recipe, '--policy', POLICY, '--seed', String(seed), '--rounds', String(rounds)],
    ...[
      '--in-process',
      '--engine',
      'kernels',
      '--eval-every',
      '10',
      '--headless',
      '--threads',
      '1',
      '--state',
      state,
    ],
    ...SETTINGS[recipe]!(rounds),
  ];
  const child = spawn(process.execPath, [...rollmesh, ...args], { stdio: ['ignore', 2, 'inherit'] });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  if (code !== 0) throw new Error(`the run of seed ${seed} ended with ${String(code)}`);
}

const ask = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [...rollmesh, 'policy', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });

function newestVersion(state: string): number {
  const policies = ask('list', '--json', '--state', state)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; current: number });
  return policies.find(({ name }) => name === POLICY)!.current;
}

/** Whether the numbers that a question states have one digit each. */
const isOneDigit = ({ metadata: { expression, numbers }, messages }: AnsweredQuestion): boolean =>
  !/\d\d/.test(expression ?? numbers?.join(' ') ?? messages.map(({ content }) => content).join(' '));

/** A version on the file of one family; what was measured before is read. */
function measureFamily(state: string, version: number, prompt: Prompt, family: string): Measured {
  const written = join(state, 'bench', `${version}-${prompt}-${family}`);
  const [answersFile, resultFile] = [`${written}.jsonl`, `${written}.json`];
  if (!existsSync(resultFile)) {
    mkdirSync(join(state, 'bench'), { recursive: true });
    const tasks = join(FILES, `${family}.easy.jsonl`);
    const asked = ['--tasks', tasks, '--samples', String(SAMPLES), '--engine', 'kernels', '--json'];
    const kept = ['--write', answersFile, '--state', state];
    writeFileSync(resultFile, ask('eval', POLICY, String(version), ...asked, ...kept, ...PROMPTS[prompt]));
  }
  const result = JSON.parse(readFileSync(resultFile, 'utf8')) as {
    greedy: { accuracy: Share };
    sampled: { accuracy: Share };
  };
  const answered = readFileSync(answersFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AnsweredQuestion);
  const right = (of: readonly AnsweredQuestion[]): readonly [number, number] => [
    of.filter(({ greedy }) => greedy.outcome === 'right').length,
    of.length,
  ];
  return {
    greedy: result.greedy.accuracy,
    sampled: result.sampled.accuracy,
    oneDigit: right(answered.filter(isOneDigit)),
    twoDigit: right(answered.filter((question) => !isOneDigit(question))),
  };
}

const measureVersion = (state: string, version: number): OfPrompts => {
  const families = (prompt: Prompt): OfFamilies =>
    Object.fromEntries(FAMILIES.map((family) => [family, measureFamily(state, version, prompt, family)]));
  return { free: families('free'), stepsForced: families('stepsForced') };
};

const meanOf = (measured: OfFamilies, way: 'greedy' | 'sampled'): number =>
  FAMILIES.reduce((sum, family) => sum + measured[family]![way].share, 0) / FAMILIES.length;

/** The mean of the six files before and after, and the change with the 95 % t-interval over seeds, as shares. */
function changeOf(start: OfPrompts, ends: readonly OfPrompts[], prompt: Prompt, way: 'greedy' | 'sampled') {
  const before = meanOf(start[prompt], way);
  const changes = ends.map((end) => meanOf(end[prompt], way) - before);
  return { before, ...tInterval(changes), changes };
}

/** `--recipe grpo|trio`, `--seeds N` (3), `--rounds N` (40), `--jobs N` (1: runs at once, of one thread each), `--state DIR`, `--json`. Results also go to test/bench/results. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recipe: { type: 'string', default: 'grpo' },
      seeds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '40' },
      jobs: { type: 'string', default: '1' },
      state: { type: 'string', default: '.rollmesh/bench-words' },
      json: { type: 'boolean', default: false },
    },
  });
  const { recipe } = values;
  const [seeds, rounds, jobs] = [Number(values.seeds), Number(values.rounds), Number(values.jobs)];
  if (!Object.hasOwn(SETTINGS, recipe))
    throw wrongInput('bench.options', `There are no settings for --recipe ${recipe}.`, {
      expected: Object.keys(SETTINGS).join(' or '),
    });
  // Before the runs: what is committed while they play is not what they play.
  const machine = thisMachine();
  const runs: (OfPrompts & { readonly seed: number; readonly version: number })[] = [];
  let start: OfPrompts | undefined;
  // A run of other rounds, or from another start, is another one.
  const beginsWith = createHash('sha256')
    .update(readFileSync(`models/${POLICY}/model.safetensors`))
    .digest('hex')
    .slice(0, 8);
  const stateOf = (seed: number) => join(values.state, `${recipe}-${beginsWith}-${rounds}-${seed}`);
  const waiting = Array.from({ length: seeds }, (_, seed) => seed);
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift())
      await train(recipe, seed, rounds, stateOf(seed));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (let seed = 0; seed < seeds; seed++) {
    const state = stateOf(seed);
    start ??= measureVersion(state, 0);
    const version = newestVersion(state);
    runs.push({ seed, version, ...measureVersion(state, version) });
  }
  const change = Object.fromEntries(
    (['free', 'stepsForced'] as const).map((prompt) => [
      prompt,
      {
        greedy: changeOf(start!, runs, prompt, 'greedy'),
        sampled: changeOf(start!, runs, prompt, 'sampled'),
      },
    ]),
  );
  const result = {
    bench: 'words',
    machine,
    recipe,
    rounds,
    settings: SETTINGS[recipe]!(rounds),
    samples: SAMPLES,
    start,
    runs,
    change,
  };
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(`test/bench/results/words-${recipe}.json`, `${JSON.stringify(result, null, 2)}\n`);
  if (values.json) return console.log(JSON.stringify(result));
  const points = (share: number) => (100 * share).toFixed(1);
  for (const [prompt, ways] of Object.entries(change))
    for (const [way, { before, mean, low, high }] of Object.entries(ways))
      console.log(
        `${prompt}, ${way}: ${points(before)} % at version 0; after ${rounds} rounds ${points(mean)} points more (${points(low)} to ${points(high)}, ${seeds} seeds)`,
      );
}
