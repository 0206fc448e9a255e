/**
 * The dashboard of a mesh: it polls the gateway and shows what is new. The run, round and task that are shown are in the address
 * (#run=…&round=…&task=…), so that it can be kept, sent and gone back from.
 */
import { ApiError, getJson, keepToken, RoundHistory } from './api.js';
import { showDeadLetters, showVersions } from './catalogue.js';
import { Chart, Cursor } from './chart.js';
import { showClaim } from './claim.js';
import { CURVES, plotOf } from './curves.js';
import { byId, fill, h } from './dom.js';
import { refreshNodes } from './nodes.js';
import { runName, showFigures, showPipeline, showTitle } from './overview.js';
import { address, place } from './place.js';
import { Poll } from './poll.js';
import { RoundView } from './round-view.js';
import { RoundsTable } from './rounds-table.js';

/** @typedef {import('./api.js').Run} Run */
/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./curves.js').Point} Point */

/** One poll in how many requests the data that changes seldom. */
const SELDOM = 8;

/** @type {readonly Run[]} */
let runs = [];
/** @type {RoundHistory | null} */
let history = null;
/** The rounds of the run that this one is compared with. @type {RoundHistory | null} */
let otherHistory = null;
let asked = 0;
/** The place that the page showed last; a change of it moves the focus. */
let shownPlace = '';

const cursor = new Cursor();
const charts = CURVES.map((curve) => ({ curve, chart: new Chart({ ...curve, cursor }) }));
const roundsTable = new RoundsTable((round) => address({ run: round.run, round: round.index }));
const roundView = new RoundView((round, task) => address({ run: round.run, round: round.index, task }));
const picker = /** @type {HTMLSelectElement} */ (byId('runs'));
const otherPicker = /** @type {HTMLSelectElement} */ (byId('others'));

byId('curves').append(...charts.map(({ chart }) => chart.element));
byId('rounds').append(roundsTable.element);
byId('round-body').append(roundView.element);

/**
 * The points of the curves, one per round; the version that the run began from comes first, as round 0, if it was evaluated.
 * @param {readonly Round[]} rounds
 * @returns {Point[]}
 */
function pointsOf(rounds) {
  const points = rounds.flatMap(({ index, report }) => (report ? [{ round: index, report }] : []));
  const start = rounds[0]?.report?.start;
  return start ? [{ round: 0, report: { evaluation: start } }, ...points] : points;
}

/**
 * @param {HTMLSelectElement} select
 * @param {readonly (readonly [id: string, name: string])[]} choices
 * @param {string} chosen
 */
function showChoices(select, choices, chosen) {
  if (document.activeElement !== select)
    fill(select, ...choices.map(([id, name]) => h('option', { value: id }, name)));
  select.value = chosen;
}

/** @param {Run} run @param {string} against */
function showRuns(run, against) {
  const choices = runs.map((choice) => /** @type {const} */ ([choice.id, runName(choice)]));
  const others = choices.filter(([id]) => id !== run.id);
  showChoices(picker, choices, run.id);
  showChoices(otherPicker, [['', 'no other run'], ...others], against);
}

/**
 * The rounds of the run that is chosen for comparison; none if there is none.
 * @param {Run} run
 * @param {string | null} against
 */
async function otherRounds(run, against) {
  const other = against !== run.id && runs.find(({ id }) => id === against);
  if (!other) otherHistory = null;
  else if (otherHistory?.run !== other.id) otherHistory = new RoundHistory(other.id);
  await otherHistory?.refresh();
  return otherHistory?.rounds ?? [];
}

/**
 * @param {Run} run
 * @param {readonly Round[]} rounds
 * @param {readonly Round[]} others of the run it is compared with
 */
function showOverview(run, rounds, others) {
  const points = pointsOf(rounds);
  const newest = rounds.at(-1);
  showTitle(byId('title'), run, rounds.filter(({ stage }) => stage === 'done').length);
  showPipeline(byId('pipeline'), run, rounds, Date.now());
  showFigures(byId('figures'), points);
  const target = Math.max(run.target, newest?.index ?? 0);
  const otherPoints = pointsOf(others);
  for (const { curve, chart } of charts) chart.show(plotOf(curve, points, target, otherPoints));
  roundsTable.show(rounds);
}

