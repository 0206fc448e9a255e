/** What a row of a file says of its answer, for reward models: read from the metadata in which `read-examples.ts` keeps it. */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { FileTask } from './task.ts';

/** 1 = right, 0 = wrong. */
const label = v.picklist([0, 1]);
const rated = v.union([
  v.object({ rejected: v.string() }),
  v.object({ label }),
  v.object({ labels: v.pipe(v.array(label), v.minLength(1)) }),
]);

export type Rating =
  | { readonly kind: 'pair' }
  | { readonly kind: 'label'; readonly label: number }
  | { readonly kind: 'steps'; readonly labels: readonly number[] };

/** Throws `tasks.rating` for a task that is no rated answer. */
export function ratingOf({ metadata }: Pick<FileTask, 'metadata'>): Rating {
  const { success, output } = v.safeParse(rated, metadata);
  if (!success)
    throw wrongInput(
      'tasks.rating',
      `An example says nothing of its answer: ${JSON.stringify(metadata).slice(0, 80)}.`,
      {
        expected: 'a rejected answer, a label, or labels of its steps',
      },
    );
  if ('rejected' in output) return { kind: 'pair' };
  return 'label' in output
    ? { kind: 'label', label: output.label }
    : { kind: 'steps', labels: output.labels };
}
