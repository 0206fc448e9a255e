/**
 * A judge that scores the answers to a task by comparing them: each distinct answer with each other one, in both orders, after a
 * written check or at a glance (core/tasks/judging/pairwise.ts). A score is the share of its readable comparisons that an answer wins.
 */
import { deriveId } from '../random.ts';
import { mean } from '../rl/statistics.ts';
import type { RolledGroup, Sample } from '../schema/sample.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { betterOf, type Comparison, pairPrompt, readComparison } from '../tasks/judging/pairwise.ts';
import { besideTruth } from './gold.ts';
import { type Stage, sampleOf } from './stage.ts';

/** Distinct answers to a task, each with an id: that of a sample that gave it, or one of an exam's. */
export interface Contest {
  readonly task: string;
  readonly answers: readonly { readonly answer: string; readonly id: string }[];
}

/** An answer as a sample gave it; null where its text is none. */
export interface Given {
  readonly id: string;
  readonly answer: string | null;
}

export const answersOf = (
  { tokenizer }: Pick<Stage, 'tokenizer'>,
  { task, samples }: Pick<RolledGroup, 'task' | 'samples'>,
): Given[] =>
  samples.map(({ id, ids, outcome }) => {
    const reading = arithmetic.readSolution(task, tokenizer.decode(ids));
    return { id, answer: outcome === 'ok' && reading.ok ? reading.value.answer : null };
  });

/** What there is to compare: of equal answers the first stands for all. */
export const contestOf = (task: string, given: readonly Given[]): Contest => {
  const first = new Map<string, string>();
  for (const { id, answer } of given) if (answer !== null && !first.has(answer)) first.set(answer, id);
  return { task, answers: [...first].map(([answer, id]) => ({ answer, id })) };
};

/** The oracle. */
export const isExact = (task: string, answer: string): boolean =>
  arithmetic.gold(task, { steps: [], answer });

/** A comparison as it came out: positions of the answers shown first and second; null where it cannot be read. */
export interface Match {
  readonly first: number;
  readonly second: number;
  readonly comparison: Comparison | null;
  readonly judgment: Sample;
}

/** What an answer scores that is compared with nothing: as much as a coin would give it. */
const UNOPPOSED = 0.5;

/** Each answer's share of readable comparisons won; null where it has been in some but none can be read. */
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
  stage: Stage,
  judge: string,
  contests: readonly Contest[],
): Promise<Match[][]> {
  const { tokenizer } = stage;
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
  const completions = await stage.generate(judge, asked);
  const matches: Match[][] = contests.map(() => []);
  asked.forEach(({ contest, first, second, of, better, ids, sampleIds }, i) => {
    const completion = completions[i]![0]!;
    const reading = readComparison(contests[contest]!.task, tokenizer.decode(completion.ids));
    const outcome = !completion.stopped ? 'cut-off' : reading.ok ? 'ok' : reading.reason;
    const rewards = { choice: reading.ok ? Number(reading.value.choice === 'A') : null };
    const judgment = {
      ...sampleOf(stage, judge, sampleIds[0]!, ids, completion, outcome, rewards),
      ...besideTruth(better && better === 'A', reading.ok ? reading.value.choice === 'A' : null),
      of,
    };
    matches[contest]!.push({ first, second, comparison: reading.ok ? reading.value : null, judgment });
  });
  return matches;
}
