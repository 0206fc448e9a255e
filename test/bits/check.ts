/**
 * Plays small rounds of every shipped recipe in this process and compares the hash of every version's weights, and of the last version's
 * evaluation, with the committed ones in `hashes.txt`. A change of names, folders or types must pass it; a change of prompts, seeds,
 * advantages, losses or of the runtime does not. `npm run bits [-- NAME …]` compares the lines of these recipes, or all;
 * with `--write` it records them anew.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ASKS } from '../../cli/recipe/by-server.ts';
import { unmappedPart, unmappedSets } from '../../core/plan/by-server.ts';
import { tiedToSampling } from '../../core/plan/tied-sampling.ts';
import { sha256Hex } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { fileEntries, type VersionFiles } from '../../core/schema/policy.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import type { RunListener } from '../../local/run/play.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { allLines, type Line, TEACHER } from './lines.ts';

const RECORD = new URL('./hashes.txt', import.meta.url);
const here = `Node ${process.version}, ${process.platform} ${process.arch}`;

/** The weights may stay as they were: some train nothing, and a control may pay all answers of so few tasks alike. */
const mayStay = ({ name, recipe }: Line): boolean =>
  recipe === 'cosplay' || name.endsWith('/training-free') || name.includes(':');

/** Enough to tell two results apart. */
const short = (text: string) => sha256Hex(new TextEncoder().encode(text)).slice(0, 16);

/** The files that hold numbers: a version's configuration and tokenizer are copied from the version before it. Their names do not count. */
const weightsHash = (files: VersionFiles): string =>
  short(
    fileEntries(files)
      .filter(([file]) => file.endsWith('.safetensors'))
      .map(([, bytes]) => sha256Hex(bytes))
      .sort()
      .join(),
  );

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** The numbers of the figures alone, in order of size: another name of a field is no other evaluation. */
const evaluationHash = ({ version, heldOut, judge, figures }: EvaluationReport): string =>
  short(JSON.stringify(numbersIn([version, heldOut, judge, figures]).sort((a, b) => a - b)));

/** The recipe, which notes what it asks for that a server of Tinker's API does not have. */
const noting = (recipe: Recipe, asked: Set<string>): Recipe => ({
  ...recipe,
  async learn(records, tools) {
    const noted = (['entropies', 'states', 'values', 'classes', 'alignment', 'trial'] as const).map(
      (name) => [
        name,
        (...of: never[]) => {
          asked.add(name);
          return (tools[name] as (...of: never[]) => never)(...of);
        },
      ],
    );
    const plan = await recipe.learn(records, { ...tools, ...Object.fromEntries(noted) });
    for (const { parts } of tiedToSampling(plan.updates, recipe))
      for (const why of parts.map(unmappedPart)) if (why) asked.add(why);
    return plan;
  },
});

/**
 * The hashes of versions 0, 1, …, then those of the evaluations before the first round and after the last, on six held-out tasks of each family. A
 * policy `teacher` is there for the recipes that ask one.
 */
async function play(line: Line): Promise<string> {
  const { settings, recipe, rounds } = line.run;
  const asked = new Set<string>();
  const store = new MemoryRunStore();
  const start = await readPolicyFolder(join('models', recipe.startPolicy));
  for (const name of [settings.policy, TEACHER]) await store.commitVersion({ name, version: 0 }, start);
  const evaluations: EvaluationReport[] = [];
  const listener: RunListener = {
    started() {},
    evaluatedStart: (evaluation) => evaluations.push(evaluation),
    round: ({ report }) => report.evaluation && evaluations.push(report.evaluation),
    finished() {},
  };
  const options = { device: 'cpu', threads: 1, revectorize: true, evalEvery: rounds } as const;
  await playInProcess({ ...line.run, recipe: noting(recipe, asked) }, options, store, listener, {
    heldOut: true,
    most: 6,
  });
  const isListed = ASKS[line.recipe] !== undefined;
  if (line.name === line.recipe && !unmappedSets(recipe) && isListed !== asked.size > 0)
    throw new Error(
      `cli/recipe/by-server.ts has it ${isListed ? '' : 'not '}in its list, and it asks for ${[...asked].join(', ') || 'nothing'}.`,
    );
  const versions: string[] = [];
  for (let version = 0; version <= rounds; version++)
    versions.push(weightsHash(await store.loadVersion({ name: settings.policy, version })));
  if (new Set(versions).size === 1 && !mayStay(line))
    throw new Error(`internal: ${rounds} rounds left all weights as they were: they show too little.`);
  return [...versions, 'evaluated', ...evaluations.map(evaluationHash)].join(' ');
}

/** The hashes of a line, and the commit at which they were recorded. */
interface Recorded {
  readonly at: string;
  readonly hashes: string;
}

/** By the line's name. Reads the lines `NAME | COMMIT | HASHES` after the first, which says on what they were computed. */
async function readRecord(): Promise<{ readonly madeOn: string; readonly of: Map<string, Recorded> }> {
  const [madeOn = '', ...rows] = (await readFile(RECORD, 'utf8')).trim().split('\n');
  const of = rows.map((row) => {
    const [name, at, hashes] = row.split(' | ') as [string, string, string];
    return [name, { at, hashes }] as const;
  });
  return { madeOn, of: new Map(of) };
}

async function writeRecord(of: ReadonlyMap<string, Recorded>): Promise<void> {
  const rows = allLines().flatMap(({ name }) => {
    const recorded = of.get(name);
    return recorded ? [`${name} | ${recorded.at} | ${recorded.hashes}`] : [];
  });
  await writeFile(RECORD, `${[here, ...rows].join('\n')}\n`);
  console.log(`${rows.length} lines are recorded on ${here}.`);
}

/** What differs first between hashes of two plays of a line. */
function firstDifference(was: string, is: string): string {
  const [before, after] = [was.split(' '), is.split(' ')];
  const first = after.findIndex((hash, i) => hash !== before[i]);
  return first < after.indexOf('evaluated')
    ? `version ${first} has other weights`
    : 'all weights are the same, an evaluation differs';
}

const { positionals: named, values } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' } },
});
const isWriting = values.write === true;
const unknown = named.filter((name) => !allLines().some((line) => line.recipe === name));
if (unknown.length) throw new Error(`There is no recipe ${unknown.join(', ')}.`);
const lines = allLines().filter(({ recipe }) => !named.length || named.includes(recipe));
const { madeOn, of: recorded } = existsSync(RECORD)
  ? await readRecord()
  : { madeOn: here, of: new Map<string, Recorded>() };
const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();
const began = performance.now();
let changed = 0;
for (const line of lines) {
  const was = recorded.get(line.name);
  let is: string;
  try {
    is = await play(line);
  } catch (error) {
    changed++;
    console.error(`${line.name}: ${error instanceof Error ? error.message : error}`);
    continue;
  }
  if (was?.hashes === is) continue;
  if (isWriting) recorded.set(line.name, { at: commit, hashes: is });
  else {
    changed++;
    console.error(
      was
        ? `${line.name}: ${firstDifference(was.hashes, is)} than at ${was.at}.`
        : `${line.name} has no recorded hashes: add them with \`npm run bits -- ${line.recipe} --write\`.`,
    );
  }
}
if (isWriting) await writeRecord(recorded);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${lines.length - changed} of ${lines.length} lines came to the recorded bits (${seconds} s).`);
if (changed && madeOn !== here)
  console.error(
    `The hashes were recorded on ${madeOn}; this is ${here}. To tell a change from the runtime, run the check at that commit here.`,
  );
process.exit(changed ? 1 : 0);
