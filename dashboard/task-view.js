/**
 * The view of one task: every solution as a line of steps, with each judge's verdict under each step, and the exact checker's
 * verdict beside the answer. The texts were written by models and are untrusted.
 */
import { h } from './dom.js';
import { counted, decimal } from './figures.js';
import { solutionOf, verdictOf } from './markup.js';

/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./api.js').ReadableSample} ReadableSample */

/** @param {boolean} good @param {string} yes @param {string} no */
const mark = (good, yes, no) =>
  h(
    'span',
    { class: good ? 'good' : 'bad' },
    h('span', { 'aria-hidden': 'true' }, good ? '✓' : '✗'),
    ` ${good ? yes : no}`,
  );

/** @param {boolean | null} value @param {string} yes @param {string} no */
const checked = (value, yes, no) =>
  value === null ? h('span', { class: 'faint' }, 'no answer') : mark(value, yes, no);

/** The sample's text; for a policy without a tokenizer its token ids. @param {ReadableSample} sample */
const textOf = ({ text, ids }) => text?.completion ?? ids.join(' ');

/**
 * Shows verdicts under their steps; a judgment that cannot be parsed is shown as it was written, with the reason.
 * @param {ReadableSample} judgment
 * @param {number} number
 * @param {number} steps
 */
function judgmentRow(judgment, number, steps) {
  const { outcome } = judgment;
  const { agreement } = judgment.rewards;
  const text = textOf(judgment);
  const verdict = outcome === 'ok' ? verdictOf(text) : null;
  const title = h('th', { scope: 'row' }, `judge ${number}`);
  if (!verdict || verdict.steps.length !== steps)
    return h(
      'tr',
      {},
      title,
      h(
        'td',
        { colspan: steps + 1, class: 'raw' },
        h('code', {}, text),
        ' ',
        h('em', { class: 'bad' }, outcome),
      ),
      h('td', {}, agreementOf(agreement)),
    );
  return h(
    'tr',
    {},
    title,
    ...verdict.steps.map((ok) => h('td', {}, mark(ok, 'ok', 'bad'))),
    h('td', {}, mark(verdict.right, 'right', 'wrong')),
    h('td', {}, agreementOf(agreement)),
  );
}

/** @param {number | null | undefined} agreement */
const agreementOf = (agreement) =>
  typeof agreement !== 'number'
    ? ''
    : h('span', { class: 'faint' }, agreement === 1 ? 'agrees' : 'disagrees');

/**
 * @typedef {object} Checked
 * @property {ReadableSample} sample
 * @property {boolean | null} answerExact Is the answer exact?
 * @property {boolean | null} solutionExact Is all of it exact, every step?
 * @property {readonly ReadableSample[]} judgments
 */

/**
 * @param {Checked} checkedSolution
 * @param {number} number
 */
function solutionView({ sample, answerExact, solutionExact, judgments }, number) {
  const { outcome } = sample;
  const text = textOf(sample);
  const solution = outcome === 'ok' ? solutionOf(text) : null;
  const heading = h(
    'h4',
    {},
    `Solution ${number} `,
    h('span', {}, `reward ${decimal(sample.rewards.reward)}`),
  );
  if (!solution)
    return h(
      'article',
      { class: 'solution' },
      heading,
      h('p', {}, h('code', {}, text || '(nothing)'), ' ', h('em', { class: 'bad' }, outcome)),
    );
  const { steps, answer } = solution;
  const body = h(
    'table',
    {},
    h('caption', { class: 'hidden' }, `Solution ${number} with its verdicts`),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'who')),
        ...steps.map((step, i) =>
          h('th', { scope: 'col', class: 'step' }, h('small', {}, `step ${i + 1}`), h('code', {}, step)),
        ),
        h('th', { scope: 'col', class: 'step' }, h('small', {}, 'answer'), h('code', {}, answer)),
        h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'agreement with the checker')),
      ),
    ),
    h(
      'tbody',
      {},
      h(
        'tr',
        { class: 'oracle' },
        h('th', { scope: 'row' }, 'checker'),
        steps.length
          ? h('td', { colspan: steps.length }, checked(solutionExact, 'every step exact', 'not all exact'))
          : null,
        h('td', {}, checked(answerExact, 'exact', 'not exact')),
        h('td', {}),
      ),
      ...judgments.map((judgment, i) => judgmentRow(judgment, i + 1, steps.length)),
    ),
  );
  return h('article', { class: 'solution' }, heading, h('div', { class: 'scroller', tabindex: 0 }, body));
}

/** The solutions with their verdicts; undefined while the group is not scored. @param {GroupContent} group */
export const checkedSolutions = ({ samples, judgments, answersExact, solutionsExact }) =>
  samples?.map((sample, i) => ({
    sample,
    answerExact: answersExact?.[i] ?? null,
    solutionExact: solutionsExact?.[i] ?? null,
    judgments: (judgments ?? []).filter(({ of }) => of === sample.id),
  }));

/** The proposal's reward, which is known once its round is trained. @param {GroupContent} group */
function proposalNote({ proposal }) {
  const [first] = proposal;
  if (!first) return null;
  const { reward } = first.rewards;
  const earned = reward === undefined ? 'not yet known' : decimal(reward);
  return h(
    'p',
    { class: 'note' },
    `Proposed by the ${first.role}, reward ${earned}: `,
    h('code', {}, proposal.map(textOf).join(' … ')),
  );
}

/** @param {GroupContent} group */
export function taskView(group) {
  const solutions = checkedSolutions(group);
  const right = solutions?.filter(({ answerExact }) => answerExact === true).length;
  return h(
    'section',
    { class: 'task' },
    h('h3', { tabindex: -1 }, h('code', {}, group.task)),
    group.failure &&
      h('p', { class: 'warning' }, h('code', {}, group.failure.code), ` ${group.failure.message}`),
    h(
      'p',
      { class: 'note' },
      solutions
        ? `${counted(solutions.length, 'solution')}, ${right} with the exact answer.`
        : 'It is not scored: there are no solutions to show.',
    ),
    proposalNote(group),
    ...(solutions ?? []).map((solution, i) => solutionView(solution, i + 1)),
  );
}
