/** The view of one round: its figures, its warnings, its proposals, and its tasks, each of which opens to show its rollouts. */
import { getJson } from './api.js';
import { ChatBox } from './chat.js';
import { fill, h, scroller, setUsable, table, term } from './dom.js';
import { csv, download, jsonLines } from './download.js';
import {
  counted,
  decimal,
  dollars,
  duration,
  humanised,
  MISSING,
  meaningOf,
  moment,
  percent,
  significant,
  size,
  whole,
} from './figures.js';
import { FILTERS, ORDERS, selected, summaryOf } from './group-summary.js';
import { lengthView } from './length-view.js';
import { legend, partsView } from './parts.js';
import { place } from './place.js';
import { RoundReplay } from './replay.js';
import { TaskList } from './task-list.js';
import { taskRounds } from './task-rounds.js';
import { taskView } from './task-view.js';
import { placeOf } from './terms.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./api.js').Recipe} Recipe */
/** @typedef {import('./api.js').ContentListing} ContentListing */
/** @typedef {import('./api.js').ProposalListing} ProposalListing */
/** @typedef {import('./group-summary.js').Summary} Summary */
/** @typedef {import('./dom.js').Child} Child */

/** A list of facts; what is not known in this round is left out. @param {readonly (readonly [string, Child, place?: string])[]} facts */
const factList = (facts) =>
  h(
    'dl',
    { class: 'facts' },
    ...facts
      .filter(([, value]) => value !== MISSING && value !== null)
      .map(([name, value, place]) => h('div', {}, h('dt', {}, term(name, place)), h('dd', {}, value))),
  );

/** @param {Round} round */
function training({ report }) {
  const trained = report?.training;
  if (!trained) return null;
  if (!trained.updates)
    return h(
      'section',
      {},
      h('h2', { class: 'minor' }, term('Learning')),
      h('p', { class: 'note' }, 'Nothing was trained in this round.'),
    );
  const rows = Object.entries(trained.roles).map(([role, { samples, tokens, entropy, klToStart }]) => [
    role,
    whole(samples),
    whole(tokens),
    decimal(entropy, 3),
    significant(klToStart),
  ]);
  const { mismatch, ratio } = trained;
  return h(
    'section',
    {},
    h('h2', { class: 'minor' }, term('Learning')),
    rows.length > 0 &&
      scroller(
        'By role',
        table('By role', ['role', 'samples', 'tokens', 'entropy, nats', 'KL to version 0, nats'], rows),
      ),
    factList([
      ['updates', whole(trained.updates)],
      ['loss', significant(trained.loss)],
      ['gradient norm', significant(trained.gradientNorm)],
      ['clipped', percent(trained.clipFraction, 1)],
      ['learning rate', significant(trained.learningRate)],
      ['mismatch, mean', `${significant(mismatch.mean)} nats`],
      ['mismatch, most', `${significant(mismatch.max)} nats`],
      ['mismatch, KL', `${significant(mismatch.kl)} nats`],
      ['ratios', `${decimal(ratio.min, 3)} to ${decimal(ratio.max, 3)}`],
      ['effective samples', percent(ratio.effectiveSampleShare, 1)],
    ]),
  );
}

/** @param {Round} round */
function judging({ report }) {
  const monitors = report?.monitors;
  if (!monitors) return null;
  const { judge } = monitors;
  if (Object.values(judge).every((count) => count === 0)) return null;
  return h(
    'section',
    {},
    h('h2', { class: 'minor' }, term('Judging')),
    scroller(
      'Judgments',
      table(
        'Judgments by the oracle’s verdict and the judge’s',
        ['the solution is', 'judge says right', 'judge says wrong'],
        [
          ['right', whole(judge.rightAsRight), whole(judge.rightAsWrong)],
          ['wrong', whole(judge.wrongAsRight), whole(judge.wrongAsWrong)],
        ],
      ),
    ),
    factList([
      ['balanced accuracy', decimal(monitors.judgeBalancedAccuracy)],
      ['void', whole(judge.void)],
    ]),
  );
}

