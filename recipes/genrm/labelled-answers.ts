/** A round's answers, labelled by the run's reward: the training data of a verifier. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { Random } from '../../core/random.ts';
import { balancedPick } from '../../core/rl/selection/index.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { bestOf } from '../../protocols/evaluate/best-of-n.ts';
import { checkPrompt, type Labelled } from '../../worlds/arithmetic/answer-checks.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** The answers of each group [groups][answers]; those that do not parse are left out. */
export const labelledAnswers = (groups: readonly ScoredGroup[], decode: LearnTools['decode']): Labelled[][] =>
  groups.map(({ task, samples }) =>
    samples.flatMap(({ ids, rewards }) => {
      const parsed = arithmetic.parseSolution(task, decode(ids));
      return parsed.ok ? [{ task, solution: parsed.value, right: rewards.reward === 1 }] : [];
    }),
  );

/** As many right answers as wrong ones: all of the rarer kind, and a random choice of as many of the other. */
export function asManyWrong(answers: readonly Labelled[], random: Random): Labelled[] {
  const labels = answers.map(({ right }) => right);
  const rights = labels.filter(Boolean).length;
  return balancedPick(labels, 2 * Math.min(rights, labels.length - rights), random).map((i) => answers[i]!);
}

/** The share of tasks whose highest-scored answer is exact, by the oracle; for reports alone. `scores` are those of all answers, in order. */
export function bestLabelled(tasks: readonly (readonly Labelled[])[], scores: readonly number[]): number {
  const left = [...scores];
  return bestOf(
    tasks.map((answers) => ({
      exact: answers.map(({ task, solution }) => arithmetic.answerIsExact(task, solution)),
    })),
    tasks.map((answers) => left.splice(0, answers.length)),
  );
}

/** Prompts and completions as tokens. */
export const pairing = (encode: LearnTools['encode']) => (prompt: string, ids: string) => ({
  prompt: encode(prompt),
  ids: encode(ids),
});

/** The tokens that the classification head reads before it predicts a class. */
export const classified = (item: Labelled, encode: LearnTools['encode']) => {
  const [first, ...ids] = encode(checkPrompt(item));
  return { prompt: [first!], ids };
};
