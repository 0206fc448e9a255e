/**
 * What an attempt's teacher reads: feedback that follows the attempt step by step, the same feedback with the fault left in, or a reference solution.
 */
import type { Game, Wording } from '../../core/game/game.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { ask } from '../../protocols/ask.ts';
import { type AidFor, attemptOf, isPaid } from '../../protocols/taught-attempts.ts';

/**
 * - aligned: the right steps of the attempt, word for word, and the first wrong one corrected; the whole solution where that is the last one
 * - quoted: the same steps, and the first wrong one as the attempt has it; the whole attempt where that is the last one
 * - reference: the whole solution, whatever the attempt is
 */
export type Context = 'aligned' | 'quoted' | 'reference';

export type FeedbackGame = Game<'solve' | 'retell' | 'correct'>;

/** The role that writes feedback where no checker of steps does. */
export const CRITIC = 'critic';

/** Groups with the critic's feedback on every attempt that parses. */
export async function criticised<G extends RolloutGroup>(
  { said }: FeedbackGame,
  critique: Wording<'critique'>,
  context: RoundContext,
  groups: readonly G[],
): Promise<(G & Pick<ScoredGroup, 'judgments'>)[]> {
  const questions = groups.flatMap(({ task, samples }) =>
    samples.flatMap(({ id, ids, outcome }) => {
      if (outcome !== 'ok') return [];
      const about = { task, attempt: said(context.tokenizer.decode(ids), context) };
      const parse = (text: string) => critique.read(text, about, context);
      return [{ of: id, prompt: critique.ask(about, context), parse }];
    }),
  );
  const written = (await ask(context, CRITIC, questions, 1)).flat().map(({ sample }) => sample);
  return groups.map((group) => {
    const own = new Set(group.samples.map(({ id }) => id));
    return { ...group, judgments: written.filter((sample) => own.has(sample.of!)) };
  });
}

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
    const { task, samples, judgments } = group;
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
    const found = judgments.find(({ of, outcome }) => of === samples[s]!.id && outcome === 'ok');
    return found ? corrected(game.said(tools.decode(found.ids), tools)) : null;
  };
