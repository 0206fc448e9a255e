/** What comes of every hostile program, in the process that asks. */
import { quickJs } from '../../../core/sandbox/quickjs.ts';
import { runTests } from '../../../core/sandbox/run-tests.ts';
import { HOSTILE } from './hostile.ts';

/** Steps that these programs get: a hundredth of the usual ones, so that those that run for ever end in milliseconds. */
const STEPS = 200_000;

export const outcomesOf = () =>
  HOSTILE.map(({ program, tests }) => runTests(quickJs(), program, tests, { steps: STEPS }));
