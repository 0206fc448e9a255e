/** Length and repetition of a round's episodes against their rewards: two pictures with a dot for each episode, and the same as a table. */
import { drawn, h, scroller, table } from './dom.js';
import { shape } from './drawing.js';
import { decimal, percent, whole } from './figures.js';
import { bounds, ticks } from './scales.js';

/** @typedef {import('./group-summary.js').Episode} Episode */
/** @typedef {{ readonly tokens: number, readonly repeated: number, readonly reward: number }} Measured */

/** So many tokens in a row count as a repetition where they stood before. */
const IN_A_ROW = 4;

/** The share of the runs of four tokens that stood before in the same text; 0 where there is none. @param {readonly number[]} ids */
export function repetition(ids) {
  const runs = ids.length - IN_A_ROW + 1;
  if (runs < 1) return 0;
  const seen = new Set();
  for (let at = 0; at < runs; at++) seen.add(ids.slice(at, at + IN_A_ROW).join());
  return 1 - seen.size / runs;
}

/** The episodes that have a reward: the tokens of all turns, and the repetition of the turns, each by its tokens. @param {readonly Episode[]} episodes @returns {Measured[]} */
export const measured = (episodes) =>
  episodes.flatMap(({ turns, reward }) => {
    const tokens = turns.reduce((sum, { ids }) => sum + ids.length, 0);
    if (reward === null || tokens === 0) return [];
    const repeated = turns.reduce((sum, { ids }) => sum + ids.length * repetition(ids), 0) / tokens;
    return [{ tokens, repeated, reward }];
  });

/** Pearson's correlation; null where one of the two is the same everywhere. @param {readonly (readonly [x: number, y: number])[]} points */
export function correlation(points) {
  const mean = (/** @type {0 | 1} */ i) => points.reduce((sum, point) => sum + point[i], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const sum = (/** @type {(dx: number, dy: number) => number} */ of) =>
    points.reduce((all, [x, y]) => all + of(x - mx, y - my), 0);
  const [xx, yy, xy] = [sum((x) => x * x), sum((_, y) => y * y), sum((x, y) => x * y)];
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [360, 190, 44, 350, 10, 168];

/**
 * @param {string} title
 * @param {readonly (readonly [x: number, y: number])[]} points
 * @param {(x: number) => string} write
 */
function picture(title, points, write) {
  const [[from, to], [low, high]] = [
    bounds(
      points.map(([x]) => x),
      [0, 0],
    ),
    bounds(
      points.map(([, y]) => y),
      [0, 1],
    ),
  ];
  const x = (/** @type {number} */ value) => LEFT + ((RIGHT - LEFT) * (value - from)) / (to - from);
  const y = (/** @type {number} */ value) => BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low);
  const dots = new Map(points.map((point) => [point.join(), point]));
  return drawn(
    shape(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `${title} against the reward` },
      shape(
        'g',
        { class: 'axes' },
        ...ticks(low, high, 3).flatMap((value) => [
          shape('line', { x1: LEFT, x2: RIGHT, y1: y(value), y2: y(value), class: 'grid' }),
          shape('text', { x: LEFT - 7, y: y(value) + 3.5, 'text-anchor': 'end' }, decimal(value)),
        ]),
        ...ticks(from, to, 4).map((value) =>
          shape('text', { x: x(value), y: HEIGHT - 5, 'text-anchor': 'middle' }, write(value)),
        ),
        shape('line', { x1: LEFT, x2: RIGHT, y1: BOTTOM, y2: BOTTOM, class: 'base' }),
      ),
      shape(
        'g',
        { class: 'series ink-1' },
        ...[...dots.values()].map(([tokens, reward]) =>
          shape('circle', { cx: x(tokens), cy: y(reward), r: 2.4, 'fill-opacity': 0.5 }),
        ),
      ),
    ),
  );
}

/** @param {readonly Measured[]} group */
const meanOf = (group, /** @type {keyof Measured} */ of) =>
  group.reduce((sum, one) => sum + one[of], 0) / group.length;

/** Nothing where fewer than two episodes have a reward. @param {readonly Episode[]} episodes */
export function lengthView(episodes) {
  const all = measured(episodes);
  if (all.length < 2) return null;
  const figures = [
    { title: 'Tokens', of: /** @type {const} */ ('tokens'), write: whole },
    { title: 'Repetition', of: /** @type {const} */ ('repeated'), write: percent },
  ];
  const sorted = all.toSorted((a, b) => a.reward - b.reward);
  const third = Math.ceil(sorted.length / 3);
  const rows = /** @type {const} */ ([
    ['lowest third of rewards', sorted.slice(0, third)],
    ['highest third', sorted.slice(-third)],
    ['all', sorted],
  ]).map(([name, of]) => [
    name,
    decimal(meanOf(of, 'reward')),
    decimal(meanOf(of, 'tokens'), 1),
    percent(meanOf(of, 'repeated'), 1),
  ]);
  return h(
    'details',
    { class: 'lengths' },
    h('summary', {}, 'Length and repetition against reward'),
    h(
      'div',
      { class: 'two' },
      ...figures.map(({ title, of, write }) => {
        const points = all.map((one) => /** @type {const} */ ([one[of], one.reward]));
        const along = correlation(points);
        const said =
          along === null ? 'one of the two is the same everywhere' : `correlation ${decimal(along)}`;
        return h(
          'figure',
          {},
          h(
            'figcaption',
            {},
            h('h3', {}, title),
            h('span', { class: 'note' }, ` against the reward: ${said}`),
          ),
          picture(title, points, write),
        );
      }),
    ),
    scroller(
      'Length and repetition by reward',
      table('Length and repetition by reward', ['episodes', 'reward', 'tokens', 'repetition'], rows),
    ),
    h(
      'p',
      { class: 'note' },
      `A dot is an episode of the tasks whose samples are read. Repetition: the share of runs of ${IN_A_ROW} tokens that stood before in the same answer.`,
    ),
  );
}
