/** What lies beside the rounds: policy versions, and messages that died with their cause. */
import { fill, h, table } from './dom.js';
import { counted, MISSING, moment, size, whole } from './figures.js';

/** @typedef {import('./api.js').PolicyVersion} PolicyVersion */
/** @typedef {import('./api.js').DeadLetter} DeadLetter */

const VERSIONS = 20;

/**
 * @param {Element} element
 * @param {string} policy
 * @param {number} current
 * @param {readonly PolicyVersion[]} versions newest first
 */
export function showVersions(element, policy, current, versions) {
  const rows = versions
    .slice(0, VERSIONS)
    .map((version) => [
      version.version === current ? h('b', {}, `${version.version} (current)`) : String(version.version),
      version.parent === null ? 'imported' : `from ${version.parent}`,
      size(version.bytes),
      moment(version.createdAt),
      version.withdrawn ? h('span', { class: 'bad' }, version.withdrawn) : '',
    ]);
  fill(
    element,
    h('h2', {}, 'Versions ', h('span', {}, policy)),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
      table(`Versions of ${policy}, newest first`, ['version', 'trained', 'size', 'published', ''], rows),
    ),
    versions.length > VERSIONS &&
      h('p', { class: 'note' }, `The newest ${VERSIONS} of ${whole(current + 1)}.`),
  );
}

/**
 * @param {Element} element
 * @param {readonly DeadLetter[]} letters newest first
 */
export function showDeadLetters(element, letters) {
  if (!letters.length) {
    fill(
      element,
      h('h2', {}, 'Dead letters'),
      h('p', { class: 'note' }, 'None: every message was done or is still being tried.'),
    );
    return;
  }
  const rows = letters.map((letter) => [
    moment(letter.at),
    letter.queue,
    h('code', {}, letter.code),
    letter.cause,
    counted(letter.attempts, 'time'),
    letter.round ? h('code', { title: letter.round }, letter.round.slice(0, 8)) : MISSING,
    h('code', { title: letter.id }, letter.id.slice(0, 8)),
  ]);
  fill(
    element,
    h('h2', {}, 'Dead letters ', h('span', {}, whole(letters.length))),
    h(
      'p',
      { class: 'note' },
      'Messages that were given up, with their cause. Send one again: POST /api/dead-letters/ID/replay.',
    ),
    h(
      'div',
      { class: 'scroller', tabindex: 0 },
      table('Dead letters, newest first', ['when', 'stage', 'what', 'cause', 'tried', 'round', 'id'], rows),
    ),
  );
}
