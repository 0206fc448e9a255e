/** The form in which a run is named, tagged, hidden and deleted. A change needs the token of whoever runs the mesh, and asks for it when it is refused. */
import { ApiError, deleteRun, keepOperatorToken, labelRun } from './api.js';
import { fill, h } from './dom.js';

/** @typedef {import('./api.js').Run} Run */

export class RunLabelForm {
  /** @type {Run | null} */
  #run = null;
  #changed;
  #title = h('h2', {});
  #name = h('input', { type: 'text', maxlength: 80, name: 'name', autocomplete: 'off' });
  #tags = h('input', { type: 'text', name: 'tags', placeholder: 'ablation lr-3e-5', autocomplete: 'off' });
  #hidden = h('input', { type: 'checkbox', name: 'hidden' });
  #token = h('input', { type: 'password', autocomplete: 'off', name: 'token' });
  #tokenLine = h('label', { hidden: true }, 'Token of whoever runs the mesh (LEARNER_TOKEN) ', this.#token);
  #delete = h('button', { type: 'button', class: 'quiet' }, 'Delete');
  #said = h('p', { class: 'note', 'aria-live': 'polite' });
  element = h(
    'form',
    { class: 'run-label', 'aria-label': 'Label of a run', hidden: true },
    this.#title,
    h('label', {}, 'Name ', this.#name),
    h('label', {}, 'Tags ', this.#tags),
    h('label', {}, this.#hidden, ' hidden'),
    this.#tokenLine,
    h(
      'p',
      { class: 'controls' },
      h('button', { type: 'submit' }, 'Save'),
      ' ',
      this.#closeButton(),
      ' ',
      this.#delete,
    ),
    this.#said,
  );

  /** @param {() => void} changed called when the mesh has taken a change */
  constructor(changed) {
    this.#changed = changed;
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send((run) => labelRun(run.id, this.#label()));
    });
    this.#delete.addEventListener('click', () => {
      if (this.#delete.dataset.sure) void this.#send((run) => deleteRun(run.id));
      else this.#ask();
    });
  }

  #closeButton() {
    const button = h('button', { type: 'button', class: 'quiet' }, 'Cancel');
    button.addEventListener('click', () => {
      this.element.hidden = true;
    });
    return button;
  }

  #label() {
    const tags = this.#tags.value
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean);
    return { name: this.#name.value.trim() || null, tags: [...new Set(tags)], hidden: this.#hidden.checked };
  }

  #ask() {
    this.#delete.dataset.sure = 'yes';
    this.#delete.textContent = 'Delete for good';
    fill(
      this.#said,
      'Its samples are removed and it cannot be ordered again. The versions that it trained stay.',
    );
  }

  /** @param {(run: Run) => Promise<unknown>} act */
  async #send(act) {
    const run = this.#run;
    if (!run) return;
    if (this.#token.value) keepOperatorToken(this.#token.value.trim());
    try {
      await act(run);
      this.element.hidden = true;
      this.#tokenLine.hidden = true;
      this.#changed();
    } catch (error) {
      const refused = error instanceof ApiError && error.status === 401;
      if (refused) this.#tokenLine.hidden = false;
      fill(this.#said, h('span', { class: 'bad' }, error instanceof Error ? error.message : String(error)));
      if (refused) this.#token.focus();
    }
  }

  /** @param {Run} run @param {string} usualName what it is called without a name */
  open(run, usualName) {
    this.#run = run;
    fill(this.#title, run.label.name ?? usualName);
    this.#name.value = run.label.name ?? '';
    this.#name.placeholder = usualName;
    this.#tags.value = run.label.tags.join(' ');
    this.#hidden.checked = run.label.hidden;
    this.#token.value = '';
    delete this.#delete.dataset.sure;
    this.#delete.textContent = 'Delete';
    fill(this.#said);
    this.element.hidden = false;
    this.#name.focus();
  }
}
