/** The list of runs: state, figures, date and search; the rounds that are under way; and a choice of up to five runs to draw over one another. */
import { getJson } from './api.js';
import { fill, h, scroller, table } from './dom.js';
import { csv, download } from './download.js';
import { counted, duration, MISSING, moment, percent, points, whole } from './figures.js';
import { familyName, isPlayed, runName, toneOf, VERDICT_WORDS } from './overview.js';
import { address, MOST_COMPARED } from './place.js';
import { RunLabelForm } from './run-label.js';

/** @typedef {import('./api.js').Run} Run */
/** @typedef {import('./api.js').Round} Round */

/** @param {Run} run */
const stateOf = ({ state, roundState, done, target }) =>
  state === 'open' ? (done >= target ? 'ended' : `running: ${roundState ?? 'waiting'}`) : state;

/** @param {Run} run */
const changeOf = ({ first, last }) => (first === null || last === null ? null : last - first);

/** @param {Round} round */
function progressOf({ expected, groups }) {
  const judged = groups.scored + groups.trained + groups.failed;
  return expected ? `${whole(judged)} of ${counted(expected, 'group')} judged` : 'tasks are not there yet';
}

export class RunsView {
  /** @type {Set<string>} */
  #chosen = new Set();
  /** @type {readonly Run[]} */
  #runs = [];
  #search = h('input', {
    type: 'search',
    placeholder: 'name, #tag, recipe, reward, seed, policy …',
    'aria-label': 'Find runs',
  });
  #all = h('input', { type: 'checkbox' });
  #form;
  #compare = h('a', { class: 'button', role: 'button' }, 'Compare selected');
  #save = h('button', { type: 'button' }, 'CSV');
  #open = h('div');
  #body = h('div');
  element = h(
    'div',
    {},
    h('h1', { tabindex: -1 }, 'Runs'),
    this.#open,
    h(
      'p',
      { class: 'controls' },
      this.#search,
      ' ',
      h('label', {}, this.#all, ' show hidden'),
      ' ',
      this.#compare,
      ' ',
      h('span', { class: 'downloads' }, 'Download ', this.#save),
    ),
    this.#body,
  );

  /** @param {() => void} changed called when a run was named, hidden or deleted */
  constructor(changed) {
    this.#form = new RunLabelForm(changed);
    this.#body.before(this.#form.element);
    this.#all.addEventListener('change', () => this.#show());
    this.#search.addEventListener('input', () => this.#show());
    this.#save.addEventListener('click', () => this.#saveTable());
    this.#body.addEventListener('change', (event) => {
      const box = event.target;
      if (!(box instanceof HTMLInputElement)) return;
      if (box.checked) this.#chosen.add(box.value);
      else this.#chosen.delete(box.value);
      this.#show();
    });
  }

  /** @param {readonly Run[]} runs */
  async show(runs) {
    this.#runs = runs;
    this.#show();
    /** @type {{ rounds: Round[] }} */
    const { rounds } = await getJson('/api/rounds?open=true&limit=100');
    this.#showOpen(rounds);
  }

  /** @param {readonly Round[]} rounds */
  #showOpen(rounds) {
    const known = new Map(this.#runs.map((run) => [run.id, run]));
    const played = rounds.filter((round) => isPlayed(known.get(round.run), round));
    const rows = played.map((round) => {
      const run = known.get(round.run);
      return [
        h(
          'a',
          { href: address({ run: round.run, round: round.index, against: [] }) },
          `Round ${round.index}`,
        ),
        run ? runName(run) : round.recipe,
        round.state,
        progressOf(round),
        duration(Math.max(0, Date.now() - round.createdAt)),
        Object.entries(round.roles)
          .map(([role, { version }]) => `${role} ${version}`)
          .join(', '),
      ];
    });
    fill(
      this.#open,
      rows.length > 0 && h('h2', {}, 'Rounds under way ', h('span', {}, whole(rows.length))),
      rows.length > 0 &&
        scroller(
          'Rounds under way',
          table('Rounds under way', ['round', 'run', 'state', 'groups', 'for', 'versions'], rows),
        ),
    );
  }

  #show() {
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.#runs.filter((run) => {
      if (run.label.hidden && !this.#all.checked) return false;
      const tags = run.label.tags.map((tag) => `#${tag}`).join(' ');
      const text =
        `${runName(run)} ${familyName(run)} seed ${run.settings.seed} ${tags} ${run.settings.policy} ${run.id} ${stateOf(run)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const rows = found.map((run) => [
      h('a', { href: address({ run: run.id, against: [] }) }, runName(run)),
      h('input', {
        type: 'checkbox',
        value: run.id,
        checked: this.#chosen.has(run.id),
        disabled: !this.#chosen.has(run.id) && this.#chosen.size >= MOST_COMPARED,
        'aria-label': `Choose ${runName(run)}`,
      }),
      h('span', { class: run.state === 'open' ? null : 'warn' }, stateOf(run)),
      `${whole(run.done)} of ${whole(run.target)}`,
      percent(run.first, 1),
      percent(run.last, 1),
      changeOf(run) === null
        ? MISSING
        : h(
            'span',
            {
              class: toneOf(run.verdict ?? 'untested'),
              title: VERDICT_WORDS[run.verdict ?? 'untested'],
            },
            points(changeOf(run)),
          ),
      moment(run.createdAt),
      run.touchedAt === null ? MISSING : moment(run.touchedAt),
      h('code', { class: 'short' }, run.settings.policy),
      this.#tagsOf(run),
      this.#editButton(run),
    ]);
    const titles = [
      'run',
      'select',
      'state',
      'rounds',
      'start',
      'now',
      'points',
      'ordered',
      'last update',
      'trains',
      'tags',
      'label',
    ];
    fill(
      this.#body,
      scroller('Runs', table('Runs, newest first', titles, rows)),
      rows.length < this.#runs.length &&
        h('p', { class: 'note' }, `${rows.length} of ${counted(this.#runs.length, 'run')}.`),
    );
    for (const box of this.#body.querySelectorAll('input')) box.checked = this.#chosen.has(box.value);
    const [run, ...against] = this.#chosen;
    const enough = run !== undefined && against.length > 0;
    if (enough) this.#compare.setAttribute('href', address({ run, against }));
    else this.#compare.removeAttribute('href');
    this.#compare.setAttribute('aria-disabled', String(!enough));
    this.#compare.title = enough ? '' : 'Select two to five runs first.';
  }

  /** @param {Run} run */
  #tagsOf({ label: { tags, hidden } }) {
    const chips = tags.map((tag) => {
      const chip = h('button', { type: 'button', class: 'tag', title: `Find #${tag}` }, `#${tag}`);
      chip.addEventListener('click', () => {
        this.#search.value = `#${tag}`;
        this.#show();
      });
      return chip;
    });
    return h('span', {}, ...chips, hidden && h('span', { class: 'faint' }, 'hidden'));
  }

  /** @param {Run} run */
  #editButton(run) {
    const button = h(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Edit the label of ${runName(run)}` },
      'Edit',
    );
    button.addEventListener('click', () =>
      this.#form.open(run, `${familyName(run)}, seed ${run.settings.seed}`),
    );
    return button;
  }

  #saveTable() {
    const titles = [
      'run',
      'name',
      'tags',
      'recipe',
      'reward',
      'seed',
      'policy',
      'state',
      'done',
      'target',
      'start',
      'now',
      'ordered',
    ];
    const rows = this.#runs.map((run) => {
      const { recipe, rewardFunction, seed, policy } = run.settings;
      const ordered = new Date(run.createdAt).toISOString();
      return [
        run.id,
        run.label.name,
        run.label.tags.join(' '),
        recipe,
        rewardFunction,
        seed,
        policy,
        stateOf(run),
        run.done,
        run.target,
        run.first,
        run.last,
        ordered,
      ];
    });
    download('runs.csv', 'text/csv', csv(titles, rows));
  }
}
