/**
 * The dashboard of a mesh: it follows the gateway's events, polls besides, and shows what is new. What is shown is in the address
 * (#run=…&round=…&task=…, #view=runs), so that it can be kept, sent and gone back from.
 */
import { ApiError, getJson, keepToken, RoundHistory, recipeNamed } from './api.js';
import { showDeadLetters, showVersions } from './catalogue.js';
import { CurveWall } from './curve-wall.js';
import { curvesOf } from './curves.js';
import { byId, fill, h, listenToSkip } from './dom.js';
import { csv, download } from './download.js';
import { HeldOutView } from './held-out-view.js';
import { refreshNodes } from './nodes.js';
import { familyOf, namesBeside, runName, showFigures, showPipeline, showTitle } from './overview.js';
import { address, place } from './place.js';
import { Poll } from './poll.js';
import { RoundView } from './round-view.js';
import { RoundsTable } from './rounds-table.js';
import { RunsView } from './runs-view.js';

/** @typedef {import('./api.js').Run} Run */
/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Recipe} Recipe */
/** @typedef {import('./curves.js').Point} Point */
/** @typedef {import('./curves.js').Compared} Compared */

/** One poll in how many requests the data that changes seldom. */
const SELDOM = 8;

/** @type {readonly Run[]} */
let runs = [];
/** @type {RoundHistory | null} */
let history = null;
/** The rounds of the runs that this one is compared with, by run. @type {Map<string, RoundHistory>} */
const others = new Map();
let asked = 0;
/** The place that the page showed last; a change of it moves the focus. */
let shownPlace = '';

const curves = new CurveWall(byId('curves'));
const roundsTable = new RoundsTable((round) => address({ run: round.run, round: round.index }));
const roundView = new RoundView((round, task) => address({ run: round.run, round: round.index, task }));
const runsView = new RunsView(() => {
  asked = 0;
  poll.now();
});
const heldOutView = new HeldOutView();
const picker = /** @type {HTMLSelectElement} */ (byId('runs'));

byId('rounds').append(roundsTable.element);
byId('round-body').append(roundView.element);
byId('all-runs').append(runsView.element);
byId('held-out').append(heldOutView.element);

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

/** @param {Run} run */
function showRuns(run) {
  if (document.activeElement !== picker)
    fill(picker, ...runs.map((choice) => h('option', { value: choice.id }, runName(choice))));
  picker.value = run.id;
}

/**
 * The runs that are drawn together, by family: runs that differ by their seed alone are one line with a band.
 * @param {Run} run
 * @param {readonly Point[]} points
 * @param {readonly string[]} against
 * @returns {Promise<Compared[]>}
 */
async function comparedRuns(run, points, against) {
  const chosen = runs.filter(({ id }) => id !== run.id && against.includes(id));
  for (const id of others.keys()) if (!against.includes(id)) others.delete(id);
  if (!chosen.length) return [];
  /** @type {Map<string, { run: Run, runs: (readonly Point[])[] }>} */
  const families = new Map([[familyOf(run), { run, runs: [points] }]]);
  for (const other of chosen) {
    const known = others.get(other.id) ?? new RoundHistory(other.id);
    others.set(other.id, known);
    await known.refresh();
    const family = families.get(familyOf(other)) ?? { run: other, runs: [] };
    families.set(familyOf(other), family);
    family.runs.push(pointsOf(known.rounds));
  }
  const names = namesBeside([...families.values()].map(({ run: one }) => one));
  return [...families.values()].map(({ runs: of }, i) => ({
    name: of.length > 1 ? `${names[i]} (${of.length} seeds)` : `${names[i]}`,
    runs: of,
  }));
}

/** The rounds that are shown. `fill` leaves a link that looks the same where it is, with the listener of its first drawing. @type {readonly Round[]} */
let shownRounds = [];

/**
 * @param {Run} run
 * @param {readonly Round[]} rounds
 * @param {readonly string[]} against
 * @param {Recipe | null} recipe
 */
