/** Parses what another version may have written: returns the value where it fits its schema, else throws the caller's own error. */
import * as v from 'valibot';

/** `invalid` makes the error from a text that says what is wrong: "monitors.groups: Invalid type: Expected number but received "four"". */
export function parsed<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  invalid: (why: string) => Error,
): v.InferOutput<S> {
  const read = v.safeParse(schema, value, { abortEarly: true });
  if (read.success) return read.output;
  const [issue] = read.issues;
  const path = v.getDotPath(issue);
  throw invalid(`${path ? `${path}: ` : ''}${issue.message}`);
}
