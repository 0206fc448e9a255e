/** Questions on sums in the notation of the small policies, sound or not, with an oracle for both questions and answers. */
import { Random } from '../../core/random.ts';
import { ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { parseQuestion, proposalPrompt, soundness } from '../../worlds/arithmetic/questions.ts';
import { answerPrompt, normalised, parseRating, questionPrompt } from '../../worlds/arithmetic/ratings.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { isInteger, parseWorked } from '../../worlds/worked.ts';
import type { Appraised } from './question-store.ts';
import type { RatedGame } from './rated-questions.ts';

/**
 * The number of seed questions, as many as in the paper's variant that starts from its own questions; questions that pass the gate soon make up most
 * of the store.
 */
const SEED_QUESTIONS = 16;

const isSound = (question: string): boolean => soundness(question) === 'sound';

/** A score as a share. */
const readRating = (text: string): ParseResult<number> => {
  const rating = parseRating(text);
  return rating.ok ? ok(normalised(rating.value)) : rating;
};

/** An answer may have any number of steps, since a question without an answer has no right number of them. */
const ratedSums = familyGame(arithmetic, {
  words: {
    solve: {
      maxNew: 26,
      ask: ({ task }) => arithmetic.solverPrompt(task),
      read: (text) => parseWorked(text, { step: isInteger, answer: isInteger }),
    },
    propose: { maxNew: 13, ask: ({ like }) => proposalPrompt(like ?? undefined), read: parseQuestion },
    appraise: { maxNew: 30, ask: ({ task }) => questionPrompt(task), read: readRating },
    rate: { maxNew: 30, ask: ({ task, response }) => answerPrompt(task, response), read: readRating },
  },
  // The judge is shown an answer without its steps.
  write: ({ answer }) => answer,
});

export const sums: RatedGame = {
  game: ratedSums,
  seeds: (seed) => {
    const random = new Random(`mae/seeds/${seed}`);
    return Array.from({ length: SEED_QUESTIONS }, () => freshTask(random));
  },
  isSound,
  isRight: (question, solution) => isSound(question) && arithmetic.answerIsExact(question, solution),
};

/**
 * Figures of a store and of a round's proposals, by the oracle; for reports alone. `unsolvable` counts all questions that are not sound, the few
 * ambiguous ones included.
 */
export const soundnessFigures = (store: readonly string[], fresh: readonly Appraised[]) => ({
  unsolvable: unsolvableShare(store),
  unsolvableProposed: unsolvableShare(fresh.map(({ task }) => task)),
});

const unsolvableShare = (questions: readonly string[]): number =>
  mean(questions.map((question) => Number(!isSound(question))));
