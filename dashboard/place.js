/** The run, round and task that the page shows, kept in the address after the #. */

/**
 * The address of a place. The run that this one is compared with is kept, unless another is named or it is the same.
 * @param {{ run: string, round?: number | undefined, task?: string | undefined, against?: string | null }} wanted
 */
export function address({ run, round, task, against = place().against }) {
  const parameters = new URLSearchParams({ run });
  if (round) parameters.set('round', String(round));
  if (task) parameters.set('task', task);
  if (against && against !== run) parameters.set('against', against);
  return `#${parameters}`;
}

export function place() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  return {
    run: parameters.get('run'),
    round: Number(parameters.get('round')) || null,
    task: parameters.get('task'),
    against: parameters.get('against'),
  };
}