/** @param {Round} round */
function usage({ usage: used, report }) {
  if (!used) return null;
  const rows = [...Object.entries(used.stages), /** @type {const} */ (['all', used.total])].map(
    ([stage, of]) => [
      stage,
      duration(of.cpuMs),
      whole(of.requests),
      whole(of.queueOperations),
      whole(of.d1RowsRead),
      whole(of.d1RowsWritten),
      whole(of.r2ClassA),
      whole(of.r2ClassB),
      size(of.r2BytesWritten),
    ],
  );
  const tokens = report?.monitors?.tokens;
  const perMillion = tokens
    ? `, ${dollars((1e6 * used.cost.total) / tokens)} per million generated tokens`
    : '';
  return h(
    'section',
    {},
    h('h2', { class: 'minor' }, term('Use of the platform')),
    scroller(
      'Use by stage',
      table(
        'Use by stage',
        [
          'stage',
          'CPU time',
          'requests',
          'queue operations',
          'D1 rows read',
          'written',
          'R2 class A',
          'class B',
          'stored',
        ],
        rows,
      ),
    ),
    h(
      'p',
      { class: 'note' },
      `${dollars(used.cost.total)} at Cloudflare’s prices of ${used.pricesOf}${perMillion}.`,
    ),
  );
}

/** The place in the glossary of a figure of a part, `set/role/kind/figure`. @param {string} name */
const placeOfPart = (name) => placeOf(humanised(name.slice(name.lastIndexOf('/') + 1))) ?? 'update-part';

/**
 * The recipe's own figures: of the round, and of its evaluation.
 * @param {Round} round
 * @param {Readonly<Record<string, string>>} [meanings] by the figure's name
 */
function recipeFigures({ report }, meanings = {}) {
  const own = Object.entries(report?.figures ?? {}).filter(([name]) => !name.includes('/'));
  const evaluated = Object.entries(report?.evaluation?.figures ?? {});
  const parts = Object.entries(report?.figures ?? {}).filter(([name]) => name.includes('/'));
  if (!own.length && !evaluated.length && !parts.length) return null;
  /** @param {string} caption @param {readonly [string, number | null][]} figures */
  const shown = (caption, figures) =>
    scroller(
      caption,
      table(
        caption,
        ['figure', 'value', 'what it means'],
        figures.map(([name, value]) => [humanised(name), significant(value), meaningOf(meanings, name)]),
      ),
    );
  return h(
    'section',
    {},
    h('h2', { class: 'minor' }, term('The recipe’s own figures')),
    own.length > 0 && shown('Figures of the round', own),
    evaluated.length > 0 && h('h3', {}, `Evaluation of version ${report?.evaluation?.version}`),
    evaluated.length > 0 && shown('Figures of the evaluation', evaluated),
    parts.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, 'Figures by parameter set and update part'),
        factList(
          parts.map(
            ([name, value]) =>
              /** @type {const} */ ([humanised(name), significant(value), placeOfPart(name)]),
          ),
        ),
      ),
  );
}

/** @param {Round} round */
function figures(round) {
  const { report, roles, version } = round;
  const monitors = report?.monitors;
  const tokens = monitors && report?.rolloutMs ? (1000 * monitors.tokens) / report.rolloutMs : null;
  return factList([
    ['state', h('span', { class: round.state === 'failed' ? 'bad' : null }, round.state)],
    ['began', moment(round.createdAt)],
    ['took', round.endedAt === null ? MISSING : duration(round.endedAt - round.createdAt)],
    ['generation', duration(report?.rolloutMs)],
    ['learner', duration(report?.learnerMs)],
    ['tokens per second', whole(tokens)],
    ['made', version === null ? MISSING : `version ${version}`],
    ...Object.entries(roles).map(
      ([role, ref]) => /** @type {const} */ ([role, `version ${ref.version}`, 'role']),
    ),
    ['proposals', round.proposed ? whole(round.proposed) : MISSING],
    ['tasks', whole(round.expected)],
    ['failed', round.groups.failed ? h('b', { class: 'bad' }, whole(round.groups.failed)) : MISSING],
    ['mean reward', decimal(monitors?.reward)],
    ['exact (gold)', percent(monitors?.gold, 1)],
    ['pass rate', decimal(monitors?.passRate)],
    ['with steps', percent(monitors?.workedShare ?? null)],
    ['tokens per rollout', decimal(monitors?.length, 1)],
    ['without reward', monitors?.missingRewards ? whole(monitors.missingRewards) : MISSING],
  ]);
}

