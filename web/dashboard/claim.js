/**
 * The recipe's claim as it was measured by `npm run claims`: the arms' curves, and the conditions that were stated
 * before. The figures are committed with the project; runs of this mesh add nothing to them.
 */
import { getJson } from './api.js';
import { Chart, Cursor } from './chart.js';
import { inkOf } from './chart-image.js';
import { fill, h, table, term } from './dom.js';
import { counted, decimal, percent } from './figures.js';

/**
 * @typedef {object} ClaimArm
 * @property {string} name
 * @property {string} description
 * @property {readonly number[]} rounds
 * @property {Readonly<Record<string, readonly (number | null)[]>>} curves Means over the seeds, by figure and round.
 */

/**
 * @typedef {object} Claim
 * @property {string} claim
 * @property {string} verdict
 * @property {number} rounds
 * @property {readonly number[]} seeds
 * @property {string} commit
 * @property {readonly { description: string, bound: string, measured: readonly (number | null)[], interval: { mean: number | null, low: number | null, high: number | null }, outcome: string }[]} conditions
 * @property {Readonly<Record<string, string>>} pictures Titles of the curves, by figure.
 * @property {readonly ClaimArm[]} arms
 */

/** What says of a condition that it holds or fails, beside the word. The others are open. @type {Readonly<Record<string, string>>} */
const SIGN_OF = { holds: '✓', fails: '✗' };
/** @type {Readonly<Record<string, string>>} */
const INK_OF = { holds: 'good', fails: 'bad' };

/** @type {Promise<Record<string, Claim>> | null} */
let claims = null;

/**
 * Shows the claim of a recipe, or nothing if none was measured. If the file cannot be fetched, the next call tries again.
 * @param {HTMLElement} element
 * @param {string} recipe
 */
export async function showClaim(element, recipe) {
  if (element.dataset.recipe === recipe) return;
  claims ??= getJson('/claims.json');
  const claim = await claims.then(
    (all) => all[recipe],
    (error) => {
      claims = null;
      throw error;
    },
  );
  element.dataset.recipe = recipe;
  element.hidden = !claim;
  if (claim) fill(element, ...claimView(recipe, claim));
}

/** @param {string} recipe @param {Claim} claim */
function claimView(recipe, { claim, verdict, rounds, seeds, commit, conditions, pictures, arms }) {
  const cursor = new Cursor();
  const known = [...new Set(arms.flatMap((arm) => arm.rounds))].sort((a, b) => a - b);
  const charts = Object.entries(pictures).map(([figure, title]) => {
    const chart = new Chart({
      title,
      note: `By arm, mean of ${seeds.length} seeds.`,
      cursor,
      height: 220,
    });
    chart.show({
      rounds: known,
      end: Math.max(1, rounds),
      least: [0, 1],
      write: percent,
      read: (value) => percent(value, 1),
      series: arms.map((arm, i) => ({
        name: arm.name,
        ink: inkOf(i),
        values: known.map((round) => arm.curves[figure]?.[arm.rounds.indexOf(round)] ?? undefined),
      })),
    });
    return chart.element;
  });
  /** @param {number | null} value */
  const written = (value) => (value === null ? '–' : decimal(value, 3));
  const rows = conditions.map(({ description, bound, measured, interval: { mean, low, high }, outcome }) => [
    description,
    bound,
    measured.map(written).join(', '),
    high === null ? '–' : `${written(mean)} (${written(low)} to ${written(high)})`,
    h('span', { class: INK_OF[outcome] ?? '' }, `${SIGN_OF[outcome] ?? '~'} ${outcome}`),
  ]);
  return [
    h('h2', {}, term('The claim'), ' ', h('span', {}, verdict === 'partly' ? 'partly shown' : verdict)),
    h('p', { class: 'prose' }, claim),
    h('div', { class: 'claim-charts' }, ...charts),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
      table(
        'Conditions',
        ['condition', 'bound', 'measured, by seed', 'mean, 95 % interval', 'outcome'],
        rows,
      ),
    ),
    h(
      'dl',
      { class: 'arms' },
      ...arms.map(({ name, description }) => h('div', {}, h('dt', {}, name), h('dd', {}, description))),
    ),
    h(
      'p',
      { class: 'note' },
      `${counted(rounds, 'round')}, seeds ${seeds.join(', ')}, commit ${commit.slice(0, 10)}. Again: npm run claims -- ${recipe}.`,
    ),
  ];
}
