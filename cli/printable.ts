/**
 * Text from files, models and servers on its way to a terminal. A terminal obeys control characters (an escape sequence can clear the
 * screen or change the title) and reorders text at bidirectional marks, so both are shown by their code points instead.
 */

/** Control characters (C0, DEL, C1), bidirectional controls, and the separators of lines and paragraphs. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

const byCodePoint = (character: string) => `\\u{${character.codePointAt(0)!.toString(16).padStart(2, '0')}}`;

/** One line: an escape character becomes the six characters `\u{1b}`, a line break `\u{0a}`. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, byCodePoint);

/** The same for a text of several lines: line breaks and tabs are kept. */
export const printableLines = (text: string): string =>
  text.replace(UNPRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : byCodePoint(character),
  );
