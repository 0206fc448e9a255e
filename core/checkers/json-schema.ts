/**
 * The checker `json-schema`: the answer is JSON that is valid under the schema in `metadata.schema`, or in the reference itself where
 * the task has no such field. Patterns run in linear time, in RE2's syntax; `patternProperties` and formats whose usual expressions
 * backtrack without end are refused when the file is read.
 */
import { format, type Schema, Validator } from '@cfworker/json-schema';
import { invalid, ok } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';
import { linearPattern } from './regex.ts';

const NAME = 'json-schema';
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'ipv4', 'ipv6', 'uuid', 'json-pointer'];
/** Lists whose entries are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required']);
/** Keywords whose values are schemas by a name of the author's. */
const BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The validator's formats are a table of tests by name, so a pattern becomes a format that is tested by RE2. */
function formatOf(pattern: string): string {
  const name = `re2:${pattern}`;
  const compiled = linearPattern(NAME, pattern);
  format[name] = (text) => compiled.matcher(text).find();
  return name;
}

/** The schema with every pattern in a form that cannot backtrack. Throws `wrong-input` for what has no such form. */
export function linearSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(linearSchema);
  if (!isObject(schema)) return schema;
  const { pattern, ...rest } = schema;
  if ('patternProperties' in rest)
    throw wrongReference(
      NAME,
      'the schema has patternProperties.',
      'properties, or propertyNames with a pattern',
    );
  if (rest.format !== undefined && !FORMATS.includes(String(rest.format)))
    throw wrongReference(
      NAME,
      `the schema has the format ${shown(String(rest.format))}.`,
      `one of ${FORMATS.join(', ')}`,
    );
  const out = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if (DATA.has(key)) return [key, value];
      if (BY_NAME.has(key) && isObject(value))
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, linearSchema(inner)])),
        ];
      return [key, linearSchema(value)];
    }),
  );
  if (typeof pattern !== 'string') return out;
  const tested = { format: formatOf(pattern) };
  return { ...out, allOf: [...(Array.isArray(out.allOf) ? out.allOf : []), tested] };
}

function schemaOf(answer: string, given: unknown): Schema | boolean {
  let schema: unknown = given;
  if (schema === undefined)
    try {
      schema = JSON.parse(answer);
    } catch (cause) {
      throw wrongReference(NAME, `${shown(answer)} is not JSON.`, 'a JSON schema', cause);
    }
  if (typeof schema === 'boolean' || isObject(schema)) return linearSchema(schema) as Schema;
  throw wrongReference(NAME, `${shown(JSON.stringify(schema))} is no schema.`, 'a JSON schema, an object');
}

export const jsonSchema: Checker = {
  name: NAME,
  description: 'JSON that is valid under the schema in metadata.schema (draft 2020-12).',
  prepare: ({ answer, metadata }) => {
    const validator = new Validator(schemaOf(answer, metadata.schema), '2020-12');
    try {
      // References that lead nowhere, or round in circles, are found now and not when a model answers.
      validator.validate(null);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw wrongReference(
        NAME,
        `the schema cannot be followed: ${why}.`,
        'a schema whose references end',
        cause,
      );
    }
    return (given) => {
      if (given.length > LONGEST_ANSWER) return invalid('too-long');
      let value: unknown;
      try {
        value = JSON.parse(given);
      } catch {
        return invalid('not-json');
      }
      try {
        return ok(validator.validate(value).valid);
      } catch (error) {
        // The only failure left: a value that is nested deeper than the call stack.
        if (error instanceof RangeError) return invalid('too-deep');
        throw error;
      }
    };
  },
};
