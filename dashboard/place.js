/** Where in the mesh the page is looking, kept in the address after the #. */

/** @param {{ run: string, round?: number | undefined, task?: string | undefined }} place */
export const address = ({ run, round, task }) =>
  `#${new URLSearchParams({ run, ...(round ? { round: String(round) } : {}), ...(task ? { task } : {}) })}`;

export function place() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  return {
    run: parameters.get('run'),
    round: Number(parameters.get('round')) || null,
    task: parameters.get('task'),
  };
}
