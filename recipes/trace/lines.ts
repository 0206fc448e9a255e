/** Lines of an attempt as its parts, where no checker knows steps: a critic repeats the right lines and corrects the first wrong one. */
import type { TokenIds } from '../../core/policy/policy.ts';

const isBlank = (line: string): boolean => line.trim() === '';
const linesOf = (text: string): string[] => text.split('\n').filter((line) => !isBlank(line));

/** The first line of an attempt that a critique writes in another way, among lines that are not blank; null where it repeats all that it writes. */
export function firstCorrected(attempt: string, critique: string): number | null {
  const corrected = linesOf(critique);
  const at = linesOf(attempt).findIndex((line, i) => line.trim() !== corrected[i]?.trim());
  return at >= 0 && at < corrected.length ? at : null;
}

/**
 * The line of what was said in which each token begins [ids], among lines that are not blank; below 0 = before it. A token that ends a line belongs to
 * that line, and an empty line to the one behind it. Null where the text of the tokens does not have what was said in it.
 */
export function linesOfTokens(
  ids: TokenIds,
  said: string,
  decode: (ids: TokenIds) => string,
): number[] | null {
  const start = decode(ids).lastIndexOf(said);
  if (start < 0) return null;
  const before = decode(ids).slice(0, start).split('\n').slice(0, -1);
  let line = 0 - before.filter((one) => !isBlank(one)).length;
  let blank = true;
  return ids.map((id) => {
    const [own, ...later] = decode([id]).split('\n');
    const at = line;
    blank &&= isBlank(own!);
    for (const part of later) {
      if (!blank) line++;
      blank = isBlank(part);
    }
    return at;
  });
}
