/** The table of rounds, newest first. Only rows that changed are rebuilt, and old rows appear on request. */
import { h, term } from './dom.js';
import { decimal, duration, MISSING, percent, significant, whole } from './figures.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./dom.js').Child} Child */

const FIRST_ROWS = 25;
const MORE_ROWS = 250;

/** Token-weighted mean over the trained roles of the KL to version 0. @param {Round} round */
export function klToStart({ report }) {
  const roles = Object.values(report?.training?.roles ?? {}).flatMap(({ tokens, klToStart: kl }) =>
    kl === null ? [] : [{ tokens, kl }],
  );
  const tokens = roles.reduce((sum, role) => sum + role.tokens, 0);
  return tokens ? roles.reduce((sum, { kl, tokens: of }) => sum + kl * of, 0) / tokens : null;
}

/** Columns that say nothing in any round of the run are left out. @type {readonly { title: string, hint: string, cell: (round: Round) => Child }[]} */
const COLUMNS = [
  { title: 'state', hint: 'Where the round stands', cell: ({ state }) => h('span', { class: state }, state) },
  {
    title: 'admitted',
    hint: 'Share of the proposals that became tasks',
    cell: ({ expected, proposed }) => percent(proposed && expected <= proposed ? expected / proposed : null),
  },
  {
    title: 'reward',
    hint: 'Mean reward of the rollouts',
    cell: ({ report }) => decimal(report?.monitors?.reward),
  },
  { title: 'gold', hint: 'Share of exact answers', cell: ({ report }) => decimal(report?.monitors?.gold) },
  {
    title: 'judge',
    hint: 'Balanced accuracy of the judge in the round',
    cell: ({ report }) => decimal(report?.monitors?.judgeBalancedAccuracy),
  },
  {
    title: 'passed',
    hint: 'Pass rate of the tasks',
    cell: ({ report }) => decimal(report?.monitors?.passRate),
  },
  { title: 'difficulty', hint: 'Of the tasks', cell: ({ report }) => decimal(report?.monitors?.difficulty) },
  {
    title: 'steps',
    hint: 'Share of solutions with steps',
    cell: ({ report }) => percent(report?.monitors?.workedShare ?? null),
  },
  {
    title: 'held-out',
    hint: 'Greedy accuracy, where it was evaluated',
    cell: ({ report }) => (report?.evaluation ? percent(report.evaluation.heldOut.accuracy, 1) : ''),
  },
  { title: 'KL', hint: 'To version 0, nats per token', cell: (round) => decimal(klToStart(round), 4) },
  {
    title: 'mismatch',
    hint: 'Learner against rollouts: mean difference of log-probabilities, nats',
    cell: ({ report }) => significant(report?.training?.mismatch.mean),
  },
  {
    title: 'tok/s',
    hint: 'Tokens generated a second',
    cell: ({ report }) =>
      whole(report?.monitors && report.rolloutMs ? (1000 * report.monitors.tokens) / report.rolloutMs : null),
  },
  {
    title: 'lost',
    hint: 'Groups that failed: missing data, not zeros',
    cell: ({ groups }) => (groups.failed ? h('b', { class: 'bad' }, whole(groups.failed)) : MISSING),
  },
  {
    title: 'time',
    hint: 'From its beginning to its end',
    cell: ({ createdAt, endedAt }) => (endedAt === null ? MISSING : duration(endedAt - createdAt)),
  },
];

/** What a cell shows where there is nothing to show. */
const EMPTY = new Set([MISSING, '']);

/** @param {Child} cell */
const textOf = (cell) => String((cell instanceof Node ? cell.textContent : cell) ?? '');

export class RoundsTable {
  /** @type {Map<number, { signature: string, row: HTMLTableRowElement }>} */
  #rows = new Map();
  #limit = FIRST_ROWS;
  #body = h('tbody');
  #more = h('button', { type: 'button' });
  /** @type {readonly Round[]} */
  #rounds = [];
  #link;
  #head = h('tr');
  #columns = COLUMNS;

  /** @param {(round: Round) => string} link the address of a round's view */
  constructor(link) {
    this.#link = link;
    this.#more.addEventListener('click', () => {
      this.#limit += MORE_ROWS;
      this.show(this.#rounds);
    });
    this.element = h(
      'div',
      {},
      h(
        'div',
        { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Rounds' },
        h('table', { class: 'rounds' }, h('thead', {}, this.#head), this.#body),
      ),
      this.#more,
    );
  }

  /** @param {readonly Round[]} rounds ascending */
  show(rounds) {
    this.#rounds = rounds;
    const shown = rounds.slice(-this.#limit).reverse();
    const columns = COLUMNS.filter(({ cell }) => shown.some((round) => !EMPTY.has(textOf(cell(round)))));
    if (columns.length !== this.#columns.length || !this.#head.children.length) {
      this.#rows.clear();
      this.#columns = columns;
      this.#head.replaceChildren(
        h('th', { scope: 'col' }, term('round')),
        ...columns.map(({ title, hint }) => h('th', { scope: 'col', title: hint }, term(title))),
      );
    }
    const rows = shown.map((round) => this.#row(round));
    const known = new Set(shown.map(({ index }) => index));
    for (const index of this.#rows.keys()) if (!known.has(index)) this.#rows.delete(index);
    const same =
      rows.length === this.#body.children.length && rows.every((row, i) => row === this.#body.children[i]);
    if (!same) this.#body.replaceChildren(...rows);
    const hidden = rounds.length - shown.length;
    this.#more.hidden = hidden === 0;
    this.#more.textContent = `Show ${whole(Math.min(MORE_ROWS, hidden))} of ${whole(hidden)} earlier rounds`;
  }

  /** @param {Round} round */
  #row(round) {
    const { endedAt, expected, groups, report } = round;
    const link = this.#link(round);
    const state = [
      round.state,
      endedAt,
      groups.failed,
      expected,
      report !== null,
      report?.evaluation?.version,
    ];
    const signature = [link, ...state].join();
    const known = this.#rows.get(round.index);
    if (known?.signature === signature) return known.row;
    const warnings = report?.warnings ?? [];
    const row = h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        h('a', { href: link }, h('span', { class: 'hidden' }, 'Round '), String(round.index)),
        warnings.length > 0 &&
          h(
            'span',
            { class: 'warn', title: warnings.join('\n') },
            ' ▲',
            h('span', { class: 'hidden' }, ` ${warnings.join('; ')}`),
          ),
      ),
      ...this.#columns.map(({ cell }) => h('td', {}, cell(round))),
    );
    row.addEventListener('click', (event) => {
      if (!(event.target instanceof HTMLAnchorElement) && !getSelection()?.toString())
        location.hash = this.#link(round);
    });
    this.#rows.set(round.index, { signature, row });
    return row;
  }
}
