/** A run's curves as files: TensorBoard events, CSV and JSON lines. Pure but for the last step. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluationFigures, roundFigures } from '../../core/round-figures.ts';
import type { RoundAnswer } from '../../core/schema/answers.ts';
import { eventFile, type Scalars } from './event-file.ts';

export const FORMATS = ['tensorboard', 'csv', 'jsonl'] as const;
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

/** Writes the curves into a folder and returns the file's path. TensorBoard takes a folder of a run each, and names files by their time. */
export function writeCurves(
  curves: readonly Scalars[],
  { format, folder, name }: { readonly format: Format; readonly folder: string; readonly name: string },
): string {
  const [place, file, content] = {
    tensorboard: () =>
      [
        join(folder, name),
        `events.out.tfevents.${Math.floor((curves[0]?.at ?? 0) / 1000)}.rollmesh`,
        eventFile(curves),
      ] as const,
    csv: () => [folder, `${name}.csv`, curvesCsv(curves)] as const,
    jsonl: () => [folder, `${name}.jsonl`, curvesJsonl(curves)] as const,
  }[format]();
  mkdirSync(place, { recursive: true });
  const path = join(place, file);
  writeFileSync(path, content);
  return path;
}
