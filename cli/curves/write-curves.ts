/** A run's curves as files: TensorBoard events, W&B's offline file, CSV and JSON lines. Pure but for the last step. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluationFigures, roundFigures } from '../../core/round/round-figures.ts';
import type { RoundAnswer, RunState } from '../../core/schema/answers.ts';
import { eventFile, type Scalars } from './event-file.ts';
import { wandbFile } from './wandb-file.ts';

export const FORMATS = ['tensorboard', 'wandb', 'csv', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

/** One step per round that has a report; step 0 is the version that the run began from. */
export function curvesOf(
  rounds: readonly Pick<RoundAnswer, 'index' | 'report' | 'createdAt' | 'endedAt'>[],
): Scalars[] {
  return [...rounds]
    .sort((a, b) => a.index - b.index)
    .flatMap(({ index, report, createdAt, endedAt }) => [
      ...(report?.start ? [{ at: createdAt, step: 0, values: evaluationFigures(report.start) }] : []),
      ...(report ? [{ at: endedAt ?? createdAt, step: index, values: roundFigures(report) }] : []),
    ]);
}

/** Names of figures hold letters, digits and `/_-.`: a recipe's own names may hold more, and a field must stay a field. */
const field = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function curvesCsv(curves: readonly Scalars[]): string {
  const names = [...new Set(curves.flatMap(({ values }) => Object.keys(values)))];
  const rows = curves.map(({ at, step, values }) => [
    String(step),
    new Date(at).toISOString(),
    ...names.map((name) => (name in values ? String(values[name]) : '')),
  ]);
  return [['round', 'time', ...names], ...rows].map((row) => `${row.map(field).join(',')}\n`).join('');
}

export const curvesJsonl = (curves: readonly Scalars[]): string =>
  curves
    .map(
      ({ at, step, values }) =>
        `${JSON.stringify({ round: step, time: new Date(at).toISOString(), ...values })}\n`,
    )
    .join('');

type WrittenRun = Pick<RunState, 'id' | 'settings' | 'state' | 'target'>;

/** W&B's own names: `wandb/offline-run-20260131_235959-ID/run-ID.wandb`. The time is that of the first step, in UTC, so that each writing has the same name. */
function wandbCurves(curves: readonly Scalars[], run: WrittenRun, name: string) {
  const began = new Date(curves[0]?.at ?? 0).toISOString();
  const time = began.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
  const { id, settings } = run;
  const done = (curves.at(-1)?.step ?? 0) >= run.target;
  const bytes = wandbFile(
    {
      id,
      project: 'rollmesh',
      group: settings.recipe,
      name,
      config: settings,
      exitCode: done ? 0 : run.state === 'stopped' ? 1 : null,
    },
    curves,
  );
  return [join('wandb', `offline-run-${time}-${id}`), `run-${id}.wandb`, bytes] as const;
}

/**
 * Writes the curves into a folder and returns the file's path. TensorBoard takes a folder of a run each, and names files by their time; W&B
 * takes a folder of a run each within one that is called `wandb`.
 */
export function writeCurves(
  curves: readonly Scalars[],
  { format, folder, run }: { readonly format: Format; readonly folder: string; readonly run: WrittenRun },
): string {
  const name = `${run.settings.policy}-${run.id.slice(0, 8)}`;
  const [place, file, content] = {
    tensorboard: () =>
      [
        name,
        `events.out.tfevents.${Math.floor((curves[0]?.at ?? 0) / 1000)}.rollmesh`,
        eventFile(curves),
      ] as const,
    wandb: () => wandbCurves(curves, run, name),
    csv: () => ['', `${name}.csv`, curvesCsv(curves)] as const,
    jsonl: () => ['', `${name}.jsonl`, curvesJsonl(curves)] as const,
  }[format]();
  mkdirSync(join(folder, place), { recursive: true });
  // `wandb sync` uploads configuration and summary as files, too, if this folder is there for it to write them.
  if (format === 'wandb') mkdirSync(join(folder, place, 'files'), { recursive: true });
  const path = join(folder, place, file);
  writeFileSync(path, content);
  return path;
}
