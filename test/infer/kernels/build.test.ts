import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { compileKernels } from '../../../infer/kernels/compile.ts';
import { importingShared } from '../../../infer/kernels/importing-shared.ts';
import { buildFile } from '../../../infer/kernels/node-builds.ts';

test.each(BUILDS)('the committed %s kernels are what their sources compile to', async (build) => {
  expect(Buffer.compare(await compileKernels(build), readFileSync(buildFile(build)))).toBe(0);
});

test('with a memory that threads share they are what the compiler makes for one', async () => {
  const made = importingShared(readFileSync(buildFile('fused')));
  expect(Buffer.compare(await compileKernels('fused', true), made)).toBe(0);
});

test('a module that imports something else is refused', () => {
  expect(() => importingShared(importingShared(readFileSync(buildFile('plain'))))).toThrow(
    /import something else/,
  );
});
