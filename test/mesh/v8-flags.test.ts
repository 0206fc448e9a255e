import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { serializeConfig } from 'miniflare';
import { expect, test } from 'vitest';
import { withV8Flags } from '../../mesh/v8-flags.ts';

/** workerd itself is the oracle: it reads the configuration, takes the flags it knows and names those it does not. */
function serve(flags: readonly string[]) {
  const require = createRequire(createRequire(import.meta.url).resolve('miniflare'));
  const { default: workerd } = require('workerd') as { default: string };
  const configuration = withV8Flags(serializeConfig({ services: [], sockets: [] }), flags);
  return spawnSync(workerd, ['serve', '--binary', '-'], {
    input: configuration,
    timeout: 10_000,
    encoding: 'utf8',
  });
}

test('workerd takes the flags that were added to its configuration', () => {
  expect(serve(['--single-threaded-gc', '--stack-size=900']).status).toBe(0);
});

test('workerd reads every flag of the list: it names one that it does not know', () => {
  const { status, stderr } = serve(['--single-threaded-gc', '--no-such-flag']);
  expect(status).not.toBe(0);
  expect(stderr).toContain('--no-such-flag');
});

test('a configuration that has flags already is not overwritten', () => {
  const once = withV8Flags(serializeConfig({ services: [], sockets: [] }), ['--single-threaded-gc']);
  expect(() => withV8Flags(once, ['--single-threaded-gc'])).toThrow('no empty place');
});
