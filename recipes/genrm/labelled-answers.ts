/** A round's answers with what its reward says of them: what a verifier is taught from. */
import type { Random } from '../../core/random.ts';
import { balancedPick } from '../../core/rl/selection/index.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import type { LearnTools } from '../../core/training-plan.ts';
import { bestOf } from '../../protocols/evaluate/best-of-n.ts';
import { checkPrompt, type Labelled } from '../../tasks/arithmetic/checks.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';

/** Answers of each group [groups][answers]; what cannot be read is left out. */
export const labelledAnswers = (groups: readonly ScoredGroup[], decode: LearnTools['decode']): Labelled[][] =>
  groups.map(({ task, samples }) =>
    samples.flatMap(({ ids, rewards }) => {
      const parsed = arithmetic.parseSolution(task, decode(ids));
      return parsed.ok ? [{ task, solution: parsed.value, right: rewards.reward === 1 }] : [];
    }),
  );

/** As many right answers as wrong ones: all of the rarer kind, and as many of the other, drawn at random. */
export function asManyWrong(answers: readonly Labelled[], random: Random): Labelled[] {
  const labels = answers.map(({ right }) => right);
  const rights = labels.filter(Boolean).length;
  return balancedPick(labels, 2 * Math.min(rights, labels.length - rights), random).map((i) => answers[i]!);
}

/** Share of tasks whose answer of the highest score is exact, by the oracle: for reports alone. `scores` are of all answers in order. */
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

/** The tokens that the classification head reads before it gives a class. */
export const heard = (item: Labelled, encode: LearnTools['encode']) => {
  const [first, ...ids] = encode(checkPrompt(item));
  return { prompt: [first!], ids };
};
