import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { compileKernels } from '../../../infer/kernels/compile.ts';
import { buildFile } from '../../../infer/kernels/node-builds.ts';

test.each(BUILDS)(
  'the committed %s kernels are what their sources compile to',
  async (build) => {
    expect(Buffer.compare(await compileKernels(build), readFileSync(buildFile(build)))).toBe(0);
  },
  60_000,
);
