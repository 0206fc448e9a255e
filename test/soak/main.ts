import '../../cli/install/require-node.mjs';
import { fail } from '../../cli/shared/fail.ts';
import { command } from './command.ts';

try {
  await command().parseAsync();
} catch (error) {
  fail(error);
}
