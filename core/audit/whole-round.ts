/** Checks that a round's list of groups is complete: each admitted task has exactly one group, scored or failed with a reason. */
import type { AdmittedTask, ScoredGroup } from '../schema/sample.ts';

/** A group as the database lists it. */
export interface ListedGroup {
  readonly group: string;
  readonly index: number;
  readonly state: 'rollout' | 'scored' | 'trained' | 'failed';
  readonly failure: object | null;
}

/** What is wrong with the list, in words; null = it is exactly what the proposals admitted. */
export function wrongList(tasks: readonly AdmittedTask[], listed: readonly ListedGroup[]): string | null {
  const twice = firstTwice(tasks.map(({ group }) => group)) ?? firstTwice(listed.map(({ group }) => group));
  if (twice !== undefined) return `The group ${twice} is there twice.`;
  const rowOf = new Map(listed.map((row) => [row.group, row]));
  const missing = tasks.filter(({ group }) => !rowOf.has(group));
  if (missing.length)
    return `${missing.length} of ${tasks.length} admitted tasks have no group, such as ${missing[0]!.group}.`;
  const indexOf = new Map(tasks.map(({ group, index }) => [group, index]));
  for (const { group, index, state, failure } of listed) {
    if (indexOf.get(group) !== index) return `The group ${group} was not admitted at place ${index}.`;
    if (state === 'rollout') return `The group ${group} was never scored, and never failed.`;
    if (state === 'failed' && failure === null) return `The group ${group} failed without a reason.`;
  }
  return null;
}

const firstTwice = (ids: readonly string[]) => ids.find((id, i) => ids.indexOf(id) < i);

/** Is the record of a group about the task that was admitted under its id? */
export function isOfTask(record: ScoredGroup, tasks: readonly AdmittedTask[]): boolean {
  const admitted = tasks.find(({ group }) => group === record.group);
  return (
    admitted !== undefined &&
    admitted.index === record.index &&
    admitted.task === record.task &&
    admitted.proposal === record.proposal
  );
}
