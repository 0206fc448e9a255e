/**
 * What an attempt's teacher reads: feedback that follows the attempt step by step, the same feedback with the fault left in, or a reference solution.
 */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { critiqueOf } from '../../protocols/critic.ts';
import { type AidFor, attemptOf, isPaid } from '../../protocols/privileged-teacher.ts';

/**
 * - aligned: the right steps of the attempt, word for word, and the first wrong one corrected; the whole solution where that is the last one
 * - quoted: the same steps, and the first wrong one as the attempt has it; the whole attempt where that is the last one
 * - reference: the whole solution, whatever the attempt is
 */
export type Context = 'aligned' | 'quoted' | 'reference';

export type FeedbackGame = Game<'solve' | 'retell' | 'correct'>;

/**
 * An exact attempt is repeated as it is, and for one that does not parse there is no aid. `checked`: whether the run's reward comes from the checker.
 * Otherwise the checker tells nothing, and every attempt that was paid is repeated.
 */
export const contextAid =
  (
    game: FeedbackGame,
    tools: LearnTools,
    { context, checked }: { readonly context: Context; readonly checked: boolean },
  ): AidFor =>
  (group, s) => {
    const { task, samples } = group;
    const { words, steps } = game;
    const attempt = attemptOf(game, group, s, tools);
    if (!attempt.ok) return null;
    const retold = (solution: string) => (about: string) =>
      words.retell.ask({ task: about, solution }, tools);
    const corrected = (feedback: string) => (about: string) =>
      words.correct.ask({ task: about, feedback }, tools);
    const repeated = retold(game.write(attempt.value));
    if (!checked) return isPaid(samples[s]!) ? repeated : null;
    if (context === 'reference') return retold(game.write(game.reference!(task)));
    if (steps) {
      const said = (context === 'aligned' ? steps.feedback : steps.quoted)(task, attempt.value);
      return said === null ? repeated : corrected(said);
    }
    if (isPaid(samples[s]!)) return repeated;
    const critique = critiqueOf(game, group, samples[s]!.id, tools);
    return critique === null ? null : corrected(critique);
  };
