/** Defines the dashboard's curves: how a run's rounds become the plot of each chart. */
import { inkOf } from './chart-image.js';
import { decimal, humanised, meaningOf, percent, significant, whole } from './figures.js';
import { roundAxis, smoothed } from './scales.js';

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
 * @property {readonly (readonly [name: string, meaning: string])[]} [meanings] What its lines mean, where the note does not say.
 * @property {string} [className]
 * @property {number} [height]
 * @property {(points: readonly Point[]) => readonly (readonly [string, Read])[]} lines
 * @property {readonly [number, number]} least
 * @property {Plot['write']} write
 * @property {Plot['read']} [read]
 * @property {(points: readonly Point[]) => Plot['reference']} [reference]
 * @property {boolean} [between]
 * @property {boolean} [marks]
 * @property {string} [against] The line by which runs are compared; the first where none is named.
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
    note: 'Mean reward of the rollouts, and the share whose answer is exact. On the same scale, a gap that grows beyond chance may be a reward that is hacked: the round then has a warning.',
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
    title: 'Difficulty',
    note: 'Mean difficulty of the rounds’ tasks, in the task family’s own measure.',
    lines: () => [['difficulty', monitored(({ difficulty }) => difficulty)]],
    least: [1, 3],
    write: decimal,
  },
  {
    title: 'Pass rate and proposals',
    note: 'Share of rollouts that count as solved; shares of the proposals that repeat another or are no tasks.',
    lines: () => [
      ['passed', monitored(({ passRate }) => passRate)],
      ['duplicates', monitored(({ duplicateRate }) => duplicateRate)],
      ['invalid', monitored(({ invalidRate }) => invalidRate)],
    ],
    least: [0, 1],
    write: decimal,
  },
  {
    title: 'Rollouts',
    note: 'Share of rollouts that write their steps, that are well-formed, and share of groups whose rewards are all equal.',
    lines: () => [
      ['with steps', monitored(({ workedShare }) => workedShare)],
      ['well-formed', monitored(({ formatRate }) => formatRate)],
      ['equal rewards', monitored(({ zeroVariance }) => zeroVariance)],
    ],
    least: [0, 1],
    write: percent,
  },
  {
    title: 'Tokens per rollout',
    note: 'Mean of all rollouts, each with all of its turns.',
    lines: () => [['tokens', monitored(({ length }) => length)]],
    least: [0, 0],
    write: significant,
  },
  {
    title: 'KL to version 0',
    note: 'k3 estimate before the update, nats per token, by role.',
    lines: (points) => byRole(points, 'klToStart'),
    least: [0, 0.05],
    write: significant,
  },
  {
    title: 'Entropy',
    note: 'Of the policy at the tokens it wrote, before the update, nats per token, by role.',
    lines: (points) => byRole(points, 'entropy'),
    least: [0, 0.5],
    write: significant,
  },
  {
    title: 'Gradient norm',
    note: 'Mean over the round’s updates, before clipping.',
    // A round without an update has no gradient.
    lines: () => [['norm', ({ training }) => (training?.updates ? training.gradientNorm : undefined)]],
    least: [0, 1],
    write: significant,
  },
  {
    title: 'Tokens per second',
    note: 'Tokens that were generated in the round, by the time until its last group was judged.',
    lines: () => [
      [
        'tokens per second',
        ({ monitors, rolloutMs }) =>
          monitors && rolloutMs ? (1000 * monitors.tokens) / rolloutMs : undefined,
      ],
    ],
    least: [0, 0],
    write: whole,
  },
];

/** Is there anything to draw? @param {readonly Point[]} points @param {Read} read */
const isKnown = (points, read) => points.some(({ report }) => typeof read(report) === 'number');

/** Lines of a chart at most. */
const MOST_LINES = 6;

/**
 * Curves of figures that only the recipe knows: shares from 0 to 1 share a chart, any other figure has one of its own.
 * @param {readonly Point[]} points
 * @param {string} title
 * @param {string} note
 * @param {Readonly<Record<string, string>>} meanings
 * @param {(report: RoundReport) => Readonly<Record<string, number | null>> | undefined} figuresOf
 * @returns {Curve[]}
 */
