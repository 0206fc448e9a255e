/** One round: its figures, its warnings, and its tasks, each of which opens to its solutions. */
import { getJson } from './api.js';
import { fill, h, table } from './dom.js';
import { counted, decimal, duration, MISSING, moment, percent, significant, whole } from './figures.js';
import { checkedSolutions, taskView } from './task-view.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./dom.js').Child} Child */

/** Groups whose content is kept. */
const KEPT = 200;

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

/** A dot a solution: full where the answer is exact. @param {GroupContent | undefined} content */
function dots(content) {
  const solutions = content && checkedSolutions(content);
  if (!solutions) return null;
  const right = solutions.filter(({ gold }) => gold === true).length;
  return h(
    'span',
    { class: 'dots', role: 'img', 'aria-label': `${right} of ${solutions.length} exact` },
    ...solutions.map(({ gold }) =>
      h('i', { class: gold === true ? 'hit' : gold === false ? 'miss' : 'none' }),
    ),
  );
}

export class RoundView {
  /** @type {Map<string, GroupContent>} */
  #contents = new Map();
  /** @type {Group[]} */
  #groups = [];
  #shown = '';
  #head = h('div');
  #list = h('ol', { class: 'tasks' });
  #task = h('div', { class: 'task-pane', 'aria-live': 'polite' });
  #address;
  element = h(
    'div',
    {},
    this.#head,
    h('h3', { class: 'tasks-title' }, 'Tasks'),
    h('div', { class: 'split' }, this.#list, this.#task),
  );

  /** @param {(round: Round, group?: string) => string} address of a round or one of its tasks */
  constructor(address) {
    this.#address = address;
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted the group to open
   */
  async show(round, wanted) {
    const { warnings = [] } = round.report ?? {};
    fill(
      this.#head,
      figures(round),
      round.reason && h('p', { class: 'warning' }, round.reason),
      warnings.length > 0 && h('ul', { class: 'warning' }, ...warnings.map((text) => h('li', {}, text))),
      h('div', { class: 'pair' }, judging(round), training(round)),
    );
    const ended = round.endedAt !== null;
    const state = `${round.id} ${ended}`;
    if (state !== this.#shown || !ended) {
      if (!this.#shown.startsWith(round.id)) this.#clear();
      /** @type {{ groups: Group[] }} */
      const { groups } = await getJson(`/api/rounds/${round.id}/groups`);
      this.#groups = groups;
      this.#shown = state;
    }
    this.#showList(round, wanted);
    await this.#open(round, wanted);
  }

  #clear() {
    this.#groups = [];
    this.#task.replaceChildren();
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted
   */
  #showList(round, wanted) {
    fill(
      this.#list,
      ...this.#groups.map(({ group, task, state, failure }) =>
        h(
          'li',
          { class: state },
          h(
            'a',
            { href: this.#address(round, group), 'aria-current': group === wanted ? 'true' : null },
            h('code', {}, task),
            dots(this.#contents.get(group)),
            state === 'rolling' || state === 'failed'
              ? h('small', {}, failure ? `failed: ${failure.code}` : 'under way')
              : null,
          ),
        ),
      ),
    );
    if (!this.#groups.length) fill(this.#list, h('li', { class: 'note' }, 'No task has been admitted.'));
  }

  /**
   * @param {Round} round
   * @param {string | null} wanted
   */
  async #open(round, wanted) {
    if (wanted === null) {
      fill(
        this.#task,
        this.#groups.length > 0 &&
          h(
            'p',
            { class: 'note' },
            `${counted(this.#groups.length, 'task')}. Open one to see its solutions and verdicts.`,
          ),
      );
      return;
    }
    const kept = this.#contents.get(wanted);
    /** @type {GroupContent} */
    const content = kept?.samples ? kept : await getJson(`/api/rounds/${round.id}/groups/${wanted}`);
    this.#contents.set(wanted, content);
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > KEPT && oldest !== undefined) this.#contents.delete(oldest);
    fill(this.#task, taskView(content));
    this.#showList(round, wanted);
  }
}
