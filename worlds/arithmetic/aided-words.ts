/** How the policies that were taught to read something beside a chain are asked (aided.ts, revising.ts), and what a checker says of their steps. */
import type { StepChecker, Wording, Wordings } from '../../core/game/game.ts';
import type { AboutOf } from '../../core/game/verbs.ts';
import { aidedPrompt, type HintLevel, hintPrompt, parseHint } from './aided.ts';
import { arithmetic } from './family.ts';
import { feedbackOn, firstFault, partOfTokens, quotedFault, toldUpTo } from './feedback.ts';
import { revisionAid } from './revising.ts';

/** A solver that reads an aid beside its task; what it writes is a solution. */
const beside = <V extends 'revise' | 'follow' | 'retell' | 'correct'>(
  aid: (about: AboutOf<V>) => string,
): Wording<V> => ({
  maxNew: arithmetic.maxNew.solver,
  ask: (about) => aidedPrompt(about.task, aid(about)),
  read: (text, { task }) => arithmetic.parseSolution(task, text),
});

export const aidedWords: Wordings<'revise' | 'follow' | 'retell' | 'correct' | 'hint'> = {
  revise: beside<'revise'>(({ attempt, right }) => revisionAid(attempt, right)),
  follow: beside<'follow'>(({ hint }) => hint),
  retell: beside<'retell'>(({ solution }) => solution),
  correct: beside<'correct'>(({ feedback }) => feedback),
  hint: {
    maxNew: arithmetic.maxNew.solver,
    ask: ({ task, level }) => hintPrompt(task, level as HintLevel),
    read: (text, { task }) => parseHint(task, text),
  },
};

export const totalsChecker: StepChecker = {
  firstFault,
  upTo: toldUpTo,
  feedback: feedbackOn,
  quoted: quotedFault,
  partsOf: (ids, encode) =>
    partOfTokens(
      ids,
      ['<step>', '<answer>'].flatMap((tag) => encode(tag)),
    ),
};
