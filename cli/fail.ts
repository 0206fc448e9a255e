/** How a command ends when it fails: what happened, what was expected, what to do next, and an exit status. */
import { RollmeshError } from '../core/errors.ts';
import { asCalled } from './called-as.ts';

/** Expected failures print one message and exit with 1; anything else is a bug and keeps its stack. */
export function fail(error: unknown, json = false): never {
  if (error instanceof RollmeshError) {
    const { code, message, expected, next } = error;
    if (json)
      console.log(
        JSON.stringify({
          kind: 'error',
          code,
          message: asCalled(message),
          expected,
          next: next && asCalled(next),
        }),
      );
    else console.error(`${code}: ${asCalled(message)}`);
  } else console.error(error);
  process.exit(1);
}
