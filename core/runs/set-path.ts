/**
 * Sets settings from a command line, `optimizer.learningRate=3e-4`. The settings' schema types the values; an unknown setting is refused
 * with the nearest right name, and a wrong value with what was expected.
 */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { nearest } from '../text/nearest.ts';

type Entries = Readonly<Record<string, v.GenericSchema>>;

/** The schema inside an optional or default one; any other schema itself. */
const unwrapped = (schema: v.GenericSchema): v.GenericSchema =>
  'wrapped' in schema ? unwrapped(schema.wrapped as v.GenericSchema) : schema;

const entriesOf = (schema: v.GenericSchema): Entries | undefined => {
  const inner = unwrapped(schema);
  return 'entries' in inner ? (inner.entries as Entries) : undefined;
};

/** All settings of an object's schema, by path. */
export const pathsOf = (schema: v.GenericSchema): string[] =>
  Object.entries(entriesOf(schema) ?? {}).flatMap(([name, inner]) => {
    const paths = pathsOf(inner);
    return paths.length ? paths.map((path) => `${name}.${path}`) : [name];
  });

/** The value as JSON where it is JSON, such as a number or true; as text otherwise. */
export function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `value` with `path` replaced. */
function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return { ...object, [name]: replaced(object[name], rest, by) };
}

/**
 * `settings` with the assignments made, in their order. Throws `wrong-input`: `settings.form`, `settings.unknown` with the nearest name,
 * or `settings.value`.
 */
export function withSettings<T>(
  schema: v.GenericSchema<unknown, T>,
  settings: unknown,
  assignments: readonly string[],
): T {
  const known = pathsOf(schema);
  let changed = settings;
  for (const assignment of assignments) {
    const at = assignment.indexOf('=');
    const path = assignment.slice(0, Math.max(at, 0)).trim();
    if (path === '')
      throw wrongInput('settings.form', `${JSON.stringify(assignment)} sets nothing.`, {
        expected: 'PATH=VALUE, such as optimizer.learningRate=3e-4',
      });
    if (!known.includes(path)) {
      const meant = nearest(path, known);
      throw wrongInput('settings.unknown', `There is no setting ${JSON.stringify(path)}.`, {
        expected:
          meant === undefined
            ? `one of ${known.join(', ')}`
            : `${meant}, perhaps, or another of ${known.join(', ')}`,
      });
    }
    changed = replaced(changed, path.split('.'), parsedValue(assignment.slice(at + 1)));
    const result = v.safeParse(schema, changed);
    if (!result.success) {
      const issue = result.issues[0];
      throw wrongInput('settings.value', `${assignment}: ${issue.message}.`, {
        expected: `${issue.expected ?? 'another value'} for ${v.getDotPath(issue) ?? path}`,
      });
    }
  }
  return v.parse(schema, changed);
}
