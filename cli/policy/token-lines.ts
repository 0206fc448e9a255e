/** Reads a file of token ids, one JSON array per line. All lines are checked before anything is computed. */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import type { ModelConfig } from '../../model/config.ts';
import { readLines } from './files.ts';

const schema = v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(0))), v.minLength(1));

const wrong = (line: number, what: string, expected: string) =>
  wrongInput('ids.line', `Line ${line}: ${what}`, { expected });

/** Parses a line's array of ids; throws for anything else. */
function parseLine(text: string, line: number): number[] {
  const expected = 'a JSON array of at least one token id, such as [5, 17, 3]';
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw wrong(line, text.trim() === '' ? 'it is empty.' : 'it is not JSON.', expected);
  }
  const ids = v.safeParse(schema, json);
  if (!ids.success) throw wrong(line, 'it is no array of token ids.', expected);
  return ids.output;
}

/**
 * Reads the lines of a file as token ids that the model accepts, with room for `more` further tokens each.
 *
 * @throws RollmeshError `ids.line` with the line's number (from 1), or `file.*`.
 */
export async function readTokenLines(
  path: string,
  { vocabSize, maxPositions }: ModelConfig,
  more = 0,
): Promise<TokenIds[]> {
  return (await readLines(path)).map((text, i) => {
    const ids = parseLine(text, i + 1);
    const beyond = ids.find((id) => id >= vocabSize);
    if (beyond !== undefined)
      throw wrong(i + 1, `token ${beyond} is not in the vocabulary.`, `ids from 0 to ${vocabSize - 1}`);
    if (ids.length + more > maxPositions)
      throw wrong(
        i + 1,
        more
          ? `${ids.length} tokens and ${more} new ones are too many.`
          : `${ids.length} tokens are too many.`,
        `at most ${maxPositions}, what the model was made for`,
      );
    return ids;
  });
}
