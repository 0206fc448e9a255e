/** How a command ends when it fails: what happened, what was expected, what to do next, and an exit status. */
import { expectedFailure } from '../expected-failure.ts';
import { printableLines } from '../printable.ts';

/** Expected failures print one message and exit with 1; anything else is a bug and keeps its stack. */
export function fail(error: unknown, json = false): never {
  const known = expectedFailure(error);
  if (known) {
    const { code, message, expected, next } = known;
    if (json)
      console.log(
        JSON.stringify({
          kind: 'error',
          code,
          message: message,
          expected,
          next: next,
        }),
      );
    else console.error(printableLines(`${code}: ${message}`));
  } else console.error(error instanceof Error ? printableLines(error.stack ?? String(error)) : error);
  process.exit(1);
}
