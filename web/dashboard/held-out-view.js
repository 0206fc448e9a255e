/** One held-out task through the versions of a policy: greedy answers side by side, with the tokens that changed from version to version. */
import { askVersion, getJson } from './api.js';
import { fill, h, setUsable } from './dom.js';
import { decimal } from './figures.js';
import { partsView, plainText } from './parts.js';
import { address } from './place.js';
import { changed, changedView } from './tokens.js';

/** @typedef {import('./api.js').Run} Run */
/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').HeldOutListing} HeldOutListing */
/** @typedef {import('./api.js').PolicyHistory} PolicyHistory */
/** @typedef {HeldOutListing['answers'][number]} Answer */

/** Versions that are shown unless others are chosen. */
const SHOWN = 4;

/** About `SHOWN` of the versions, the first and the last among them. @param {readonly number[]} versions ascending */
export const spread = (versions) =>
  versions.length <= SHOWN
    ? [...versions]
    : Array.from(
        { length: SHOWN },
        (_, i) => versions[Math.round((i * (versions.length - 1)) / (SHOWN - 1))] ?? 0,
      );

/** @param {Answer} answer */
const questionOf = ({ role, prompt }) => `${role}: ${plainText(prompt).replaceAll('\n', ' / ')}`;

export class HeldOutView {
  /** By policy and version. @type {Map<string, HeldOutListing>} */
  #answers = new Map();
  #shown = '';
  #task = h('select', { 'aria-label': 'Held-out task' });
  #versions = h('input', { 'aria-label': 'Versions', size: 16 });
  #ask = h('button', { type: 'button' }, 'Ask');
  #status = h('p', { class: 'note', 'aria-live': 'polite' });
  #body = h('div', { class: 'versions-row' });
  #head = h('div');
  #round = '';
  #policy = '';
  /** @type {Readonly<Record<string, string>>} */
  #cells = {};
  element = h(
    'div',
    {},
    this.#head,
    h('p', { class: 'controls' }, 'Versions ', this.#versions, ' ', this.#ask, ' ', this.#task),
    this.#status,
    this.#body,
    h(
      'p',
      { class: 'note' },
      'The recipe’s own evaluation asks each version a few held-out tasks and takes the most likely token at every step, so that the same version always answers the same. Marked tokens are not in the answer of the version before.',
    ),
  );

  constructor() {
    this.#ask.addEventListener('click', () => void this.#askAll());
    this.#task.addEventListener('change', () => this.#show());
  }

  /** @param {Run} run @param {readonly Round[]} rounds @param {import('./api.js').Recipe | null} recipe */
  async show(run, rounds, recipe) {
    const [first] = rounds;
    const { policy } = run.settings;
    if (!first) {
      fill(this.#head, h('p', { class: 'note' }, 'No round has begun.'));
      return;
    }
    if (this.#shown === run.id) return;
    this.#shown = run.id;
    this.#round = first.id;
    this.#policy = policy;
    this.#cells = recipe?.cells ?? {};
    fill(
      this.#head,
      h('nav', {}, h('a', { href: address({ run: run.id }) }, 'All rounds')),
      h(
        'h1',
        { id: 'held-out-title', tabindex: -1 },
        'A held-out task through the versions ',
        h('span', {}, policy),
      ),
    );
    /** @type {PolicyHistory} */
    const { versions } = await getJson(`/api/policies/${encodeURIComponent(policy)}`);
    const usable = versions
      .filter(({ withdrawn, prunedAt }) => !withdrawn && !prunedAt)
      .map(({ version }) => version);
    this.#versions.value = spread(usable.toSorted((a, b) => a - b)).join(', ');
    await this.#askAll();
  }

  async #askAll() {
    const versions = [...new Set((this.#versions.value.match(/\d+/g) ?? []).map(Number))];
    setUsable(this.#ask, false);
    try {
      for (const version of versions) {
        const key = `${this.#policy} ${version}`;
        if (this.#answers.has(key)) continue;
        this.#status.textContent = `Version ${version} answers …`;
        this.#answers.set(key, await askVersion(this.#round, version));
      }
      this.#status.textContent = '';
    } catch (error) {
      this.#status.textContent = error instanceof Error ? error.message : String(error);
    }
    setUsable(this.#ask, true);
    this.#show(versions);
  }

  #show(versions = (this.#versions.value.match(/\d+/g) ?? []).map(Number)) {
    const listings = versions.flatMap((version) => this.#answers.get(`${this.#policy} ${version}`) ?? []);
    const [first] = listings;
    if (!first) return;
    const questions = [...new Set(first.answers.map(questionOf))];
    if (this.#task.options.length !== questions.length || this.#task.options[0]?.value !== questions[0])
      fill(this.#task, ...questions.map((question) => h('option', { value: question }, question)));
    const wanted = this.#task.value || questions[0];
    const answers = listings.map(({ version, answers }) => ({
      version,
      answer: answers.find((answer) => questionOf(answer) === wanted),
    }));
    const prompt = answers[0]?.answer?.prompt ?? [];
    fill(
      this.#body,
      h('div', { class: 'asked' }, partsView(prompt, this.#cells)),
      ...answers.map(({ version, answer }, i) => {
        const before = answers[i - 1]?.answer;
        const probability = answer?.logprobs.reduce((sum, logprob) => sum + logprob, 0);
        return h(
          'section',
          { class: 'version' },
          h('h2', { class: 'minor' }, `Version ${version}`),
          answer
            ? changedView(
                answer.tokens,
                before ? changed(before.tokens, answer.tokens) : answer.tokens.map(() => false),
              )
            : h('p', { class: 'note' }, 'It was not asked this.'),
          answer && h('p', {}, partsView(answer.parts, this.#cells)),
          answer && h('p', { class: 'note' }, `log-probability ${decimal(probability)} nats`),
        );
      }),
    );
  }
}
