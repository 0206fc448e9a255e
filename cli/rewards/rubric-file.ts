/** Reads a rubric file: the whole rubric becomes part of the run, so that the file may change meanwhile. */
import { readFile } from 'node:fs/promises';
import { wrongInput } from '../../core/errors.ts';
import { parseRubric, type Rubric } from '../../core/rubric.ts';

/** Throws `rubric.path` where there is no file, and what is wrong with it. */
export async function readRubric(path: string): Promise<Rubric> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw wrongInput('rubric.path', `There is no rubric ${path}.`, {
      expected: 'the path of a JSON file, relative to the working directory',
      cause,
    });
  });
  return parseRubric(text, path);
}
