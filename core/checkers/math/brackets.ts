/** Lists of tokens, cut at marks that stand outside of all brackets. */
import type { Token } from './token.ts';

export const OPENING = ['(', '[', '{', '\\{', '⟨'];
export const CLOSING: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  '\\{': '\\}',
  '|': '|',
  '⟨': '⟩',
};
export const CLOSERS = [')', ']', '}', '\\}', '⟩'];

/** Positions of marks outside all brackets and environments. */
export function topLevel(tokens: readonly Token[], wanted: readonly string[]): number[] {
  let depth = 0;
  return tokens.flatMap(({ kind, text }, i) => {
    if (kind === 'mark' && OPENING.includes(text)) depth++;
    else if (kind === 'mark' && CLOSERS.includes(text)) depth--;
    else if (kind === 'command' && text.startsWith('begin:')) depth++;
    else if (kind === 'command' && text.startsWith('end:')) depth--;
    return depth === 0 && (kind === 'mark' || kind === 'word') && wanted.includes(text) ? [i] : [];
  });
}

export function split(tokens: readonly Token[], cuts: readonly number[]): (readonly Token[])[] {
  return [...cuts, tokens.length].map((end, i) => tokens.slice(i ? cuts[i - 1]! + 1 : 0, end));
}

/** Is the first token’s bracket closed by the last one? */
export function enclosed(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.every(({ kind, text }, i) => {
    if (kind === 'mark' && OPENING.includes(text)) depth++;
    else if (kind === 'mark' && CLOSERS.includes(text)) depth--;
    return depth > 0 || i === tokens.length - 1;
  });
}

export const joined = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('');
export const allWords = (tokens: readonly Token[]): boolean =>
  tokens.length > 0 && tokens.every(({ kind }) => kind === 'word');
