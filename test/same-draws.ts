/**
 * Property tests draw the same values in every run of the check, so that a run is green or red by the code alone. `.ci/night` draws others each night, and
 * fast-check prints the seed of what it finds.
 */
import fc from 'fast-check';
import { NIGHT } from './night.ts';

const SEED = 20_261_129;

fc.configureGlobal(NIGHT ? {} : { seed: SEED });
