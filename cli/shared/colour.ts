/** Colour for terminals. NO_COLOR (no-color.org) or a stream that is not a terminal turns it off. */

export type Tone = 'dim' | 'bold' | 'good' | 'bad' | 'warn';
export type Paint = (tone: Tone, text: string) => string;

const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
};

export const plain: Paint = (_, text) => text;

export const painted: Paint = (tone, text) => `\u001b[${CODES[tone][0]}m${text}\u001b[${CODES[tone][1]}m`;

export const paintFor = (
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Paint => (stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' ? painted : plain);
