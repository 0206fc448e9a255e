/** `rollmesh compare RUN RUN`: two runs at equal sampled tokens and at equal FLOP, and whether they made the same bytes. It changes nothing. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { ComparableRun, RunPoint } from '../../core/runs/compare-runs.ts';
import { NO_LABEL } from '../../core/schema/answers.ts';
import { weightsSha256 } from '../../core/schema/policy.ts';
import { type RoundReport, roundReport } from '../../core/schema/report.ts';
import { runSettings } from '../../core/schema/round.ts';
import { roundLine } from '../../core/schema/summary.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';
import { MOST, runMeant, runName } from '../runs.ts';
import { onMesh } from '../shared/mesh-commands.ts';

/** A run's start and its rounds that ended well, in their order. */
type Reported = readonly { readonly version: number; readonly report: RoundReport; readonly round: number }[];

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** The runs of `start --in-process`, whose records are files of the state folder. */
function runsInProcess(stateDir: string) {
  const folder = join(stateDir, 'in-process', 'runs');
  const ids = existsSync(folder) ? readdirSync(folder) : [];
  return ids.flatMap((id) => {
    const path = join(folder, id, 'settings.json');
    if (!existsSync(path)) return [];
    const lines = join(folder, id, 'lines');
    const rounds = async (): Promise<Reported> => {
      const start = v.parse(roundReport, readJson(join(lines, '0.json')));
      const read = readdirSync(lines)
        .filter((name) => name !== '0.json')
        .map((name) => v.parse(roundLine, readJson(join(lines, name))))
        .sort((a, b) => a.round - b.round);
      return [
        { round: 0, version: start.evaluation?.version ?? read[0]?.from ?? 0, report: start },
        ...read.map(({ round, to, report }) => ({ round, version: to, report })),
      ];
    };
    const settings = v.parse(runSettings, readJson(path));
    return [{ id, settings, label: NO_LABEL, createdAt: statSync(path).mtimeMs, rounds }];
  });
}

async function runsInMesh(gateway: GatewayClient) {
  return (await gateway.listRuns(MOST)).map((run) => ({
    ...run,
    rounds: async (): Promise<Reported> => {
      const read = [...(await gateway.reportedRounds(run.id))].sort((a, b) => a.index - b.index);
      const start = read.flatMap(({ report }) => report?.start ?? [])[0];
      return [
        ...(start ? [{ round: 0, version: start.version, report: { evaluation: start } }] : []),
        ...read.flatMap(({ index, version, report }) =>
          version === null || !report ? [] : [{ round: index, version, report }],
        ),
      ];
    },
  }));
}

/** null where the version's files are gone. */
async function weightsOf(gateway: GatewayClient, name: string, version: number): Promise<string | null> {
  try {
    return weightsSha256(await gateway.getManifest({ name, version }));
  } catch (error) {
    if (error instanceof RollmeshError && error.code === 'object.unknown') return null;
    throw error;
  }
}

/** Reads the run that is meant, of the mesh or of one process. Throws `run.unknown`. */
export async function comparableRun(
  gateway: GatewayClient,
  stateDir: string | undefined,
  asked: string,
): Promise<ComparableRun> {
  const runs = [...(await runsInMesh(gateway)), ...(stateDir === undefined ? [] : runsInProcess(stateDir))];
  const run = runMeant(
    runs.sort((a, b) => b.createdAt - a.createdAt),
    asked,
  );
  const { parameterCount } = await import('../../model/checkpoint.ts');
  const { parseConfig } = await import('../../model/config.ts');
  const { policy, recipe } = run.settings;
  const { 'config.json': config } = await gateway.getVersion({ name: policy, version: 0 }, ['config.json']);
  const points: RunPoint[] = [];
  for (const { round, version, report } of await run.rounds())
    points.push({ round, version, report, weights: await weightsOf(gateway, policy, version) });
  const parameters = parameterCount(parseConfig(JSON.parse(new TextDecoder().decode(config))));
  return { id: run.id, name: runName(run), recipe, policy, parameters, points };
}

interface CompareOptions {
  readonly state: string;
  readonly otherState?: string;
  readonly json: boolean;
}

async function compare(one: string, other: string, options: CompareOptions): Promise<void> {
  const { state, otherState = state, json } = options;
  const elsewhere = Boolean(process.env.ROLLMESH_URL && process.env.LEARNER_TOKEN);
  if (elsewhere && options.otherState !== undefined)
    throw wrongInput(
      'compare.elsewhere',
      '--other-state is given, and ROLLMESH_URL names the mesh of both runs.',
      {
        next: 'Unset ROLLMESH_URL, or leave --other-state out.',
      },
    );
  const isOneFolder = resolve(state) === resolve(otherState);
  const read = (folder: string, ...asked: readonly string[]) =>
    onMesh(folder, async (gateway) => {
      const runs: ComparableRun[] = [];
      for (const name of asked) runs.push(await comparableRun(gateway, elsewhere ? undefined : folder, name));
      return runs;
    });
  const [a, b] = isOneFolder
    ? await read(state, one, other)
    : [...(await read(state, one)), ...(await read(otherState, other))];
  const runs = [a!, b!] as const;
  if (isOneFolder && a!.id === b!.id)
    throw wrongInput('compare.same', `${one} and ${other} are the same run, ${a!.id}.`, {
      expected: 'two runs, or --other-state with the folder of the second',
      next: 'List them: `rollmesh runs list --all`.',
    });
  const { compareRuns } = await import('../../core/runs/compare-runs.ts');
  const { comparisonLines } = await import('./format-comparison.ts');
  const compared = compareRuns(...runs);
  const named = runs.map(({ points: _, ...run }) => run);
  if (json) console.log(JSON.stringify({ runs: named, ...compared }));
  else for (const line of comparisonLines(runs, compared)) console.log(printable(line));
}

export const command = (): Command =>
  new Command(calledAs('compare'))
    .description(
      'Compares two runs at equal sampled tokens and at equal FLOP: the last evaluated versions of both that cost the same within 10 %, question by question by the exact test of `policy eval --compare`. Says as well up to which version both made the same bytes.',
    )
    .argument('<run>', 'A: its id, the first letters of it, its name, or `last`')
    .argument('<run>', 'B, to which the signs of the differences belong')
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--other-state <dir>', 'the state folder of B (default: that of A)')
    .option('--json', 'one JSON object', false)
    .addHelpText(
      'after',
      '\nFLOP are estimated: 2 per parameter and sampled token, 6 per parameter and trained token.\nRuns of `start --in-process` are known by their ids, the folders of STATE/in-process/runs.\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
    )
    .action(compare);
