/**
 * The view of one task: every episode of its group with what was read and written turn by turn, each judge's marks under the steps they
 * are on, and the exact checker's verdict beside them. Texts were written by models and are untrusted. Red is for failures alone.
 */
import { h, scroller } from './dom.js';
import { counted, decimal } from './figures.js';
import { seatOf, summaryOf } from './group-summary.js';
import { partsView, plainText } from './parts.js';
import { replayButton } from './replay.js';
import { tokensView } from './tokens.js';

/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./api.js').ReadableSample} ReadableSample */
/** @typedef {import('./group-summary.js').Episode} Episode */
/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('../../core/recipe/reading.ts').Part} Part */

/**
 * @typedef {object} TaskSettings
 * @property {string} round
 * @property {import('./tokens.js').Tint} tint
 * @property {Readonly<Record<string, string>>} cells
 */

/** @param {boolean} good @param {string} yes @param {string} no */
const checked = (good, yes, no) =>
  h(
    'span',
    { class: good ? 'good' : 'faint' },
    h('span', { 'aria-hidden': 'true' }, good ? '✓' : '✗'),
    ` ${good ? yes : no}`,
  );

/** Why a text is no valid output. @param {ReadableSample} sample */
const trouble = ({ outcome }) => outcome !== 'ok' && h('em', { class: 'bad' }, ` ${outcome}`);

/** @param {ReadableSample} sample */
const partsOf = ({ text }) =>
  text?.parts ?? [{ kind: /** @type {const} */ ('note'), text: 'no tokenizer to read it with' }];

/** Rewards by name, the one that pays first, without that of a single turn. @param {ReadableSample['rewards']} rewards */
const rewardText = ({ turn: _, ...rewards }) =>
  Object.entries(rewards)
    .sort(([a], [b]) => Number(b === 'reward') - Number(a === 'reward') || a.localeCompare(b))
    .map(([name, value]) => `${name} ${decimal(value)}`)
    .join(' · ');

/** What a judge makes of it, and whether the checker agrees. @param {ReadableSample} judgment */
function agreementOf({ oracle, rewards }) {
  if (oracle) return h('span', { class: oracle.hit ? 'faint' : 'warn' }, oracle.hit ? 'agrees' : 'disagrees');
  const { agreement } = rewards;
  if (typeof agreement !== 'number') return '';
  return h('span', { class: 'faint' }, agreement === 1 ? 'agrees' : 'disagrees');
}

/** A judgment whose marks fit the steps stands under them; any other is shown as it was written. @param {readonly Part[]} parts @param {number} steps */
function marksOf(parts, steps) {
  const marks = parts.filter(({ kind }) => kind === 'mark');
  const verdicts = parts.filter(({ kind }) => kind === 'verdict');
  const fits = marks.length === steps && verdicts.length === 1 && marks.length + 1 === parts.length;
  return fits ? [...marks, ...verdicts] : null;
}

/** A judge's mark: whoever approves and who rejects are told apart by sign, not by colour. @param {Part} part */
const markCell = ({ good, text }) =>
  h('td', {}, h('span', { 'aria-hidden': 'true' }, good ? '✓ ' : '✗ '), text);

/**
 * @param {ReadableSample} judgment
 * @param {number} number
 * @param {number} steps
 * @param {TaskSettings} settings
 */
function judgmentRow(judgment, number, steps, { cells }) {
  const title = h('th', { scope: 'row' }, `${judgment.role} ${number}`);
  const marks = judgment.outcome === 'ok' ? marksOf(partsOf(judgment), steps) : null;
  const content = marks
    ? marks.map(markCell)
    : [h('td', { colspan: steps + 1, class: 'raw' }, partsView(partsOf(judgment), cells), trouble(judgment))];
  const { agreement: _, ...more } = judgment.rewards;
  return h(
    'tr',
    {},
    title,
    ...content,
    h(
      'td',
      {},
      agreementOf(judgment),
      Object.keys(more).length > 0 && h('small', {}, ` ${rewardText(more)}`),
    ),
  );
}

/** A solution of steps and an answer as a table, with the verdicts on each step below it. @param {Episode} episode @param {string} name @param {TaskSettings} settings */
function stepsTable({ turns: [sample], answerExact, solutionExact, judgments }, name, settings) {
  const parts = sample ? partsOf(sample) : [];
  const steps = parts.slice(0, -1);
  const answer = parts.at(-1);
  return scroller(
    `${name} with its verdicts`,
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, `${name} with its verdicts`),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'who')),
          ...steps.map(({ text }, i) =>
            h('th', { scope: 'col', class: 'step' }, h('small', {}, `step ${i + 1}`), h('code', {}, text)),
          ),
          h('th', { scope: 'col', class: 'step' }, h('small', {}, 'answer'), h('code', {}, answer?.text)),
          h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'agreement with the checker')),
        ),
      ),
      h(
        'tbody',
        {},
        (answerExact !== null || solutionExact !== null) &&
          h(
            'tr',
            { class: 'oracle' },
            h('th', { scope: 'row' }, 'checker'),
            steps.length > 0 &&
              h(
                'td',
                { colspan: steps.length },
                solutionExact === null ? '' : checked(solutionExact, 'every step exact', 'not all exact'),
              ),
            h('td', {}, answerExact === null ? '' : checked(answerExact, 'exact', 'not exact')),
            h('td', {}),
          ),
        ...judgments.map((judgment, i) => judgmentRow(judgment, i + 1, steps.length, settings)),
      ),
    ),
  );
}

