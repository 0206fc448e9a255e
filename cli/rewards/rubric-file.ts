/** Reads a rubric file: the whole rubric becomes part of the run, so that the file may change meanwhile. */
import { wrongInput } from '../../core/errors.ts';
import { parseRubric, type Rubric } from '../../core/recipe/rubric.ts';
import { readOptional } from '../policy/files.ts';

/** Throws `rubric.path` where there is no file, `file.kind` for a pipe or a device, and what is wrong with its text. */
export async function readRubric(path: string): Promise<Rubric> {
  const bytes = await readOptional(path);
  if (!bytes)
    throw wrongInput('rubric.path', `There is no rubric ${path}.`, {
      expected: 'the path of a JSON file, relative to the working directory',
    });
  return parseRubric(new TextDecoder().decode(bytes), path);
}
