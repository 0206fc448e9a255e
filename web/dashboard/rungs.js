/** What a solver can do and what a proposer asks, by the difficulty of tasks: the figures `solved.1`, `solved.2`, … of an evaluation and `written.1`, … of a round. */

/** @typedef {import('./api.js').RoundReport} RoundReport */
/** @typedef {Readonly<Record<string, number | null>>} Figures */

/** @param {string} name */
export const isRung = (name) => /^(?:solved|written)\.\d+$/.test(name);

/**
 * A difficulty with the share of its held-out tasks that are solved, at the start and now, and its share of the tasks that were written last.
 * @typedef {{ level: number, before: number | null, solved: number | null, written: number | null }} Rung
 */

/** The newest figures that have rungs of this name. @param {readonly (Figures | undefined)[]} all @param {string} name */
const newest = (all, name) =>
  all.findLast((figures) => figures && Object.keys(figures).some((key) => key.startsWith(`${name}.`))) ?? {};

/**
 * The rungs that are known of a run, the easiest first; none where its recipe does not tell tasks apart by difficulty.
 * @param {readonly { readonly report: Pick<RoundReport, 'evaluation' | 'figures'> }[]} points ascending
 * @returns {Rung[]}
 */
export function rungsOf(points) {
  const evaluations = points.map(({ report }) => report.evaluation?.figures);
  const [solved, written] = [
    newest(evaluations, 'solved'),
    newest(
      points.map(({ report }) => report.figures),
      'written',
    ),
  ];
  const first = evaluations.find((figures) => figures !== undefined) ?? {};
  const levels = [...Object.keys(solved), ...Object.keys(written)]
    .filter(isRung)
    .map((name) => Number(name.split('.')[1]));
  return [...new Set(levels)]
    .sort((a, b) => a - b)
    .map((level) => ({
      level,
      before: first[`solved.${level}`] ?? null,
      solved: solved[`solved.${level}`] ?? null,
      written: written[`written.${level}`] ?? null,
    }));
}