/** Is the text nothing but steps and one answer? @param {readonly Part[]} parts */
const isSolution = (parts) =>
  parts.at(-1)?.kind === 'answer' && parts.slice(0, -1).every(({ kind }) => kind === 'step');

/**
 * @param {ReadableSample} turn
 * @param {boolean} reads Is what it read shown before it?
 * @param {number | null} advantage
 * @param {TaskSettings} settings
 */
function turnView(turn, reads, advantage, settings) {
  const { tint, cells } = settings;
  return h(
    'div',
    { class: 'turn' },
    reads && h('div', { class: 'seen' }, h('small', {}, 'reads '), partsView(turn.text?.seen ?? [], cells)),
    h(
      'div',
      { class: 'wrote' },
      h('small', {}, `${turn.role} writes `),
      tint === 'text' ? partsView(partsOf(turn), cells) : tokensView(turn, tint, advantage),
      trouble(turn),
      typeof turn.rewards.turn === 'number' && h('small', {}, ` is paid ${decimal(turn.rewards.turn)} `),
      replayButton(turn, settings.round),
    ),
  );
}

/**
 * What each episode is called: a solution or an episode by its number, or by the role that it is of, where a group has those of several roles.
 * @param {readonly Episode[]} episodes @param {GroupContent['endings']} endings @returns {string[]}
 */
function namesOf(episodes, endings) {
  const several = rolesOf(episodes).size > 1;
  /** @type {Map<string, number>} */
  const counts = new Map();
  return episodes.map(({ turns }) => {
    const [first] = turns;
    if (!first) return '';
    const title = several ? first.role : turns.length > 1 || endings[first.id] ? 'Episode' : 'Solution';
    const number = (counts.get(several ? title : '') ?? 0) + 1;
    counts.set(several ? title : '', number);
    return `${title[0]?.toUpperCase()}${title.slice(1)} ${number}`;
  });
}

/** How many episodes there are of each role. @param {readonly Episode[]} episodes @returns {Map<string, number>} */
function rolesOf(episodes) {
  const roles = new Map();
  for (const {
    turns: [first],
  } of episodes)
    if (first) roles.set(first.role, (roles.get(first.role) ?? 0) + 1);
  return roles;
}

/**
 * @param {Episode} episode
 * @param {string} name
 * @param {GroupContent} group
 * @param {number | null} advantage
 * @param {TaskSettings} settings
 */
function episodeView(episode, name, group, advantage, settings) {
  const { turns, answerExact, judgments } = episode;
  const [first] = turns;
  if (!first) return null;
  const asTable =
    settings.tint === 'text' &&
    turns.length === 1 &&
    !group.endings[first.id] &&
    first.outcome === 'ok' &&
    isSolution(partsOf(first));
  const task = plainText(group.title);
  const reads = (/** @type {ReadableSample} */ turn) =>
    turn !== first || !task.includes(plainText(turn.text?.seen ?? []));
  const ending = group.endings[first.id];
  return h(
    'article',
    { class: 'solution' },
    h('h4', {}, `${name} `, h('span', {}, rewardText(first.rewards) || 'no reward of its own')),
    ...(asTable
      ? [
          reads(first) &&
            h(
              'div',
              { class: 'seen' },
              h('small', {}, 'reads '),
              partsView(first.text?.seen ?? [], settings.cells),
            ),
          stepsTable(episode, name, settings),
          replayButton(first, settings.round),
        ]
      : [
          ...turns.map((turn) => turnView(turn, reads(turn), advantage, settings)),
          ending &&
            h('div', { class: 'turn' }, h('small', {}, 'ends at '), partsView(ending, settings.cells)),
          answerExact !== null &&
            h('p', { class: 'verdict-line' }, 'checker: ', checked(answerExact, 'exact', 'not exact')),
          judgments.length > 0 &&
            h(
              'table',
              {},
              h('caption', { class: 'hidden' }, `Judgments of ${name}`),
              h('tbody', {}, ...judgments.map((judgment, i) => judgmentRow(judgment, i + 1, 0, settings))),
            ),
        ]),
  );
}

/**
 * Episodes that are read together: the seats of one episode, or one episode alone.
 * @param {readonly Episode[]} episodes @returns {number[][]} indices of `episodes`
 */
