import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileQuickJs, QUICKJS } from '../../../kernels/compile-quickjs.ts';
import { IN_THE_NIGHT, NIGHT } from '../../night.ts';

test.skipIf(!NIGHT)(`the committed engine is what its package compiles to${IN_THE_NIGHT}`, () => {
  expect(Buffer.compare(compileQuickJs(), readFileSync(QUICKJS))).toBe(0);
});
