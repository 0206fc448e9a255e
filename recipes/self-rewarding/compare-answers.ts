/**
 * A judge that scores the answers to a task by comparing them. Each distinct answer is compared with each other one, in both orders, either after a
 * written check or at once (worlds/arithmetic/pairwise.ts). An answer's score is the share of its comparisons that it wins, among those that parse.
 */
import { deriveId } from '../../core/random.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { besideOracle } from '../../protocols/gold.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { betterOf, type Comparison, pairPrompt, parseComparison } from '../../worlds/arithmetic/pairwise.ts';

/** The distinct answers to a task, each with an id: that of a sample that gave it, or one of the evaluation's own. */
export interface Contest {
  readonly task: string;
  readonly answers: readonly { readonly answer: string; readonly id: string }[];
}

/** The answer that a sample gave; null where its text does not parse. */
export interface Given {
  readonly id: string;
  readonly answer: string | null;
}

export const answersOf = (
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
  { task, samples }: Pick<RolloutGroup, 'task' | 'samples'>,
): Given[] =>
  samples.map(({ id, ids, outcome }) => {
    const parsed = arithmetic.parseSolution(task, tokenizer.decode(ids));
    return { id, answer: outcome === 'ok' && parsed.ok ? parsed.value.answer : null };
  });

/** The answers to compare; of equal answers the first one stands for all. */
export const contestOf = (task: string, given: readonly Given[]): Contest => {
  const first = new Map<string, string>();
  for (const { id, answer } of given) if (answer !== null && !first.has(answer)) first.set(answer, id);
  return { task, answers: [...first].map(([answer, id]) => ({ answer, id })) };
};

/** Whether an answer is exact, by the oracle. */
export const isExact = (task: string, answer: string): boolean =>
  arithmetic.answerIsExact(task, { steps: [], answer });

/** The result of a comparison: the positions of the answers that were shown first and second; null where it does not parse. */
export interface Match {
  readonly first: number;
  readonly second: number;
  readonly comparison: Comparison | null;
  readonly judgment: Sample;
}

/** The score of an answer that was not compared with any other, which is what a coin would give it on average. */
const UNOPPOSED = 0.5;

/** The share of comparisons that each answer won, among those that parse; null where an answer was compared and no comparison parses. */
export const sharesWon = (answers: number, matches: readonly Omit<Match, 'judgment'>[]): (number | null)[] =>
  Array.from({ length: answers }, (_, a) => {
    if (answers === 1) return UNOPPOSED;
    const wins = matches.flatMap(({ first, second, comparison }) =>
      comparison && (first === a || second === a)
        ? [Number((comparison.choice === 'A') === (first === a))]
        : [],
    );
    return wins.length ? mean(wins) : null;
  });

/** All comparisons of each contest, once in each order. */
export async function compareAnswers(
  context: RoundContext,
  judge: string,
  contests: readonly Contest[],
): Promise<Match[][]> {
  const { tokenizer } = context;
  const asked = contests.flatMap(({ task, answers }, contest) =>
    answers.flatMap((a, first) =>
      answers.flatMap((b, second) =>
        first === second
          ? []
          : [
              {
                contest,
                first,
                second,
                of: a.id,
                better: betterOf(task, a.answer, b.answer),
                ids: tokenizer.encode(pairPrompt(task, a.answer, b.answer)),
                sampleIds: [deriveId(a.id, judge, b.id)],
              },
            ],
      ),
    ),
  );
  const completions = await context.generate(judge, asked);
  const matches: Match[][] = contests.map(() => []);
  asked.forEach(({ contest, first, second, of, better, ids, sampleIds }, i) => {
    const completion = completions[i]![0]!;
    const parsed = parseComparison(contests[contest]!.task, tokenizer.decode(completion.ids));
    const outcome = !completion.stopped ? 'cut-off' : parsed.ok ? 'ok' : parsed.reason;
    const rewards = { choice: parsed.ok ? Number(parsed.value.choice === 'A') : null };
    const judgment = {
      ...sampleOf(context, judge, sampleIds[0]!, ids, completion, outcome, rewards),
      ...besideOracle(better && better === 'A', parsed.ok ? parsed.value.choice === 'A' : null),
      of,
    };
    matches[contest]!.push({ first, second, comparison: parsed.ok ? parsed.value : null, judgment });
  });
  return matches;
}
