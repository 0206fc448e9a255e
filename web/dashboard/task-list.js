/** The tasks of a round as links. Changes reuse the existing rows, so that the keyboard's focus stays. */
import { fill, h } from './dom.js';
import { decimal } from './figures.js';

/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./group-summary.js').Summary} Summary */

/** One dot per rollout: full where the answer is exact, dotted where the checker has no verdict. @param {Summary | undefined} summary */
function dots(summary) {
  // Where nothing parses there is no verdict; elsewhere a task without one is none that is checked.
  if (!summary || (summary.checked === 0 && summary.invalid === 0)) return null;
  const { episodes, exact } = summary;
  return h(
    'span',
    { class: 'dots', role: 'img', 'aria-label': `${exact} of ${episodes.length} exact` },
    ...episodes.map(({ answerExact }) =>
      h('i', { class: answerExact === true ? 'hit' : answerExact === false ? 'miss' : 'none' }),
    ),
  );
}

/** @param {Group} group */
function trouble({ state, failure }) {
  if (failure) return h('small', { class: 'bad' }, `failed: ${failure.code}`);
  return state === 'rollout' ? h('small', {}, 'under way') : null;
}

/** What the user asks in a task from a file, which is JSON; null for any other task. @param {string} task @returns {string | null} */
function askedIn(task) {
  if (!task.startsWith('{"messages":')) return null;
  try {
    const { messages } = JSON.parse(task);
    const asked = messages.findLast(/** @param {{ role: string }} message */ ({ role }) => role === 'user');
    return typeof asked?.content === 'string' ? asked.content : null;
  } catch {
    return null;
  }
}

/** A task's text. What no person reads in it, such as a world's seed, gives way to the task's number. @param {Group} group */
const nameOf = ({ task, index }) => askedIn(task) ?? task.replace(/\b[0-9a-f]{20,}\b/g, `no. ${index + 1}`);

export class TaskList {
  element = h('ol', { class: 'tasks' });
  /** @type {Map<string, HTMLAnchorElement>} */
  #links = new Map();
  #order = '';

  /**
   * @param {readonly Group[]} groups
   * @param {{ address: (group: string) => string, wanted: string | null, summaries: ReadonlyMap<string, Summary>, empty: string }} settings
   */
  show(groups, { address, wanted, summaries, empty }) {
    const order = groups.map(({ group }) => group).join();
    if (order !== this.#order || !groups.length) this.#build(groups, empty);
    this.#order = order;
    for (const group of groups) {
      const link = this.#links.get(group.group);
      if (!link) continue;
      link.href = address(group.group);
      if (group.group === wanted) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      const summary = summaries.get(group.group);
      fill(
        link,
        h('code', {}, nameOf(group)),
        dots(summary),
        summary && summary.reward !== null && h('small', { title: 'mean reward' }, decimal(summary.reward)),
        trouble(group),
      );
    }
  }

  /** @param {readonly Group[]} groups @param {string} empty */
  #build(groups, empty) {
    const kept = this.#links;
    this.#links = new Map(groups.map(({ group }) => [group, kept.get(group) ?? h('a')]));
    this.element.replaceChildren(...[...this.#links.values()].map((link) => h('li', {}, link)));
    if (!groups.length) this.element.replaceChildren(h('li', { class: 'note' }, empty));
  }
}
