/** Which tasks of a round are admitted, and as which groups. */
import type { InvalidOutcome } from '../schema/outcome.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { AdmittedTask } from '../schema/sample.ts';
import { groupId } from './sample-ids.ts';

/** Refuses a task that comes a second time, or that is among `known`. */
export function refuseRepeated(known: Iterable<string> = []): (task: string) => InvalidOutcome | null {
  const seen = new Set(known);
  return (task) => {
    if (seen.has(task)) return 'duplicate';
    seen.add(task);
    return null;
  };
}

/** Tasks of a round in their order, each with the proposal that it came from; null where nobody proposed it. */
export const admit = (
  { id }: Pick<RoundSpec, 'id'>,
  tasks: readonly Pick<AdmittedTask, 'task' | 'proposal'>[],
): AdmittedTask[] =>
  tasks.map(({ task, proposal }, index) => ({ group: groupId(id, index), index, task, proposal }));
