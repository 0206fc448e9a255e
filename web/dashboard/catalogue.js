/** Shows policy versions, and dead letters with their causes. */
import { fill, h, scroller, table, term } from './dom.js';
import { counted, moment, size, whole } from './figures.js';

/** @typedef {import('./api.js').PolicyVersion} PolicyVersion */
/** @typedef {import('./api.js').DeadLetter} DeadLetter */
/** @typedef {import('./dom.js').Child} Child */

/** How many versions are shown, the newest ones. */
const VERSIONS = 8;

/** @param {number} at */
const time = (at) => h('time', { datetime: new Date(at).toISOString() }, moment(at));

/** The beginning of an id, which names it well enough to a reader. @param {string} id */
const short = (id) => h('code', { class: 'short', title: id }, id.slice(0, 8));

/**
 * @param {Element} element
 * @param {string} policy
 * @param {{ current: number, next: number, versions: readonly PolicyVersion[] }} known versions: newest first
 */
export function showVersions(element, policy, { current, next, versions }) {
  const shown = versions.slice(0, VERSIONS);
  const rows = shown.map(({ version, parent, bytes, createdAt, withdrawn, prunedAt }) => [
    version === current ? h('b', {}, `${version} (current)`) : String(version),
    parent === null ? 'imported' : `from ${parent}`,
    size(bytes),
    time(createdAt),
    withdrawn ? h('span', { class: 'bad' }, withdrawn) : prunedAt ? 'pruned' : '',
  ]);
  fill(
    element,
    h('h2', {}, term('Versions', 'version'), ' ', h('span', {}, policy)),
    scroller(
      'Versions',
      table(
        `Versions of ${policy}, newest first`,
        ['version', 'trained', 'size', 'published', 'remark'],
        rows,
      ),
    ),
    next > shown.length && h('p', { class: 'note' }, `The newest ${shown.length} of ${whole(next)}.`),
  );
}

/**
 * @param {Element} element
 * @param {readonly DeadLetter[]} letters newest first
 * @param {(round: string) => Child} link to a round, where this run has it
 */
export function showDeadLetters(element, letters, link) {
  if (!letters.length) {
    fill(
      element,
      h('h2', {}, term('Dead letters')),
      h('p', { class: 'note' }, 'None: every message was done or is still being tried.'),
    );
    return;
  }
  const rows = letters.map(({ id, at, queue, code, cause, attempts, round }) => [
    time(at),
    queue,
    h('code', { class: 'short' }, code),
    cause,
    counted(attempts, 'time'),
    round === null ? '' : (link(round) ?? short(round)),
    short(id),
  ]);
  const titles = ['when', 'stage', 'code', 'cause', 'tried', 'round', 'id'];
  const content = table('Dead letters, newest first', titles, rows);
  content.classList.add('letters');
  fill(
    element,
    h('h2', {}, term('Dead letters'), ' ', h('span', {}, whole(letters.length))),
    h(
      'p',
      { class: 'note' },
      'Messages that were given up. POST /api/dead-letters/ID/replay sends one again.',
    ),
    scroller('Dead letters', content),
  );
}
