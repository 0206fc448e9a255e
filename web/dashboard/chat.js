/** A conversation with a version that a round sampled with, or that it made. What the model writes only ever becomes text. */
import { answerTo } from './api.js';
import { fill, h, renew, setUsable } from './dom.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Message} Message */

/** The versions of a round as models: those of its roles, by which roles, and the one that it made. @param {Round} round @param {string} policy @returns {Map<string, string>} */
export function modelsOf({ roles, version }, policy) {
  /** @type {Map<string, string[]>} */
  const byModel = new Map();
  if (version !== null) byModel.set(`${policy}@${version}`, ['made by this round']);
  for (const [role, { name, version: sampled, set }] of Object.entries(roles)) {
    const model = `${name}@${sampled}${set ? `/${set}` : ''}`;
    byModel.set(model, [...(byModel.get(model) ?? []), role]);
  }
  return new Map([...byModel].map(([model, of]) => [model, `${model} (${of.join(', ')})`]));
}

export class ChatBox {
  /** @type {readonly Message[]} */
  #said = [];
  #model = h('select', { 'aria-label': 'Version' });
  #temperature = h('input', {
    'aria-label': 'Temperature',
    type: 'number',
    min: 0,
    max: 2,
    step: 0.1,
    value: 0,
  });
  #log = h('div', { class: 'chat-log', role: 'log', 'aria-label': 'Conversation' });
  #text = h('textarea', { 'aria-label': 'Message', rows: 2, placeholder: 'Ask it something' });
  #send = h('button', { type: 'submit' }, 'Send');
  #clear = h('button', { type: 'button', class: 'quiet' }, 'New conversation');
  #status = h('p', { class: 'note', 'aria-live': 'polite' });
  #form = h(
    'form',
    { class: 'chat-form', 'aria-label': 'Ask a version' },
    this.#text,
    this.#send,
    this.#clear,
  );
  element = h(
    'details',
    { class: 'chat' },
    h('summary', {}, 'Ask a version of this round yourself'),
    h('p', { class: 'controls' }, 'Version ', this.#model, ' temperature ', this.#temperature),
    this.#log,
    this.#form,
    this.#status,
  );

  constructor() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#ask();
    });
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.#ask();
    });
    this.#clear.addEventListener('click', () => {
      this.#said = [];
      this.#status.textContent = '';
      this.#show();
    });
  }

  /** @param {Round} round @param {string} policy */
  show(round, policy) {
    const options = [...modelsOf(round, policy)].map(([value, words]) => h('option', { value }, words));
    const { value } = this.#model;
    fill(this.#model, ...options);
    if (options.some((option) => option.value === value)) this.#model.value = value;
  }

  #show() {
    renew(
      this.#log,
      ...this.#said.map(({ role, content }) =>
        h('p', { class: role }, h('small', {}, role === 'user' ? 'you ' : 'it '), h('span', {}, content)),
      ),
    );
  }

  async #ask() {
    const content = this.#text.value.trim();
    if (!content || this.#send.ariaDisabled === 'true') return;
    const before = this.#said;
    /** @type {readonly Message[]} */
    const asked = [...before, { role: 'user', content }];
    this.#said = asked;
    this.#show();
    setUsable(this.#send, false);
    this.#status.textContent = 'It writes …';
    try {
      const { text, isCut, goesOn } = await answerTo(
        this.#model.value,
        asked,
        this.#temperature.valueAsNumber || 0,
      );
      // A conversation that was begun meanwhile has no such question.
      if (this.#said !== asked) return;
      this.#said = [...asked, { role: 'assistant', content: text }];
      if (this.#text.value.trim() === content) this.#text.value = '';
      this.#status.textContent = [
        isCut && 'It was cut off at the most tokens of an answer.',
        goesOn && 'This policy has no chat template: it goes on with your last message, and reads no other.',
      ]
        .filter(Boolean)
        .join(' ');
    } catch (error) {
      if (this.#said !== asked) return;
      // What was written is kept, to be sent again.
      this.#said = before;
      this.#status.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      setUsable(this.#send, true);
      this.#show();
    }
  }
}