function figureCurves(points, title, note, meanings, figuresOf) {
  const names = [...new Set(points.flatMap(({ report }) => Object.keys(figuresOf(report) ?? {})))];
  /** @type {(name: string) => Read} */
  const reads = (name) => (report) => {
    const figures = figuresOf(report);
    return figures && name in figures ? figures[name] : undefined;
  };
  const known = names.filter((name) => isKnown(points, reads(name)));
  const isShare = (/** @type {string} */ name) =>
    points.every(({ report }) => {
      const value = reads(name)(report) ?? 0;
      return value >= 0 && value <= 1;
    });
  const shares = known.filter(isShare);
  const charts = Array.from({ length: Math.ceil(shares.length / MOST_LINES) }, (_, i) =>
    shares.slice(i * MOST_LINES, (i + 1) * MOST_LINES),
  );
  /** @type {(names: readonly string[]) => Curve['lines']} */
  const linesOf = (of) => () => of.map((name) => /** @type {const} */ ([humanised(name), reads(name)]));
  /** @type {(names: readonly string[]) => NonNullable<Curve['meanings']>} */
  const meaningsOf = (of) =>
    of.flatMap((name) => {
      const meaning = meaningOf(meanings, name);
      return meaning === undefined ? [] : [/** @type {const} */ ([humanised(name), meaning])];
    });
  return [
    ...charts.map((of, i) => ({
      title: charts.length > 1 ? `${title} (${i + 1})` : title,
      note,
      meanings: meaningsOf(of),
      lines: linesOf(of),
      least: /** @type {const} */ ([0, 1]),
      write: decimal,
    })),
    ...known
      .filter((name) => !isShare(name))
      .map((name) => ({
        title: `${title}: ${humanised(name)}`,
        note,
        meanings: meaningsOf([name]),
        lines: linesOf([name]),
        least: /** @type {const} */ ([0, 0]),
        write: significant,
      })),
  ];
}