/** How many groups' contents are kept, and how many are asked for at once. */
const KEPT = 500;
const PAGE = 32;
/** Rounds of so many groups are read to the end without being asked to. */
const READ_AT_ONCE = 128;

/** @param {string} label @param {Readonly<Record<string, { name: string }>>} choices */
const select = (label, choices) =>
  h(
    'select',
    { 'aria-label': label },
    ...Object.entries(choices).map(([value, { name }]) => h('option', { value }, name)),
  );

/** @param {string} label @param {string} placeholder */
const rewardInput = (label, placeholder) =>
  h('input', { type: 'number', step: 'any', placeholder, 'aria-label': label });

const TINTS = {
  text: { name: 'as text' },
  probability: { name: 'tokens, tinted by probability' },
  advantage: { name: 'tokens, tinted by advantage' },
};

export class RoundView {
  /** @type {Map<string, GroupContent>} */
  #contents = new Map();
  /** @type {Map<string, Summary>} */
  #summaries = new Map();
  /** @type {readonly Group[]} */
  #groups = [];
  /** Which round the groups belong to: its id and its state. */
  #known = '';
  /** The round whose contents are being read, and those that are read to the end. */
  #reading = '';
  /** @type {Set<string>} */
  #read = new Set();
  /** @type {Round | null} */
  #round = null;
  /** @type {Recipe | null} */
  #recipe = null;
  #opened = '';
  #address;
  #head = h('div');
  #proposals = h('div');
  #lengths = h('div');
  /** What the picture of lengths was made of. */
  #measured = '';
  #list = new TaskList();
  #task = h('div');
  #description = h('p', { class: 'note', 'aria-live': 'polite' });
  #filter = select('Show', FILTERS);
  #order = select('Order', ORDERS);
  #least = rewardInput('Mean reward at least', 'from');
  #most = rewardInput('Mean reward at most', 'to');
  #search = h('input', {
    type: 'search',
    placeholder: 'find text or outcome',
    'aria-label': 'Find text or an outcome in samples',
  });
  #tint = select('Samples', TINTS);
  #load = h('button', { type: 'button' }, 'Load all samples');
  #save = h('button', { type: 'button' }, 'JSONL');
  #saveFigures = h('button', { type: 'button' }, 'CSV');
  #chat = new ChatBox();
  #replay = new RoundReplay(() => this.#round && { round: this.#round.id, groups: pagesOf(this.#round.id) });
  #rest = h('div');
  element = h(
    'div',
    {},
    this.#head,
    h(
      'div',
      { class: 'tasks-title' },
      h('h2', { class: 'minor' }, 'Tasks'),
      this.#filter,
      this.#order,
      h('span', { class: 'range' }, 'reward ', this.#least, ' ', this.#most),
      this.#search,
      this.#tint,
      this.#load,
      this.#replay.element,
      h('span', { class: 'downloads' }, 'Download ', this.#save, ' ', this.#saveFigures),
    ),
    this.#description,
    h('div', { class: 'split' }, this.#list.element, this.#task),
    this.#chat.element,
    this.#lengths,
    this.#proposals,
    this.#rest,
  );

  /** @param {(round: Round, group?: string) => string} address of a round or one of its tasks */
  constructor(address) {
    this.#address = address;
    for (const control of [this.#filter, this.#order, this.#least, this.#most, this.#search])
      control.addEventListener('input', () => {
        void this.#readAll();
        this.#showList();
      });
    this.#tint.addEventListener('input', () =>
      this.#open(this.#contents.get(place().task ?? '') ?? null, true),
    );
    this.#load.addEventListener('click', () => void this.#readAll());
    this.#save.addEventListener('click', () => void this.#saveSamples());
    this.#saveFigures.addEventListener('click', () => void this.#saveTable());
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted the group to open
   * @param {Recipe | null} recipe
   * @param {string} policy
   */
  async show(round, wanted, recipe, policy) {
    this.#recipe = recipe;
    this.#chat.show(round, policy);
    this.#showHead(round);
    await this.#fetchGroups(round);
    if (this.#round?.id !== round.id) this.#replay.clear();
    this.#round = round;
    const content = wanted === null ? null : await this.#contentOf(round, wanted);
    this.#showList();
    this.#open(content);
    if (round.endedAt !== null && this.#groups.length <= READ_AT_ONCE) void this.#readAll();
    if (round.proposed > 0 && round.expected > 0) void this.#showProposals(round);
    else {
      delete this.#proposals.dataset.round;
      fill(this.#proposals);
    }
  }

  /** @param {Round} round */
  #showHead(round) {
    const { warnings = [] } = round.report ?? {};
    fill(
      this.#head,
      figures(round),
      round.reason && h('p', { class: 'warning' }, round.reason),
      warnings.length > 0 && h('ul', { class: 'warning' }, ...warnings.map((text) => h('li', {}, text))),
    );
    fill(
      this.#rest,
      h('div', { class: 'pair' }, judging(round), training(round)),
      recipeFigures(round, this.#recipe?.figures),
      usage(round),
    );
  }

  /** Proposals that were refused, with the reasons. They do not change once the round's tasks are admitted. @param {Round} round */
  async #showProposals({ id }) {
    if (this.#proposals.dataset.round === id) return;
    this.#proposals.dataset.round = id;
    /** @type {ProposalListing} */
    const { proposals } = await getJson(`/api/rounds/${id}/proposals`).catch(() => {
      // The next poll asks again, and says what is wrong.
      delete this.#proposals.dataset.round;
      return { proposals: [] };
    });
    if (this.#proposals.dataset.round !== id) return;
    const refused = proposals.filter(({ group }) => group === null);
    const cells = this.#recipe?.cells ?? {};
    const rows = refused.map(({ outcome, meaning, turns }) => [
      h('b', {}, outcome),
      meaning,
      h('span', { class: 'turns' }, ...turns.map(({ text }) => partsView(text?.parts ?? [], cells))),
      decimal(turns[0]?.rewards.reward),
    ]);
    fill(
      this.#proposals,
      refused.length > 0 &&
        h(
          'details',
          { class: 'refused' },
          h(
            'summary',
            {},
            `${counted(refused.length, 'proposal')} of ${proposals.length} did not become a task`,
          ),
          scroller(
            'Refused proposals',
            table('Refused proposals', ['outcome', 'why', 'proposal', 'earned'], rows),
          ),
        ),
    );
  }

  /** The states of a round that has ended do not change any more. @param {Round} round */
  async #fetchGroups(round) {
    const { rollout, scored, trained, failed } = round.groups;
    const state = [round.id, round.endedAt, rollout, scored, trained, failed].join(' ');
    if (state === this.#known) return;
    /** @type {{ groups: Group[] }} */
    const { groups } = await getJson(`/api/rounds/${round.id}/groups`);
    this.#groups = groups;
    this.#known = state;
  }

  /** @param {GroupContent} content */
  #keep(content) {
    this.#contents.delete(content.group);
    this.#contents.set(content.group, content);
    if (content.samples) this.#summaries.set(content.group, summaryOf(content));
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > KEPT && oldest !== undefined) {
      this.#contents.delete(oldest);
      this.#summaries.delete(oldest);
    }
  }

  /**
   * A group's content never changes once it is scored.
   * @param {Round} round
   * @param {string} group
   */
  async #contentOf(round, group) {
    const kept = this.#contents.get(group);
    if (kept && (kept.samples || round.endedAt !== null)) return kept;
    /** @type {GroupContent} */
    const content = await getJson(`/api/rounds/${round.id}/groups/${group}`);
    this.#keep(content);
    return content;
  }

  /** Reads the samples of all tasks, page by page, so that they can be filtered, found and marked. */
  async #readAll() {
    const round = this.#round;
    if (!round || this.#reading === round.id || this.#read.has(this.#known)) return;
    const state = this.#known;
    this.#reading = round.id;
    setUsable(this.#load, false);
    try {
      for await (const groups of pagesOf(round.id)) {
        for (const group of groups) this.#keep(group);
        if (this.#round?.id !== round.id) return;
        this.#showList();
      }
      this.#read.add(state);
    } catch (error) {
      this.#description.textContent = String(error);
    } finally {
      this.#reading = '';
      setUsable(this.#load, true);
    }
    this.#showList();
  }

  /** Drawn again where more has been read. @param {Round} round */
  #showLengths({ id }) {
    const read = this.#groups.flatMap(({ group }) => this.#summaries.get(group) ?? []);
    const state = `${id} ${read.length}`;
    if (state === this.#measured || this.#reading === id) return;
    this.#measured = state;
    fill(this.#lengths, lengthView(read.flatMap(({ episodes }) => episodes)));
  }

  #showList() {
    const round = this.#round;
    if (!round) return;
    this.#showLengths(round);
    const asked = {
      filter: this.#filter.value,
      order: this.#order.value,
      text: this.#search.value,
      // NaN where nothing is written.
      least: this.#least.valueAsNumber,
      most: this.#most.valueAsNumber,
    };
    const groups = selected(this.#groups, this.#summaries, asked);
    this.#load.hidden = this.#groups.every(
      ({ group, state }) => this.#summaries.has(group) || state === 'failed',
    );
    const passing =
      groups.length === this.#groups.length
        ? ''
        : `${groups.length} of ${counted(this.#groups.length, 'task')}.`;
    this.#description.textContent = this.#reading === round.id ? `Reading samples … ${passing}` : passing;
    this.#list.show(groups, {
      address: (group) => this.#address(round, group),
      wanted: place().task,
      summaries: this.#summaries,
      empty: this.#groups.length ? 'No task passes this filter.' : 'No task has been admitted.',
    });
  }

  /** @param {GroupContent | null} content @param {boolean} [again] The view of the samples was changed. */
  #open(content, again = false) {
    const round = this.#round;
    if (!content || !round) {
      const tasks = counted(this.#groups.length, 'task');
      fill(
        this.#task,
        h('p', { class: 'note' }, `${tasks}. Open one to see what was written and how it was judged.`),
      );
      this.#opened = '';
      return;
    }
    const state = `${content.group} ${content.state} ${content.samples !== null} ${content.proposal[0]?.rewards.reward}`;
    // A task that is open keeps its buttons and what they said.
    if (this.#opened === state && !again) return;
    const tint = /** @type {import('./tokens.js').Tint} */ (this.#tint.value);
    const cells = this.#recipe?.cells ?? {};
    const opened = this.#opened.startsWith(content.group);
    this.#opened = state;
    this.#task.replaceChildren(
      taskView(content, { round: round.id, tint, cells }),
      taskRounds(round, content.task, this.#address),
      ...[tint === 'text' ? legend(cells) : tintNote(tint)].flatMap((note) => note ?? []),
    );
    // On a narrow screen the task is below the list and would open out of sight.
    if (!opened && matchMedia('(max-width: 40rem)').matches) this.#task.scrollIntoView();
  }

  async #saveSamples() {
    const round = this.#round;
    if (!round) return;
    /** @type {GroupContent[]} */
    const all = [];
    for await (const groups of pagesOf(round.id)) all.push(...groups);
    download(`round-${round.index}-samples.jsonl`, 'application/x-ndjson', jsonLines(all));
  }

  async #saveTable() {
    const round = this.#round;
    if (!round) return;
    await this.#readAll();
    const titles = ['index', 'task', 'state', 'mean reward', 'exact', 'checked', 'invalid', 'longest'];
    const rows = this.#groups.map(({ group, index, task, state }) => {
      const of = this.#summaries.get(group);
      return [index, task, state, of?.reward, of?.exact, of?.checked, of?.invalid, of?.longest];
    });
    download(`round-${round.index}-tasks.csv`, 'text/csv', csv(titles, rows));
  }
}

/** @param {'probability' | 'advantage'} tint */
const tintNote = (tint) =>
  h(
    'p',
    { class: 'note' },
    tint === 'probability'
      ? 'The stronger the tint, the less likely was the token when it was sampled. Point at a token to read its probability.'
      : 'Blue: the sample earned more than the mean of its task; ochre: less. This is the reward less its group’s mean; a recipe may shape it further before training.',
  );

/** @param {string} round @returns {AsyncGenerator<GroupContent[]>} */
async function* pagesOf(round) {
  for (let from = 0; ; ) {
    /** @type {ContentListing} */
    const { groups, next } = await getJson(`/api/rounds/${round}/contents?limit=${PAGE}&from=${from}`);
    yield groups;
    if (next === null) return;
    from = next;
  }
}
