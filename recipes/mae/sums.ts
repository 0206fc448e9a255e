/** Questions on sums in the notation of the small policies, sound or not, with an oracle for both questions and answers. */
import { Random } from '../../core/random.ts';
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { proposeThrough } from '../../protocols/proposals.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { parseQuestion, proposalPrompt, soundness } from '../../worlds/arithmetic/questions.ts';
import { answerPrompt, parseRating, questionPrompt } from '../../worlds/arithmetic/ratings.ts';
import { isInteger, parseWorked } from '../../worlds/worked.ts';
import type { Appraised } from './question-store.ts';
import type { RatedGame } from './rated-questions.ts';

/**
 * The number of seed questions, as many as in the paper's variant that starts from its own questions; questions that pass the gate soon make up most
 * of the store.
 */
const SEED_QUESTIONS = 16;

const isSound = (question: string): boolean => soundness(question) === 'sound';

/** An answer that parses: it may have any number of steps, since a question without an answer has no right number of them. */
const answerOf = (text: string): ParseResult<Solution> =>
  parseWorked(text, { step: isInteger, answer: isInteger });

export const sums: RatedGame = {
  texts: () => ({
    solverPrompt: (question) => arithmetic.solverPrompt(question),
    parseAnswer: (_, text) => answerOf(text),
    questionPrompt,
    answerPrompt: (question, { answer }) => answerPrompt(question, answer),
    parseRating,
  }),
  seeds: (seed) => {
    const random = new Random(`mae/seeds/${seed}`);
    return Array.from({ length: SEED_QUESTIONS }, () => freshTask(random));
  },
  propose: (context, varied, sampleIds) =>
    proposeThrough(
      context,
      'proposer',
      varied.map((question, i) => ({
        prompt: proposalPrompt(question ?? undefined),
        sampleIds: [sampleIds[i]!],
      })),
      { parse: parseQuestion, isHeldOut: arithmetic.isHeldOut },
    ),
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
