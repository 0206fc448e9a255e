/** Measures whether a round's time is proportional to its groups: rounds of 64 and of 640 groups take turns on one local mesh. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { thisMachine } from '../../local/machine.ts';
import { type Observation, observe } from './elastic/observe.ts';
import { summarise } from './statistics.ts';

const FEW = 64;
const MANY = 640;
const GROUP = 2;
/** The largest time of a round with ten times the groups, relative to ten times the smaller round's time. */
const MOST = 1.1;

/** ms a group of every round of a size; each run's first round is left out. */
const perGroup = (observations: readonly Observation[], tasks: number) =>
  summarise(
    observations
      .filter(({ setting }) => setting.tasks === tasks)
      .flatMap(({ rounds }) => rounds.map((round) => round.roundMs / round.tasks)),
  );

/** `--turns N` (2) of each size, `--json`: one JSON object. Results also go to test/bench/results/scaling.json. Exit status 1 beyond the bound. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { turns: { type: 'string', default: '2' }, json: { type: 'boolean', default: false } },
  });
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const settings = Array.from({ length: Number(values.turns) }, () => [FEW, MANY])
    .flat()
    .map((tasks) => ({ tasks, group: GROUP, runs: 1 }));
  const { observations } = await observe(settings, 'onnx', say);
  const [few, many] = [perGroup(observations, FEW), perGroup(observations, MANY)];
  const ratio = many.median / few.median;
  const result = { bench: 'scaling', machine: thisMachine(), group: GROUP, few, many, ratio, most: MOST };
  say(
    `a group takes ${few.median.toFixed(1)} ms in rounds of ${FEW}, ${many.median.toFixed(1)} ms in rounds of ${MANY}: ${ratio.toFixed(2)}x (at most ${MOST})`,
  );
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync('test/bench/results/scaling.json', `${JSON.stringify(result, null, 2)}\n`);
  if (ratio > MOST) process.exitCode = 1;
}
