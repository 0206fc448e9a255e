/** Secrets come from `wrangler secret put` or .dev.vars. Whatever needs a missing one is refused; there are no defaults. */
import { RollmeshError } from '../../core/errors.ts';

const SHORTEST = 16;

export function requireSecret(name: string, value: string | undefined): string {
  if (value !== undefined && value.length >= SHORTEST) return value;
  throw new RollmeshError(
    'retry',
    'secret.missing',
    `The secret ${name} is ${value ? 'too short' : 'not set'}.`,
    {
      expected: `at least ${SHORTEST} characters`,
      next: `Run \`npx wrangler secret put ${name}\` for this Worker, or put it into .dev.vars.`,
    },
  );
}
