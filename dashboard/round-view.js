/** The view of one round: its figures, its warnings, and its tasks, each of which opens to show its solutions. */
import { getJson } from './api.js';
import { fill, h, table } from './dom.js';
import {
  counted,
  decimal,
  dollars,
  duration,
  MISSING,
  moment,
  percent,
  significant,
  size,
  whole,
} from './figures.js';
import { place } from './place.js';
import { TaskList } from './task-list.js';
import { taskView } from './task-view.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./dom.js').Child} Child */

/** @param {readonly (readonly [string, Child])[]} facts */
const factList = (facts) =>
  h(
    'dl',
    { class: 'facts' },
    ...facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );

/** @param {Round} round */
function training({ report }) {
  const trained = report?.training;
  if (!trained) return null;
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
    h('h3', {}, 'Learning'),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
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
  return h(
    'section',
    {},
    h('h3', {}, 'Judging'),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
      table(
        'Judgments by what is so and what the judge says',
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
    ? `, ${dollars((1e6 * used.cost.total) / tokens)} a million generated tokens`
    : '';
  return h(
    'section',
    {},
    h('h3', {}, 'Use of the platform'),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
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

/** @param {Round} round */
function figures(round) {
  const { report, roles, version } = round;
  const monitors = report?.monitors;
  return factList([
    ['stage', round.stage],
    ['began', moment(round.createdAt)],
    ['took', round.endedAt === null ? MISSING : duration(round.endedAt - round.createdAt)],
    ['generation', duration(report?.rolloutMs)],
    ['learner', duration(report?.learnerMs)],
    ['made', version === null ? MISSING : `version ${version}`],
    ...Object.entries(roles).map(([role, ref]) => /** @type {const} */ ([role, `version ${ref.version}`])),
    ['proposals', whole(round.proposed)],
    ['admitted', whole(round.expected)],
    ['failed', whole(round.groups.failed)],
    ['reward', decimal(monitors?.reward)],
    ['gold', decimal(monitors?.gold)],
    ['pass rate', decimal(monitors?.passRate)],
    ['with steps', percent(monitors?.workedShare)],
    ['tokens a solution', decimal(monitors?.length, 1)],
    ['without reward', whole(monitors?.missingRewards)],
  ]);
}

/** How many groups' contents are kept. */
const KEPT = 500;

export class RoundView {
  /** @type {Map<string, GroupContent>} */
  #contents = new Map();
  /** @type {readonly Group[]} */
  #groups = [];
  /** Which round the groups belong to: its id, and whether it has ended. */
  #known = '';
  /** @type {Round | null} */
  #round = null;
  #opened = '';
  #address;
  #head = h('div');
  #list = new TaskList();
  #task = h('div');
  #description = h('p', { class: 'hidden', role: 'status' });
  #mark = h('button', { type: 'button' }, 'Mark exact solutions');
  element = h(
    'div',
    {},
    this.#head,
    h('div', { class: 'tasks-title' }, h('h3', {}, 'Tasks'), this.#mark),
    this.#description,
    h('div', { class: 'split' }, this.#list.element, this.#task),
  );

  /** @param {(round: Round, group?: string) => string} address of a round or one of its tasks */
  constructor(address) {
    this.#address = address;
    this.#mark.addEventListener('click', () => void this.#markAll());
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted the group to open
   */
  async show(round, wanted) {
    this.#showHead(round);
    await this.#fetchGroups(round);
    const content = wanted === null ? null : await this.#contentOf(round, wanted);
    this.#showList(round, wanted);
    this.#open(content);
  }

  /** @param {Round} round */
  #showHead(round) {
    const { warnings = [] } = round.report ?? {};
    fill(
      this.#head,
      figures(round),
      round.reason && h('p', { class: 'warning' }, round.reason),
      warnings.length > 0 && h('ul', { class: 'warning' }, ...warnings.map((text) => h('li', {}, text))),
      h('div', { class: 'pair' }, judging(round), training(round)),
      usage(round),
    );
  }

  /** The states of a round that has ended do not change any more. @param {Round} round */
  async #fetchGroups(round) {
    const state = `${round.id} ${round.endedAt}`;
    if (state === this.#known && round.endedAt !== null) return;
    /** @type {{ groups: Group[] }} */
    const { groups } = await getJson(`/api/rounds/${round.id}/groups`);
    this.#groups = groups;
    this.#known = state;
    this.#round = round;
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
    this.#contents.set(group, content);
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > KEPT && oldest !== undefined) this.#contents.delete(oldest);
    return content;
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted
   */
  #showList(round, wanted) {
    const address = (/** @type {string} */ group) => this.#address(round, group);
    this.#list.show(this.#groups, { address, wanted, contents: this.#contents });
  }

  /** @param {GroupContent | null} content */
  #open(content) {
    if (!content) {
      const tasks = counted(this.#groups.length, 'task');
      fill(this.#task, h('p', { class: 'note' }, `${tasks}. Open one to see its solutions and verdicts.`));
      return;
    }
    fill(this.#task, taskView(content));
    if (this.#opened === content.group) return;
    this.#opened = content.group;
    this.#description.textContent = `Task ${content.task} is open.`;
    // On a narrow screen the task is below the list and would open out of sight.
    if (matchMedia('(max-width: 40rem)').matches) this.#task.scrollIntoView();
  }

  /** Requests one after the other, so that they do not slow the mesh down. */
  async #markAll() {
    const round = this.#round;
    if (!round) return;
    this.#mark.disabled = true;
    try {
      for (const { group } of this.#groups) {
        await this.#contentOf(round, group);
        if (this.#round?.id !== round.id) break;
        this.#showList(round, place().task);
      }
    } catch (error) {
      this.#description.textContent = String(error);
    }
    this.#mark.disabled = false;
  }
}