function together(episodes) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const [i, { turns }] of episodes.entries()) {
    const [first] = turns;
    const key = first?.episode === undefined ? `alone ${i}` : `episode ${first.episode}`;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  }
  return [...groups.values()];
}

/**
 * An episode of several seats as the conversation that it was: who read and wrote what, in the order of its turns, with what each turn was paid.
 * @param {readonly Episode[]} seats The part of each seat.
 * @param {readonly (number | null)[]} advantages Of each seat.
 * @param {TaskSettings} settings
 */
function conversationView(seats, advantages, settings) {
  const number = (seats[0]?.turns[0]?.episode ?? 0) + 1;
  const paid = seats.map(({ turns: [first], reward }) =>
    h(
      'span',
      { class: 'seat' },
      h('b', {}, first?.role),
      ` ${reward === null ? 'no reward' : decimal(reward)} `,
    ),
  );
  const turns = seats
    .flatMap(({ turns: own }, seat) => own.map((turn) => ({ turn, advantage: advantages[seat] ?? null })))
    .toSorted((a, b) => (a.turn.turn ?? 0) - (b.turn.turn ?? 0));
  const judgments = seats.flatMap((seat) => seat.judgments);
  return h(
    'article',
    { class: 'solution conversation' },
    h('h4', {}, `Episode ${number} `, ...paid),
    ...turns.map(({ turn, advantage }) => turnView(turn, true, advantage, settings)),
    judgments.length > 0 &&
      h(
        'table',
        {},
        h('caption', { class: 'hidden' }, `Judgments of episode ${number}`),
        h('tbody', {}, ...judgments.map((judgment, i) => judgmentRow(judgment, i + 1, 0, settings))),
      ),
  );
}

/** The proposal's reward is known once its round is trained. @param {GroupContent} group @param {TaskSettings} settings */
function proposalNote({ proposal }, settings) {
  const [first] = proposal;
  if (!first) return null;
  const { reward } = first.rewards;
  const earned = reward === undefined ? 'not yet known' : decimal(reward);
  return h(
    'details',
    { class: 'proposal', open: proposal.length === 1 },
    h('summary', {}, `Proposed by the ${first.role}, reward ${earned}`),
    ...proposal.map((turn, i) => turnView(turn, i > 0, null, { ...settings, tint: 'text' })),
  );
}

/**
 * Each reward less the group's mean, as a share of the largest such difference; each seat is compared with itself.
 * @param {readonly Episode[]} episodes @returns {(number | null)[]}
 */
function advantagesOf(episodes) {
  return episodes.map((episode) => {
    const known = episodes.flatMap((other) =>
      seatOf(other) === seatOf(episode) ? (other.reward ?? []) : [],
    );
    const mean = known.reduce((sum, reward) => sum + reward, 0) / Math.max(1, known.length);
    const most = Math.max(...known.map((reward) => Math.abs(reward - mean)), 1e-12);
    return episode.reward === null ? null : (episode.reward - mean) / most;
  });
}

/**
 * @param {GroupContent} group
 * @param {TaskSettings} settings
 */
export function taskView(group, settings) {
  const { episodes, exact, checked: verdicts, reward } = summaryOf(group);
  const several = group.samples !== null && group.samples.length > episodes.length;
  const worlds = Object.keys(group.endings).length > 0;
  const advantages = advantagesOf(episodes);
  const names = namesOf(episodes, group.endings);
  const roles = rolesOf(episodes);
  const says = [
    roles.size > 1 && episodes.every(({ turns: [first] }) => first?.episode === undefined)
      ? [...roles].map(([role, count]) => `${count} by ${role}`).join(', ')
      : counted(together(episodes).length, several || worlds || roles.size > 1 ? 'episode' : 'solution'),
    ...(verdicts ? [`${exact} with the exact answer`] : []),
    ...(reward === null ? [] : [`mean reward ${decimal(reward)}`]),
  ].join(', ');
  return h(
    'section',
    { class: 'task' },
    h('h3', { tabindex: -1 }, partsView(group.title, settings.cells)),
    group.failure &&
      h('p', { class: 'warning' }, h('code', {}, group.failure.code), ` ${group.failure.message}`),
    h(
      'p',
      { class: 'note' },
      group.samples ? `${says}.` : 'It is not scored: there are no solutions to show.',
    ),
    proposalNote(group, settings),
    ...together(episodes).map(([i = 0, ...others]) => {
      const [episode] = episodes.slice(i, i + 1);
      if (!episode) return null;
      if (episode.turns[0]?.episode === undefined)
        return episodeView(episode, names[i] ?? '', group, advantages[i] ?? null, settings);
      const seats = [i, ...others];
      return conversationView(
        seats.flatMap((seat) => episodes[seat] ?? []),
        seats.map((seat) => advantages[seat] ?? null),
        settings,
      );
    }),
  );
}
