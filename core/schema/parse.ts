/** Reading what another version may have written: the value where it fits its schema, else the caller's own error, told where it does not fit. */
import * as v from 'valibot';

/** `invalid` makes the error of what is wrong: "monitors.groups: Invalid type: Expected number but received "four"". */
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