async function showOverview(run, rounds, against, recipe) {
  const points = pointsOf(rounds);
  const newest = rounds.at(-1);
  showTitle(byId('title'), run, rounds.filter(({ state }) => state === 'done').length, recipe);
  showPipeline(byId('pipeline'), run, rounds, Date.now());
  showFigures(byId('figures'), points, recipe?.figures);
  const families = await comparedRuns(run, points, against);
  fill(
    byId('compared'),
    families.length > 0 &&
      h(
        'p',
        { class: 'note' },
        `Drawn over one another: ${families.map(({ name }) => name).join('; ')}. `,
        h('a', { href: address({ run: run.id, against: [] }) }, 'This run alone'),
      ),
  );
  curves.show(points, Math.max(run.target, newest?.index ?? 0), families, recipe?.figures);
  roundsTable.show(rounds);
  shownRounds = rounds;
  const spent = rounds.reduce((sum, { usage }) => sum + (usage?.cost.total ?? 0), 0);
  fill(
    byId('about-rounds'),
    spent > 0 && `All rounds cost $${spent.toPrecision(2)} at Cloudflare’s prices. `,
    h('a', { href: address({ run: run.id, view: 'held-out' }) }, 'A held-out task through the versions'),
    ' · ',
    saveRounds(),
  );
}

function saveRounds() {
  const link = h('a', { href: '#', role: 'button' }, 'Download as CSV');
  link.addEventListener('click', (event) => {
    event.preventDefault();
    const points = pointsOf(shownRounds);
    const lines = curvesOf(points).flatMap((curve) =>
      curve.lines(points).map(([name, read]) => /** @type {const} */ ([`${curve.title}: ${name}`, read])),
    );
    const rows = points.map(({ round, report }) => [round, ...lines.map(([, read]) => read(report))]);
    download('rounds.csv', 'text/csv', csv(['round', ...lines.map(([name]) => name)], rows));
  });
  return link;
}

/**
 * @param {Run} run
 * @param {readonly Round[]} rounds
 * @param {number} index
 * @param {string | null} task
 * @param {Recipe | null} recipe
 */
async function showRound(run, rounds, index, task, recipe) {
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
  if (round) await roundView.show(round, task, recipe, run.settings.policy);
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
}

/** Shows one of the page's parts and hides the others. @param {'empty' | 'all-runs' | 'overview' | 'round' | 'held-out'} part */
function showPart(part) {
  for (const id of /** @type {const} */ (['empty', 'all-runs', 'overview', 'round', 'held-out']))
    byId(id).hidden = id !== part;
}

/** Polls and shows once. @returns {Promise<boolean>} is anything under way? */
async function look() {
  const { run: wanted, round, task, view, against } = place();
  const seldom = asked++ % SELDOM === 0;
  if (seldom || !runs.length || view === 'runs') {
    /** @type {{ runs: Run[] }} */
    const answer = await getJson('/api/runs?limit=200');
    runs = answer.runs;
  }
  const run = runs.find(({ id }) => id === wanted) ?? runs[0];
  if (!run) {
    showPart('empty');
    poll.follow(null);
    return false;
  }
  showRuns(run);
  if (view === 'runs') {
    showPart('all-runs');
    poll.follow(null);
    await runsView.show(runs);
    followPlace('Runs');
    return runs.some(({ state, done, target }) => state === 'open' && done < target);
  }
  poll.follow(run.id);
  if (history?.run !== run.id) history = new RoundHistory(run.id);
  const [recipe] = await Promise.all([recipeNamed(run.settings.recipe), history.refresh()]);
  const { rounds } = history;
  showPart(view === 'held-out' ? 'held-out' : round === null ? 'overview' : 'round');
  if (view === 'held-out') await heldOutView.show(run, rounds, recipe);
  else if (round === null) {
    await showOverview(run, rounds, against, recipe);
    await refreshNodes(byId('nodes'), rounds.at(-1), seldom);
  } else await showRound(run, rounds, round, task, recipe);
  followPlace(view === 'held-out' ? 'Held-out task' : round ? `Round ${round}` : null);
  if (seldom && round === null && view === null) await showSeldom(run, rounds);
  return rounds.some(({ endedAt }) => endedAt === null);
}

/** After a step to another part of the page the focus goes to its title, so that it is read and the keyboard goes on from there. */
function followPlace(/** @type {string | null} */ title) {
  const { run, round, view } = place();
  const here = `${run} ${round} ${view}`;
  if (shownPlace !== '' && shownPlace !== here) {
    scrollTo({ top: 0 });
    const heading = document.querySelector('main > :not([hidden]) h1[tabindex]');
    if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
  }
  shownPlace = here;
  document.title = title ? `${title} · rollmesh` : 'rollmesh';
}

const poll = new Poll(look, (status, error) => {
  const denied = error instanceof ApiError && error.status === 401;
  byId('token').hidden = !denied;
  fill(byId('status'), h('span', { class: status }, status), error && !denied ? `: ${error.message}` : '');
});

picker.addEventListener('change', () => {
  location.hash = address({ run: picker.value });
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
listenToSkip();
poll.now();
