/** The arguments of a tool's call, checked against the tool's JSON schema before the tool hears of them. */
import { type Schema, Validator } from '@cfworker/json-schema';

export type ToolSchema = Readonly<Record<string, unknown>>;

/** The first things that are wrong, as a policy may read them. */
const MOST_NAMED = 3;
const LONGEST = 200;

/**
 * Prepares the check of a schema (draft 2020-12). Its patterns are run as they are: those of a stranger go through `linearSchema` first. Throws where
 * the schema cannot be followed, as where a reference leads nowhere.
 * @returns what is wrong with given arguments; null where nothing is
 */
export function argumentsCheck(schema: ToolSchema): (input: object) => string | null {
  const validator = new Validator(schema as Schema, '2020-12', false);
  validator.validate({});
  return (input) => {
    try {
      const { valid, errors } = validator.validate(input);
      if (valid) return null;
      // What is wrong with a part is told by the part; the whole only repeats it.
      const parts = errors.filter(({ keyword }) => !WHOLE.has(keyword));
      return (parts.length ? parts : errors)
        .slice(0, MOST_NAMED)
        .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`.slice(0, LONGEST))
        .join(' ');
    } catch (error) {
      if (error instanceof RangeError) return 'They are nested too deeply.';
      throw error;
    }
  };
}

/** Keywords that only say that something under them is wrong. */
const WHOLE = new Set(['properties', 'items', 'prefixItems', 'allOf', '$ref']);
