/** Worlds of small policies, each a family with all that its policies were taught to be asked. */

import { referenceSolution } from '../worlds/arithmetic/aided.ts';
import { aidedWords, totalsChecker } from '../worlds/arithmetic/aided-words.ts';
import { arithmetic } from '../worlds/arithmetic/family.ts';
import { familyGame, freely } from './game.ts';

/** Chains of sums, which a proposer writes without an example. */
export const sums = familyGame(arithmetic, { words: { propose: freely(arithmetic) } });

/** Chains of sums for policies that read drafts, hints, solutions and corrections beside a task. */
export const aidedSums = familyGame(arithmetic, {
  words: aidedWords,
  data: ['solution', 'steps'],
  steps: totalsChecker,
  reference: referenceSolution,
});
