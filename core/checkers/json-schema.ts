/**
 * The checker `json-schema`: the answer is JSON that is valid under the schema in `metadata.schema`, or in the reference itself where
 * the task has no such field; JSON in a fence of markdown counts as well. Patterns run in linear time, in RE2's syntax; formats whose usual
 * expressions backtrack without end are refused when the file is read.
 */

import { format, type Schema, Validator } from '@cfworker/json-schema';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { isObject } from '../text/is-object.ts';
import { reasonOf } from '../text/nesting.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';
import { linearPattern } from './regex.ts';

const NAME = 'json-schema';
/** Formats that the validator tests in linear time, and those that RE2 tests here (RFC 3986 and RFC 1123). */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'ipv4', 'ipv6', 'uuid', 'json-pointer'];
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const URI_CHARACTERS = String.raw`(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*`;
const OWN_FORMATS: Readonly<Record<string, string>> = {
  hostname: `^${LABEL}(?:\\.${LABEL})*$`,
  uri: `^[A-Za-z][A-Za-z0-9+.-]*:${URI_CHARACTERS}$`,
  'uri-reference': `^${URI_CHARACTERS}$`,
};
/** Lists whose entries are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required']);
/** Keywords whose values are schemas by a name of the author's. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

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
  const { pattern, ...rest }: Record<string, unknown> = schema;
  if (rest.format !== undefined && !FORMATS.includes(String(rest.format))) {
    const own = Object.hasOwn(OWN_FORMATS, String(rest.format))
      ? OWN_FORMATS[String(rest.format)]
      : undefined;
    if (own === undefined)
      throw wrongReference(
        NAME,
        `the schema has the format ${shown(String(rest.format))}.`,
        `one of ${[...FORMATS, ...Object.keys(OWN_FORMATS)].join(', ')}`,
      );
    rest.format = formatOf(own);
  }
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
  // A pattern that RE2 cannot read is found when the file is read.
  if (isObject(rest.patternProperties))
    for (const name of Object.keys(rest.patternProperties)) linearPattern(NAME, name);
  if (typeof pattern !== 'string') return out;
  const tested = { format: formatOf(pattern) };
  return { ...out, allOf: [...(Array.isArray(out.allOf) ? out.allOf : []), tested] };
}

/** Names of properties at any depth of a value. */
function namesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) namesIn(item, names);
  else if (isObject(value))
    for (const [name, inner] of Object.entries(value)) namesIn(inner, names.add(name));
  return names;
}

/**
 * The schema with the names that its `patternProperties` match, of those that a value has, among its `properties`: for that value it says the same,
 * and no pattern is left to the validator, whose expressions may backtrack.
 */
function withNames(schema: unknown, names: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withNames(item, names));
  if (!isObject(schema)) return schema;
  const { patternProperties, ...rest } = schema;
  const out: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, DATA.has(key) ? value : withNames(value, names)]),
  );
  if (!isObject(patternProperties)) return out;
  const properties: Record<string, unknown> = isObject(out.properties) ? { ...out.properties } : {};
  for (const [pattern, inner] of Object.entries(patternProperties)) {
    const compiled = linearPattern(NAME, pattern);
    for (const name of names.filter((one) => compiled.matcher(one).find()))
      properties[name] = {
        allOf: [...(Object.hasOwn(properties, name) ? [properties[name]] : []), withNames(inner, names)],
      };
  }
  return { ...out, properties };
}

const usesPatterns = (schema: unknown): boolean => JSON.stringify(schema).includes('"patternProperties"');

const FENCED = /(?:```|~~~)[\w+-]*\s([\s\S]*?)(?:```|~~~)/g;
/** Code within a line, as all of an answer. */
const INLINE = /^\s*`([^`]*)`\s*$/;

/** The JSON of an answer: all of it, or the last fenced part. */
function jsonIn(given: string): ParseResult<unknown, string> {
  const text = given.replace(/^\ufeff/, '');
  const fenced = [...text.matchAll(FENCED)].at(-1)?.[1] ?? INLINE.exec(text)?.[1];
  for (const form of [text, ...(fenced === undefined ? [] : [fenced])])
    try {
      return ok(JSON.parse(form) as unknown);
    } catch {
      // The next form is tried.
    }
  return invalid('not-json');
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
    const schema = schemaOf(answer, metadata.schema);
    const whole = new Validator(withNames(schema, []) as Schema | boolean, '2020-12');
    const patterns = usesPatterns(schema);
    try {
      // References that lead nowhere, or round in circles, are found now and not when a model answers.
      whole.validate(null);
    } catch (cause) {
      throw wrongReference(
        NAME,
        `the schema cannot be followed: ${reasonOf(cause)}.`,
        'a schema whose references end',
        cause,
      );
    }
    return (given) => {
      if (given.length > LONGEST_ANSWER) return invalid('too-long');
      const parsed = jsonIn(given);
      if (!parsed.ok) return parsed;
      const { value } = parsed;
      try {
        const validator = patterns
          ? new Validator(withNames(schema, [...namesIn(value)]) as Schema | boolean, '2020-12')
          : whole;
        return ok(validator.validate(value).valid);
      } catch (error) {
        // The only failure left: a value that is nested deeper than the call stack.
        if (error instanceof RangeError) return invalid('too-deep');
        throw error;
      }
    };
  },
};
