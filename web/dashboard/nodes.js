/** The nodes of a mesh as lanes: which programs compute for it, how much of the current round each has sampled, and what audits say. */
import { getJson } from './api.js';
import { fill, h, term } from './dom.js';
import { counted, percent, whole } from './figures.js';

/** @typedef {import('../../core/schema/work.ts').NodeAnswer} Node */
/** @typedef {import('../../core/schema/work.ts').RoundShares['shares'][number]} Share */
/** @typedef {import('./api.js').Round} Round */

/** @type {readonly Node[]} */
let nodes = [];

/**
 * Asks for nodes seldom while there is none, and else every time.
 * @param {Element} element
 * @param {Round | undefined} round the newest
 * @param {boolean} seldom
 */
export async function refreshNodes(element, round, seldom) {
  if (seldom || nodes.length) {
    /** @type {{ nodes: Node[] }} */
    const answer = await getJson('/api/nodes');
    nodes = answer.nodes;
  }
  if (!nodes.length) {
    fill(element);
    return;
  }
  /** @type {{ shares: Share[] }} */
  const { shares } = round ? await getJson(`/api/rounds/${round.id}/shares`) : { shares: [] };
  showNodes(element, nodes, shares, round);
}

const STATE_WORDS = {
  working: 'working',
  idle: 'waiting for work',
  away: 'away',
  revoked: 'token revoked',
  'shut-out': 'shut out',
  verifier: 'trains versions again',
  reader: 'reads',
};

/**
 * @param {Element} element
 * @param {readonly Node[]} listed
 * @param {readonly Share[]} shares of the round
 * @param {Round | undefined} round
 */
export function showNodes(element, listed, shares, round) {
  const isOpen = !round || !['done', 'failed'].includes(round.state);
  // Once a round has ended, what took no part in it says nothing about it.
  const shown = listed.filter(
    ({ id, state }) =>
      shares.some(({ node }) => node === id) || (isOpen && state !== 'away' && state !== 'revoked'),
  );
  if (!shown.length) {
    fill(element);
    return;
  }
  const all = shares.reduce((sum, { samples }) => sum + samples, 0);
  const isolates = shares.find(({ node }) => node === null);
  fill(
    element,
    h('h2', {}, term('Nodes'), ' ', h('span', {}, round ? `completions of round ${round.index}` : '')),
    h(
      'ol',
      { class: 'lanes' },
      isolates && lane('isolates', 'of the mesh', isolates.samples, all, null, 'active'),
      ...shown.map((node) => {
        const share = shares.find((of) => of.node === node.id);
        const held = new Set(share?.versions?.map(({ name, version }) => `version ${version} of ${name}`));
        const own = share?.samples ?? 0;
        const { requests, samples, tokens, audited, lost, reason, state, mismatch, leaves, seesGold } = node;
        const history = [
          held.size ? `holds ${[...held].join(', ')}` : '',
          leaves.length ? `does not take what waits (${leaves.join(', ')})` : '',
          `${counted(requests, 'request')}, ${counted(samples, 'completion')}, ${whole(tokens)} tokens in all`,
          audited ? `${whole(audited)} audited and right` : 'not audited yet',
          mismatch.tokens
            ? `close: ${(mismatch.sum / mismatch.tokens).toPrecision(2)} nats off on average, ${mismatch.most.toPrecision(2)} at most, draws ${deviations(mismatch)}`
            : '',
          lost ? `${whole(lost)} lost` : '',
          seesGold ? 'may be given prompts that hold reference answers' : '',
        ];
        return lane(
          node.name,
          leaves.length ? 'takes nothing that waits' : STATE_WORDS[state],
          own,
          all,
          reason ?? history.filter(Boolean).join('; '),
          state === 'shut-out' ? 'failed' : state === 'working' ? 'active' : 'waiting',
        );
      }),
    ),
  );
}

/**
 * How far a close node's draws are from those of the policy (core/audit/chance.ts).
 * @param {Node['mismatch']} mismatch
 */
const deviations = ({ drift, squares }) =>
  `${(squares > 0 ? drift / Math.sqrt(squares) : 0).toFixed(1)} standard deviations from chance`;

/**
 * @param {string} name
 * @param {string} state
 * @param {number} samples
 * @param {number} all
 * @param {string | null} history
 * @param {'active' | 'waiting' | 'failed'} look
 */
const lane = (name, state, samples, all, history, look) =>
  h(
    'li',
    { class: look },
    h('b', {}, name),
    h('span', {}, state),
    h('progress', { max: Math.max(1, all), value: samples, 'aria-label': `share of ${name}` }),
    h('span', {}, all ? `${percent(samples / all)}, ${whole(samples)}` : ''),
    h('small', { class: look === 'failed' ? 'warning' : 'faint' }, history ?? ''),
  );
