/** The name of a policy as the command line gives it. */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { name as policyName } from '../../core/schema/sample.ts';

/** Throws `policy.name` where this cannot be the name of a policy. */
export function checkName(name: string): void {
  if (!v.is(policyName, name))
    throw wrongInput('policy.name', `${JSON.stringify(name)} cannot be the name of a policy.`, {
      expected: '1 to 64 lower-case letters, digits, dots and dashes, a letter or digit at both ends',
      next: 'Choose another with --name.',
    });
}