/** Figures of the trained parts, named `set/role/kind/figure`. @param {RoundReport} report @param {string} last */
const partFigures = ({ figures }, last) =>
  figures &&
  Object.fromEntries(
    Object.entries(figures)
      .filter(([name]) => name.includes('/') && name.endsWith(`/${last}`))
      .map(([name, value]) => [name.slice(0, -last.length - 1).replace(/^main\//, ''), value]),
  );

/** The loss of each trained part, in one chart. @param {readonly Point[]} points @returns {Curve[]} */
function lossCurve(points) {
  const names = [...new Set(points.flatMap(({ report }) => Object.keys(partFigures(report, 'loss') ?? {})))];
  const lines = names.slice(0, MOST_LINES).map((name) => {
    /** @type {Read} */
    const read = (report) => partFigures(report, 'loss')?.[name];
    return /** @type {const} */ ([humanised(name), read]);
  });
  const note = 'Of each trained part, mean over the round’s updates.';
  return lines.length ? [{ title: 'Loss', note, lines: () => lines, least: [0, 0], write: significant }] : [];
}

/**
 * The curves that have something to draw in a run: the usual ones, then those of the recipe.
 * @param {readonly Point[]} points
 * @param {Readonly<Record<string, string>>} [meanings] what the recipe’s own figures mean, by name
 * @returns {Curve[]}
 */
export function curvesOf(points, meanings = {}) {
  const usual = CURVES.flatMap((curve) => {
    const lines = curve.lines(points).filter(([, read]) => isKnown(points, read));
    return lines.length ? [{ ...curve, lines: () => lines }] : [];
  });
  return [
    ...usual,
    ...figureCurves(
      points,
      'Evaluation figures',
      'The recipe’s own figures of the evaluated versions.',
      meanings,
      (report) => report.evaluation?.figures,
    ),
    ...figureCurves(
      points,
      'Round figures',
      'The recipe’s own figures of each round.',
      meanings,
      ({ figures }) =>
        figures && Object.fromEntries(Object.entries(figures).filter(([name]) => !name.includes('/'))),
    ),
    ...lossCurve(points),
  ];
}

/**
 * Runs that are drawn as one: those that differ by their seed alone.
 * @typedef {object} Compared
 * @property {string} name
 * @property {readonly (readonly Point[])[]} runs
 */

/** The one line of a chart by which runs are compared: that of most of them, the first of those. @param {Curve} curve @param {readonly Compared[]} families */
function comparedLine(curve, families) {
  const names = families.map(
    ({ runs }) => new Set(runs.flatMap((points) => curve.lines(points).map(([name]) => name))),
  );
  const held = (/** @type {string} */ name) => names.filter((of) => of.has(name)).length;
  const [first, ...rest] = new Set(names.flatMap((of) => [...of]));
  if (curve.against !== undefined && held(curve.against)) return curve.against;
  return rest.reduce((best, name) => (held(name) > held(best) ? name : best), first ?? '');
}

/** What is said of a chart's lines below it; where runs are compared, which line of them it is. @param {Curve} curve @param {readonly Compared[]} families */
export function meaningsOf(curve, families) {
  if (!families.length) return curve.meanings;
  const line = comparedLine(curve, families);
  const meaning = curve.meanings?.find(([name]) => name === line)?.[1];
  return [/** @type {const} */ (['Drawn', meaning ? `${line}. ${meaning}` : `${line}.`])];
}

/**
 * How all charts of a run are looked at.
 * @typedef {object} View
 * @property {'rounds' | 'tokens'} along The axis: rounds, or tokens that were sampled since the run began.
 * @property {number} smoothing Weight of the past in the moving average of each line, from 0 to less than 1.
 * @property {readonly [from: number, to: number] | null} range The stretch of the axis that is drawn; null = all of it.
 */

/** @type {View} */
export const WHOLE = { along: 'rounds', smoothing: 0, range: null };

/** @type {Readonly<Record<View['along'], NonNullable<Plot['axis']>>>} */
const AXES = {
  rounds: { name: 'round', write: String, read: (x) => `round ${x}` },
  tokens: { name: 'sampled tokens', write: compact, read: (x) => `${compact(x)} tokens` },
};

/** A large number in thousands or millions. @param {number} value */
function compact(value) {
  if (value >= 1e6) return `${significant(value / 1e6)} M`;
  return value >= 1000 ? `${significant(value / 1000)} k` : whole(value);
}

/**
 * Where the rounds of runs lie on the axis: by sampled tokens, at the mean of the runs that reached the round.
 * @param {readonly (readonly Point[])[]} runs
 * @param {View['along']} along
 * @returns {(round: number) => number}
 */
function placesOf(runs, along) {
  if (along === 'rounds') return (round) => round;
  /** @type {Map<number, number[]>} */
  const spent = new Map();
  for (const points of runs) {
    let sum = 0;
    for (const { round, report } of points) {
      sum += report.monitors?.tokens ?? 0;
      spent.set(round, [...(spent.get(round) ?? []), sum]);
    }
  }
  return (round) => {
    const sums = spent.get(round) ?? [];
    return sums.reduce((a, b) => a + b, 0) / sums.length;
  };
}

/**
 * One line for each family of runs, the mean of its seeds, with a band from the lowest to the highest where there are several.
 * @param {Curve} curve
 * @param {readonly Compared[]} families
 * @param {View['along']} along
 */
function comparedLines(curve, families, along) {
  const compared = comparedLine(curve, families);
  return families.map(({ name, runs }, i) => {
    const place = placesOf(runs, along);
    /** @type {Map<number, number[]>} */
    const found = new Map();
    for (const points of runs) {
      const read = curve.lines(points).find(([line]) => line === compared)?.[1];
      for (const { round, report } of points) {
        const value = read?.(report);
        if (typeof value === 'number') found.set(place(round), [...(found.get(place(round)) ?? []), value]);
      }
    }
    /** @param {(numbers: readonly number[]) => number} join */
    const joined = (join) => new Map([...found].map(([x, numbers]) => [x, join(numbers)]));
    return {
      name,
      ink: inkOf(i),
      values: joined((numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length),
      band:
        runs.length > 1
          ? {
              low: joined((numbers) => Math.min(...numbers)),
              high: joined((numbers) => Math.max(...numbers)),
            }
          : null,
    };
  });
}

/**
 * @param {Curve} curve
 * @param {readonly Point[]} points ascending
 * @param {number} target rounds that the run will have
 * @param {readonly Compared[]} [families] of the run itself and of those it is compared with; none = it is not compared
 * @param {View} [view]
 * @returns {Plot}
 */
export function plotOf(curve, points, target, families = [], { along, smoothing, range } = WHOLE) {
  const place = placesOf([points], along);
  const own = () =>
    curve.lines(points).map(([name, read], i) => ({
      name,
      ink: i + 1,
      values: new Map(points.map(({ round, report }) => [place(round), read(report)])),
      band: null,
    }));
  const lines = families.length ? comparedLines(curve, families, along) : own();
  /** @param {readonly (readonly Point[])[]} runs */
  const placed = (runs) => {
    const placeOf = placesOf(runs, along);
    return runs.flat().map(({ round }) => placeOf(round));
  };
  const all = (families.length ? families : [{ runs: [points] }]).flatMap(({ runs }) => placed(runs));
  const last = Math.max(0, ...all);
  const whole = along === 'rounds' ? roundAxis(last, target) : last || 1;
  const [from, end] = range && range[0] < whole ? [range[0], Math.min(range[1], whole)] : [0, whole];
  const within = (/** @type {number} */ x) => x >= from && x <= end;
  const xs = [...new Set(all)].sort((a, b) => a - b).filter(within);
  /** @param {ReadonlyMap<number, number | null | undefined>} values */
  const at = (values) => xs.map((x) => values.get(x));
  const reference = families.length ? undefined : curve.reference?.(points);
  return {
    xs,
    from,
    end,
    axis: AXES[along],
    series: lines.map(({ name, ink, values, band }) => {
      const measured = at(values);
      return {
        name,
        ink,
        ...(smoothing ? { measured, values: smoothed(measured, smoothing) } : { values: measured }),
        ...(band ? { low: at(band.low), high: at(band.high) } : {}),
      };
    }),
    least: curve.least,
    write: (value) => curve.write(value),
    read: (value) => (curve.read ?? curve.write)(value),
    ...(reference ? { reference } : {}),
    ...(curve.between && !families.length ? { between: true } : {}),
    ...(curve.marks && !families.length
      ? {
          marks: points
            .filter(({ report }) => report.warnings?.length)
            .map(({ round }) => place(round))
            .filter(within),
        }
      : {}),
  };
}