/**
 * @param {Run} run
 * @param {readonly Round[]} rounds
 * @param {number} index
 * @param {string | null} task
 */
async function showRound(run, rounds, index, task) {
  const round = rounds.find((candidate) => candidate.index === index);
  const link = (/** @type {number} */ to, /** @type {string} */ text) =>
    rounds.some((candidate) => candidate.index === to)
      ? h('a', { href: address({ run: run.id, round: to }) }, text)
      : h('span', { class: 'faint' }, text);
  fill(
    byId('round-head'),
    h(
      'nav',
      { 'aria-label': 'Rounds' },
      h('a', { href: address({ run: run.id }) }, 'All rounds'),
      link(index - 1, 'Earlier'),
      link(index + 1, 'Later'),
    ),
    h('h1', { id: 'round-title', tabindex: -1 }, `Round ${index} `, h('span', {}, runName(run))),
    !round && h('p', { class: 'note' }, 'There is no such round yet.'),
  );
  byId('round-body').hidden = !round;
  if (round) await roundView.show(round, task);
}

/**
 * @param {Run} run
 * @param {readonly Round[]} rounds
 */
async function showSeldom(run, rounds) {
  const { policy } = run.settings;
  /** @type {[{ deadLetters: import('./api.js').DeadLetter[] }, import('./api.js').PolicyHistory]} */
  const [{ deadLetters }, versions] = await Promise.all([
    getJson('/api/dead-letters?limit=50'),
    getJson(`/api/policies/${encodeURIComponent(policy)}`),
  ]);
  showDeadLetters(byId('dead-letters'), deadLetters, (id) => {
    const round = rounds.find((candidate) => candidate.id === id);
    return round && h('a', { href: address({ run: run.id, round: round.index }) }, String(round.index));
  });
  showVersions(byId('versions'), policy, versions);
  await showClaim(byId('claim'), run.settings.recipe);
}

/** Polls and shows once. @returns {Promise<boolean>} is anything under way? */
async function look() {
  const seldom = asked++ % SELDOM === 0;
  if (seldom || !runs.length) {
    /** @type {{ runs: Run[] }} */
    const answer = await getJson('/api/runs?limit=200');
    runs = answer.runs;
  }
  const { run: wanted, round, task, against } = place();
  const run = runs.find(({ id }) => id === wanted) ?? runs[0];
  byId('empty').hidden = Boolean(run);
  byId('overview').hidden = !run || round !== null;
  byId('round').hidden = !run || round === null;
  if (!run) return false;
  if (history?.run !== run.id) history = new RoundHistory(run.id);
  await history.refresh();
  const { rounds } = history;
  const others = await otherRounds(run, against);
  showRuns(run, otherHistory?.run ?? '');
  if (round === null) {
    showOverview(run, rounds, others);
    await refreshNodes(byId('nodes'), rounds.at(-1), seldom);
  } else await showRound(run, rounds, round, task);
  followPlace(round !== null);
  if (seldom && round === null) await showSeldom(run, rounds);
  return rounds.some(({ endedAt }) => endedAt === null);
}

/** After a step to another round the focus goes to its title, so that it is read and the keyboard goes on from there. */
function followPlace(/** @type {boolean} */ inRound) {
  const { run, round } = place();
  const here = `${run} ${round}`;
  if (shownPlace !== '' && shownPlace !== here) {
    scrollTo({ top: 0 });
    if (inRound) byId('round-title').focus({ preventScroll: true });
  }
  shownPlace = here;
  document.title = round ? `Round ${round} · rollmesh` : 'rollmesh';
}

const poll = new Poll(look, (status, error) => {
  const denied = error instanceof ApiError && error.status === 401;
  byId('token').hidden = !denied;
  fill(byId('status'), h('span', { class: status }, status), error && !denied ? `: ${error.message}` : '');
});

picker.addEventListener('change', () => {
  location.hash = address({ run: picker.value });
});
otherPicker.addEventListener('change', () => {
  location.hash = address({ run: picker.value, against: otherPicker.value });
});
byId('token').addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(/** @type {HTMLInputElement} */ (byId('token-value')).value.trim());
  poll.now();
});
addEventListener('hashchange', () => {
  asked = 0;
  poll.now();
});
poll.now();
