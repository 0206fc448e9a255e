/** Defines the dashboard's curves: how a run's rounds become the plot of each chart. */
import { decimal, percent, significant } from './figures.js';
import { roundAxis } from './scales.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').RoundReport} RoundReport */
/** @typedef {import('./api.js').EvaluationReport} EvaluationReport */
/** @typedef {import('./chart-image.js').Plot} Plot */

/** What is known at a round: 0 is the version that the run began from, with its evaluation alone. @typedef {{ round: number, report: RoundReport }} Point */
/** @typedef {(report: RoundReport) => number | null | undefined} Read */

/**
 * @typedef {object} Curve
 * @property {string} title
 * @property {string} note
 * @property {string} [className]
 * @property {number} [height]
 * @property {(points: readonly Point[]) => readonly (readonly [string, Read])[]} lines
 * @property {readonly [number, number]} least
 * @property {Plot['write']} write
 * @property {Plot['read']} [read]
 * @property {(points: readonly Point[]) => Plot['reference']} [reference]
 * @property {boolean} [between]
 * @property {boolean} [marks]
 * @property {string} [against] The line that is drawn of the other run too, where there is one.
 */

/** @type {(read: (evaluation: EvaluationReport) => number | null) => Read} */
const evaluated = (read) => (report) => (report.evaluation ? read(report.evaluation) : undefined);

/** A round whose report has no monitors yet has not been measured, which is not the same as "measured and missing". @type {(read: (monitors: NonNullable<RoundReport['monitors']>) => number | null) => Read} */
const monitored = (read) => (report) => (report.monitors ? read(report.monitors) : undefined);

/**
 * One line per role, for the roles that were trained.
 * @param {readonly Point[]} points
 * @param {'klToStart' | 'entropy'} key
 */
function byRole(points, key) {
  const roles = new Set(points.flatMap(({ report }) => Object.keys(report.training?.roles ?? {})));
  return [...roles].map((role) => {
    /** @type {Read} */
    const read = ({ training }) => (training ? (training.roles[role]?.[key] ?? null) : undefined);
    return /** @type {const} */ ([role, read]);
  });
}

/** @type {readonly Curve[]} */
export const CURVES = [
  {
    title: 'Held-out accuracy',
    note: 'Tasks that are never proposed or trained on. With its steps forced the policy shows its skill; the share of answers with written steps is its choice of strategy. Triangles mark rounds with warnings.',
    className: 'wide',
    height: 470,
    lines: () => [
      ['greedy', evaluated(({ heldOut }) => heldOut.accuracy)],
      ['sampled', evaluated(({ heldOut }) => heldOut.sampled)],
      ['steps forced', evaluated(({ heldOut }) => heldOut.forcedWorked)],
      ['share with steps', evaluated(({ heldOut }) => heldOut.worked)],
    ],
    least: [0, 1],
    write: percent,
    read: (value) => percent(value, 1),
    against: 'greedy',
    reference: ([first]) => {
      const start = first?.round === 0 ? first.report.evaluation : undefined;
      return start && { value: start.heldOut.accuracy, name: `version ${start.version}, greedy` };
    },
    marks: true,
  },
  {
    title: 'Reward and gold',
    note: 'Mean reward of the rollouts, and the share whose answer is exact. A gap that opens is a reward being hacked.',
    lines: () => [
      ['reward', monitored(({ reward }) => reward)],
      ['gold', monitored(({ gold }) => gold)],
    ],
    least: [0, 1],
    write: decimal,
    between: true,
    against: 'gold',
  },
  {
    title: 'Judge',
    note: 'Balanced accuracy: on a fixed set of natural solutions, on what the policy itself now writes, and in the rounds.',
    lines: () => [
      ['fixed set', evaluated(({ judge }) => judge.fixed)],
      ['own', evaluated(({ judge }) => judge.own)],
      ['in rounds', monitored(({ judgeBalancedAccuracy }) => judgeBalancedAccuracy)],
    ],
    least: [0.4, 1],
    write: decimal,
    against: 'fixed set',
    reference: () => ({ value: 0.5, name: 'chance' }),
  },
  {
    title: 'Proposer: difficulty',
    note: 'Mean difficulty of the tasks it wrote, in the task family’s own measure.',
    lines: () => [['difficulty', monitored(({ difficulty }) => difficulty)]],
    least: [1, 3],
    write: decimal,
  },
  {
    title: 'Proposer: pass rate',
    note: 'Share of its tasks’ rollouts that count as solved. It is paid most for one half.',
    lines: () => [
      ['passed', monitored(({ passRate }) => passRate)],
      ['duplicates', monitored(({ duplicateRate }) => duplicateRate)],
      ['invalid', monitored(({ invalidRate }) => invalidRate)],
    ],
    least: [0, 1],
    write: decimal,
    reference: () => ({ value: 0.5, name: 'one half' }),
  },
  {
    title: 'Solutions',
    note: 'Share of rollouts that write their steps, that keep to the grammar, and share of groups that teach nothing because all rewards are equal.',
    lines: () => [
      ['with steps', monitored(({ workedShare }) => workedShare)],
      ['in grammar', monitored(({ formatRate }) => formatRate)],
      ['equal rewards', monitored(({ zeroVariance }) => zeroVariance)],
    ],
    least: [0, 1],
    write: percent,
  },
  {
    title: 'KL to version 0',
    note: 'k3 estimate before the update, nats a token, by role.',
    lines: (points) => byRole(points, 'klToStart'),
    least: [0, 0.05],
    write: significant,
  },
  {
    title: 'Entropy',
    note: 'Of the policy at the tokens it wrote, before the update, nats a token, by role.',
    lines: (points) => byRole(points, 'entropy'),
    least: [0, 0.5],
    write: significant,
  },
  {
    title: 'Gradient norm',
    note: 'Mean over the round’s updates, before clipping.',
    lines: () => [['norm', ({ training }) => training?.gradientNorm]],
    least: [0, 1],
    write: significant,
  },
];

/** The ink of the other run's line. */
const OTHER_INK = 5;

/**
 * @param {Curve} curve
 * @param {readonly Point[]} points ascending
 * @param {number} target rounds that the run will have
 * @param {readonly Point[]} [others] of the run it is compared with
 * @returns {Plot}
 */
export function plotOf(curve, points, target, others = []) {
  const compared = curve.against === undefined ? [] : others;
  const rounds = [...new Set([...points, ...compared].map(({ round }) => round))].sort((a, b) => a - b);
  /**
   * @param {readonly Point[]} known
   * @param {Read} read
   */
  const valuesOf = (known, read) => {
    const values = new Map(known.map(({ round, report }) => [round, read(report)]));
    return rounds.map((round) => values.get(round));
  };
  const lines = curve.lines(points);
  const series = lines.map(([name, read], i) => ({ name, ink: i + 1, values: valuesOf(points, read) }));
  for (const [name, read] of compared.length ? lines : [])
    if (name === curve.against)
      series.push({ name: `${name}, other run`, ink: OTHER_INK, values: valuesOf(compared, read) });
  const reference = curve.reference?.(points);
  return {
    rounds,
    end: roundAxis(rounds.at(-1) ?? 0, target),
    series,
    least: curve.least,
    write: (value) => curve.write(value),
    read: (value) => (curve.read ?? curve.write)(value),
    ...(reference ? { reference } : {}),
    ...(curve.between ? { between: true } : {}),
    ...(curve.marks
      ? { marks: points.filter(({ report }) => report.warnings?.length).map(({ round }) => round) }
      : {}),
  };
}
