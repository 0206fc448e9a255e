/** What `start` refuses before anything is written: options that it would ignore, and numbers beyond their bounds. */
import { expect, test } from 'vitest';
import { startCommand } from '../../../cli/shared/run-options.ts';
import { refuseIgnored } from '../../../cli/start/command.ts';

const asked = { serve: false, resume: false, recipe: 'trio' };

test('a mesh that begins no run of its own refuses the options of one', async () => {
  const serve = (...args: string[]) => refuseIgnored({ ...asked, serve: true }, ['start', ...args]);
  await expect(serve('--serve', '--recipe', 'trio', '--rounds=1')).rejects.toThrow(
    /--serve begins no run of its own, and --recipe, --rounds are given/,
  );
  await expect(refuseIgnored({ ...asked, resume: true }, ['--resume', '--seed', '3'])).rejects.toThrow(
    /--resume begins no run of its own, and --seed is given/,
  );
  await serve('--serve', '--port', '0', '--state', 'elsewhere');
  // A module is one that webhooks may order.
  await refuseIgnored({ ...asked, serve: true, recipe: './recipe.ts' }, [
    '--serve',
    '--recipe',
    './recipe.ts',
  ]);
  await refuseIgnored(asked, ['--recipe', 'trio', '--rounds', '1']);
});

test.each([
  ['--group-size', '128', 'from 2 to 64'],
  ['--group-size', '1', 'from 2 to 64'],
  ['--tasks-per-round', '100000', 'from 1 to 4096'],
  ['--rounds', '10001', 'from 1 to 10000'],
  ['--tasks', '64', '--tasks-per-round'],
])('%s %s is refused in one line that names option and bound', (option, value, bound) => {
  let said = '';
  const command = startCommand()
    .exitOverride()
    .configureOutput({ writeErr: (text) => (said += text) });
  expect(() => command.parse([option, value], { from: 'user' })).toThrow();
  expect(said.trim().split('\n')).toHaveLength(1);
  expect(said).toContain(`option '${option} <`);
  expect(said).toContain(bound);
});
