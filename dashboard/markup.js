/**
 * Reads the tagged text of the roles: `<step>3<step>-2<answer>-2<eos>` and `<ok><bad><wrong><eos>`. It shows
 * any text, valid or not; no verdict or reward depends on it.
 */

/** @typedef {{ readonly tag: string | null, readonly text: string }} Piece */

/** @param {string} text */
export function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  const pattern = /<([a-z]+)>/g;
  let tag = null;
  let from = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const before = text.slice(from, match.index);
    if (tag !== null || before !== '') found.push({ tag, text: before });
    tag = match[1] ?? null;
    from = pattern.lastIndex;
  }
  const rest = text.slice(from);
  if (tag !== null || rest !== '') found.push({ tag, text: rest });
  return found;
}

/** @typedef {{ readonly steps: readonly string[], readonly answer: string }} Solution */

/**
 * The steps and the answer, or null where the text has another form.
 * @param {string} text
 * @returns {Solution | null}
 */
export function solutionOf(text) {
  const found = pieces(text).filter(({ tag }) => tag !== 'eos');
  const answer = found.at(-1);
  const steps = found.slice(0, -1);
  if (answer?.tag !== 'answer' || steps.some(({ tag }) => tag !== 'step')) return null;
  return { steps: steps.map((step) => step.text), answer: answer.text };
}

/** @typedef {{ readonly steps: readonly boolean[], readonly right: boolean }} Verdict */

/**
 * The verdicts on the steps and the final one, or null where the text has another form.
 * @param {string} text
 * @returns {Verdict | null}
 */
export function verdictOf(text) {
  const found = pieces(text).filter(({ tag }) => tag !== 'eos');
  if (found.some((piece) => piece.text !== '')) return null;
  const final = found.at(-1)?.tag;
  const steps = found.slice(0, -1).map(({ tag }) => tag);
  if ((final !== 'right' && final !== 'wrong') || steps.some((tag) => tag !== 'ok' && tag !== 'bad'))
    return null;
  return { steps: steps.map((tag) => tag === 'ok'), right: final === 'right' };
}
