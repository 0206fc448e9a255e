/** Holds the runs of a claim that was played again against its record. */
import type { Run } from '../rule/claim.ts';
import type { Played } from './record.ts';

/** A run of the record and what the same run came to when it was played again. */
export interface DifferentRun {
  readonly arm: string;
  readonly seed: number;
  /** The fields of the summary that differ. */
  readonly fields: readonly string[];
}

/** Everything of a run but the time it took. */
const TIMES: ReadonlySet<string> = new Set(['wallMs', 'learnerMs', 'rolloutMs']);

function differingFields(a: Run, b: Run): string[] {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)] as (keyof Run)[]);
  return [...fields].filter(
    (field) => !TIMES.has(field) && JSON.stringify(a[field]) !== JSON.stringify(b[field]),
  );
}

/** The runs that differ, or that one of the two lacks (their fields are empty). Times are not compared. */
export function differentRuns(
  record: Pick<Played, 'arms'>,
  again: Pick<Played, 'arms'>,
): { readonly runs: number; readonly different: readonly DifferentRun[] } {
  const byName = ({ arms }: Pick<Played, 'arms'>) =>
    new Map(
      arms.flatMap(({ name, runs }) => runs.map((run) => [JSON.stringify([name, run.seed]), run] as const)),
    );
  const [then, now] = [byName(record), byName(again)];
  const names = [...new Set([...then.keys(), ...now.keys()])];
  const different = names.flatMap((name): DifferentRun[] => {
    const [a, b] = [then.get(name), now.get(name)];
    const [arm, seed] = JSON.parse(name) as [string, number];
    if (!a || !b) return [{ arm, seed, fields: [] }];
    const fields = differingFields(a, b);
    return fields.length ? [{ arm, seed, fields }] : [];
  });
  return { runs: names.length, different };
}
