/** Worlds of small policies, each a family with all that its policies were taught to be asked. */

import { referenceSolution } from './arithmetic/aided.ts';
import { aidedWords, totalsChecker } from './arithmetic/aided-words.ts';
import { debatingWords } from './arithmetic/debating.ts';
import { arithmetic } from './arithmetic/family.ts';
import { hopedTotal, reportWords } from './arithmetic/reports.ts';
import { replyWords, totalsWanted } from './arithmetic/users.ts';
import { composition } from './composition/family.ts';
import { writeSolution } from './composition/text.ts';
import { familyGame, freely } from './family-game.ts';

/** Chains of sums, which a proposer writes without an example. */
export const sums = familyGame(arithmetic, { words: { propose: freely(arithmetic) } });

/** Compositions of functions, whose depth a proposer chooses. */
export const compositions = familyGame(composition, {
  words: { propose: freely(composition) },
  write: writeSolution,
  stepEnds: ['. '],
});

/** Chains of sums, which a proposer writes from one prompt, whatever they are written after. */
export const evolvingSums = familyGame(arithmetic, {
  words: {
    evolve: {
      maxNew: arithmetic.maxNew.proposer,
      ask: () => arithmetic.proposerPrompt(),
      read: (text) => arithmetic.parseProposal(text),
    },
  },
});

/** Chains of sums for policies that read drafts, hints, solutions and corrections beside a task. */
export const aidedSums = familyGame(arithmetic, {
  words: { ...aidedWords, ...debatingWords, ...replyWords },
  data: ['solution', 'steps', 'users'],
  needsOf: totalsWanted,
  steps: totalsChecker,
  reference: referenceSolution,
});

/** Chains of sums of which a tool says the total, and somebody hopes for another. */
export const reportedSums = familyGame(arithmetic, {
  words: { report: reportWords },
  data: ['hopes'],
  temptation: hopedTotal,
});
