/** The tasks of a round as links. Changes reuse the existing rows, so that the keyboard's focus stays. */
import { fill, h } from './dom.js';
import { checkedSolutions } from './task-view.js';

/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./api.js').GroupContent} GroupContent */

/** One dot per solution: full where the answer is exact, dotted where there is none. @param {GroupContent | undefined} content */
function dots(content) {
  const solutions = content && checkedSolutions(content);
  if (!solutions) return null;
  const right = solutions.filter(({ answerExact }) => answerExact === true).length;
  return h(
    'span',
    { class: 'dots', role: 'img', 'aria-label': `${right} of ${solutions.length} exact` },
    ...solutions.map(({ answerExact }) =>
      h('i', { class: answerExact === true ? 'hit' : answerExact === false ? 'miss' : 'none' }),
    ),
  );
}

/** @param {Group} group */
function trouble({ state, failure }) {
  if (failure) return h('small', {}, `failed: ${failure.code}`);
  return state === 'rollout' ? h('small', {}, 'under way') : null;
}

export class TaskList {
  element = h('ol', { class: 'tasks' });
  /** @type {Map<string, HTMLAnchorElement>} */
  #links = new Map();

  /**
   * @param {readonly Group[]} groups
   * @param {{ address: (group: string) => string, wanted: string | null, contents: ReadonlyMap<string, GroupContent> }} settings
   */
  show(groups, { address, wanted, contents }) {
    if (groups.length !== this.#links.size || groups.some(({ group }) => !this.#links.has(group)))
      this.#build(groups);
    for (const group of groups) {
      const link = this.#links.get(group.group);
      if (!link) continue;
      link.href = address(group.group);
      if (group.group === wanted) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      fill(link, h('code', {}, group.task), dots(contents.get(group.group)), trouble(group));
    }
  }

  /** @param {readonly Group[]} groups */
  #build(groups) {
    this.#links = new Map(groups.map(({ group }) => [group, h('a')]));
    this.element.replaceChildren(...[...this.#links.values()].map((link) => h('li', {}, link)));
    if (!groups.length)
      this.element.replaceChildren(h('li', { class: 'note' }, 'No task has been admitted.'));
  }
}
