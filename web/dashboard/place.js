/** What the page shows, kept in the address after the #: the list of runs, or a run with its round, task and the runs it is compared with. */

/** Runs that are drawn over one another at most, the shown one included. */
export const MOST_COMPARED = 5;

/**
 * The address of a place. The runs that this one is compared with are kept, unless others are named.
 * @param {{ run: string, round?: number | undefined, task?: string | undefined, against?: readonly string[], view?: 'held-out' }} wanted
 */
export function address({ run, round, task, against = place().against, view }) {
  const parameters = new URLSearchParams({ run });
  if (round) parameters.set('round', String(round));
  if (task) parameters.set('task', task);
  if (view) parameters.set('view', view);
  const others = against.filter((other) => other !== run);
  if (others.length) parameters.set('against', others.join(','));
  return `#${parameters}`;
}

export function place() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  return {
    run: parameters.get('run'),
    round: Number(parameters.get('round')) || null,
    task: parameters.get('task'),
    view: parameters.get('view'),
    against: (parameters.get('against') ?? '')
      .split(',')
      .filter(Boolean)
      .slice(0, MOST_COMPARED - 1),
  };
}
