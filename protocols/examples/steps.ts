/** Where the steps of an answer end in its tokens, for reward models that mark each step. A step is a line that is not blank. */
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';

/**
 * After how many of `ids` each step ends: after the token that brings its line break, and the last after the last token, its end included. A line break
 * that a token brings together with a later line is that token's.
 */
export function stepEnds({ decode }: Pick<Tokenizer, 'decode'>, ids: TokenIds): number[] {
  const ends: number[] = [];
  let line = '';
  for (const [t, id] of ids.entries()) {
    line += decode([id]);
    const at = line.lastIndexOf('\n');
    if (at < 0) continue;
    if (line.slice(0, at).trim() !== '') ends.push(t + 1);
    line = line.slice(at + 1);
  }
  // What is left is the last line, and whatever ends the answer.
  if (line.trim() !== '' && ends.at(-1) !== ids.length) ends.push(ids.length);
  return ends;
}
