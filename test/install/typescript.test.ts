/** What is loaded before the sources. */
import { execFileSync } from 'node:child_process';
import { sep } from 'node:path';
import { expect, test } from 'vitest';
import { STRIPS_TYPES } from '../../cli/install/strips-types.mjs';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

test.runIf(STRIPS_TYPES)('what Node compiles of a program is kept beside the installed packages', () => {
  const program = 'import m from "node:module"; console.log(m.getCompileCacheDir());';
  const args = [...NODE_FLAGS, '--input-type=module', '--eval', program];
  const folder = execFileSync(process.execPath, args, { encoding: 'utf8', cwd: '/' });
  expect(folder).toContain(['', 'node_modules', '.cache', 'rollmesh-compiled', ''].join(sep));
});
