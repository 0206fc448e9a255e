/** What stands around an answer and is no part of it: markdown, signs of mathematics, and commands of LaTeX that set a text in a type. */

const TYPE =
  /\\(?:text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|boldsymbol|bm|mbox|hbox|boxed|fbox|underline|emph)\s*\{([^{}]*)\}/g;
const SPACES = /\\[,;:! ]|\\q?quad(?![A-Za-z])|~/g;
const PAIRS: readonly (readonly [string, string])[] = [
  ['$$', '$$'],
  ['$', '$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['**', '**'],
  ['*', '*'],
  ['__', '__'],
  ['_', '_'],
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
];
/** HTML that sets a text in a type, and the tag of an answer. */
const TAGS = /<\/?(?:b|strong|i|em|u|code|mark|span|p|answer)>/gi;
/** Commands that may stand in one another. */
const DEEPEST = 4;

/** The text inside its wrappers, trimmed. */
export function unwrapped(text: string): string {
  let inner = text
    .trim()
    .replace(/^#{1,6}\s+/, '')
    .replace(TAGS, '');
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = inner
      .replace(TYPE, '$1')
      .replace(SPACES, ' ')
      .replace(/\*\*([^*]*)\*\*/g, '$1')
      .trim();
    const pair = PAIRS.find(
      ([open, close]) =>
        next.length > open.length + close.length &&
        next.startsWith(open) &&
        next.endsWith(close) &&
        // "'a', 'b'" has two quoted parts.
        !(open === close && next.slice(open.length, -close.length).includes(open)),
    );
    const paired = pair ? next.slice(pair[0].length, -pair[1].length).trim() : next;
    if (paired === inner) break;
    inner = paired;
  }
  return inner;
}
