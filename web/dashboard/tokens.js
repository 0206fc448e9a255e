/** The token view: each token of a completion, tinted by its probability or by its sample's advantage; and what changed between two texts. */
import { h } from './dom.js';
import { decimal, percent } from './figures.js';

/** @typedef {import('./api.js').ReadableSample} ReadableSample */
/** @typedef {'text' | 'probability' | 'advantage'} Tint */

/** Steps of a tint, from none to full. */
const STEPS = 5;

/** White space is shown, so that a token is never invisible. @param {string} text */
const visible = (text) => (text === '' ? '∅' : text.replaceAll('\n', '⏎').replaceAll(' ', '␣'));

/** The less likely the token, the stronger its tint. @param {number} logprob nats */
export const surprise = (logprob) => Math.min(STEPS, Math.round((1 - Math.exp(logprob)) * STEPS));

/**
 * @param {ReadableSample} sample
 * @param {Tint} tint
 * @param {number | null} advantage the sample's reward less its group's mean, as a share of the largest in the group: -1 to 1
 */
export function tokensView({ text, logprobs }, tint, advantage) {
  const size = advantage === null ? 0 : Math.round(Math.abs(advantage) * STEPS);
  const whole = advantage === null || size === 0 ? 'flat' : `${advantage > 0 ? 'up' : 'down'}-${size}`;
  return h(
    'span',
    { class: 'tokens' },
    ...(text?.tokens ?? []).map((token, i) => {
      const logprob = logprobs[i] ?? 0;
      return h(
        'span',
        {
          class: `token ${tint === 'probability' ? `rare-${surprise(logprob)}` : whole}`,
          title: `probability ${percent(Math.exp(logprob), 1)}, log-probability ${decimal(logprob, 4)} nats`,
        },
        visible(token),
      );
    }),
  );
}

/**
 * Which tokens of `after` are not in `before`, by their longest common subsequence.
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 * @returns {boolean[]}
 */
export function changed(before, after) {
  const width = before.length + 1;
  const longest = new Uint16Array((after.length + 1) * width);
  for (let a = after.length - 1; a >= 0; a--)
    for (let b = before.length - 1; b >= 0; b--)
      longest[a * width + b] =
        after[a] === before[b]
          ? (longest[(a + 1) * width + b + 1] ?? 0) + 1
          : Math.max(longest[(a + 1) * width + b] ?? 0, longest[a * width + b + 1] ?? 0);
  const marks = after.map(() => true);
  for (let a = 0, b = 0; a < after.length && b < before.length; )
    if (after[a] === before[b]) {
      marks[a++] = false;
      b++;
    } else if ((longest[(a + 1) * width + b] ?? 0) >= (longest[a * width + b + 1] ?? 0)) a++;
    else b++;
  return marks;
}

/** @param {readonly string[]} tokens @param {readonly boolean[]} marks */
export const changedView = (tokens, marks) =>
  h(
    'span',
    { class: 'tokens' },
    ...tokens.map((token, i) =>
      marks[i]
        ? h('mark', { class: 'token' }, visible(token))
        : h('span', { class: 'token' }, visible(token)),
    ),
  );
