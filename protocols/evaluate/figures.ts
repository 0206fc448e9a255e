/** The figures of answered questions, each with its 95 % interval, and the comparison of two versions on the same questions. */
import { plain } from '../../core/checkers/exact.ts';
import { parseNumber } from '../../core/checkers/written-number.ts';
import { mean } from '../../core/rl/statistics.ts';
import { bestAtK, chanceAtK, type TextCount } from '../../core/statistics/best-at-k.ts';
import { clusteredInterval, type Interval, wilsonInterval } from '../../core/statistics/intervals.ts';
import { type AnswerCount, majorityAtK } from '../../core/statistics/majority-at-k.ts';
import { type McNemar, mcNemar, pairedDifference } from '../../core/statistics/paired.ts';
import { passAtK } from '../../core/statistics/pass-at-k.ts';
import type { CheckedAnswer } from '../../worlds/questions/check-answer.ts';
import type { AnsweredQuestion } from './questions.ts';

/** A share of all questions with its interval. */
export interface Share extends Interval {
  readonly share: number;
}

export interface AnswerFigures {
  readonly accuracy: Share;
  /** Mean length in tokens. */
  readonly tokens: number;
  /** Shares of all answers that do not parse, by the reason; one of the reasons is `cut-off`. */
  readonly invalid: Readonly<Record<string, number>>;
}

export interface SampledFigures extends AnswerFigures {
  readonly samples: number;
  /** pass@k for k = 1, 2, 4, … up to the number of samples, as unbiased estimates. */
  readonly passAt: Readonly<Record<number, Share>>;
  readonly majorityAt: Readonly<Record<number, Share>>;
}

/** Questions of a range of difficulty. */
export interface DifficultyFigures {
  readonly from: number;
  readonly to: number;
  readonly n: number;
  readonly greedy: Share;
}

export interface QuestionFigures {
  readonly n: number;
  readonly greedy: AnswerFigures;
  /** null where nothing was sampled. */
  readonly sampled: SampledFigures | null;
  /** Easiest first; empty where the questions have no difficulty. */
  readonly byDifficulty: readonly DifficultyFigures[];
}

export const isRight = ({ outcome }: CheckedAnswer): boolean => outcome === 'right';
export const shareOf = (values: readonly number[]): Share => ({
  share: mean(values),
  ...clusteredInterval(values),
});
const single = (answers: readonly CheckedAnswer[]): Share => {
  const share = mean(answers.map((answer) => Number(isRight(answer))));
  return { share, ...wilsonInterval(share, answers.length) };
};

function invalidOf(answers: readonly CheckedAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of answers)
    if (outcome !== 'right' && outcome !== 'wrong') counts[outcome] = (counts[outcome] ?? 0) + 1;
  return Object.fromEntries(
    Object.entries(counts).map(([reason, count]) => [reason, count / answers.length]),
  );
}

/** Distinct answers with their counts. All right answers count as one; wrong ones are the same if they are equal as numbers or as texts. */
export function countsOf(samples: readonly CheckedAnswer[]): { answers: AnswerCount[]; silent: number } {
  const counts = new Map<string, number>();
  let [right, silent] = [0, 0];
  for (const sample of samples) {
    if (isRight(sample)) right++;
    else if (sample.answer === null) silent++;
    else {
      const number = parseNumber(sample.answer);
      const key = number.ok ? number.value.value.toFraction() : plain(sample.answer);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const wrong = [...counts.values()].map((count) => ({ count, right: false }));
  return { answers: [...(right ? [{ count: right, right: true }] : []), ...wrong], silent };
}

/** 1, 2, 4, … below n, and n. */
function powersUpTo(n: number): number[] {
  const ks: number[] = [];
  for (let k = 1; k < n; k *= 2) ks.push(k);
  return [...ks, n];
}

const rightShare = (samples: readonly CheckedAnswer[]): number =>
  mean(samples.map((sample) => Number(isRight(sample))));

/** `of`: the samples of each question, [questions][samples]. */
export function sampledFigures(of: readonly (readonly CheckedAnswer[])[]): SampledFigures | null {
  const samples = of[0]?.length ?? 0;
  if (samples === 0) return null;
  const all = of.flat();
  const atEachK = (estimate: (of: readonly CheckedAnswer[], k: number) => number) =>
    Object.fromEntries(powersUpTo(samples).map((k) => [k, shareOf(of.map((one) => estimate(one, k)))]));
  return {
    samples,
    accuracy: shareOf(of.map(rightShare)),
    tokens: mean(all.map(({ tokens }) => tokens)),
    invalid: invalidOf(all),
    passAt: atEachK((of, k) => passAtK(of.length, of.filter(isRight).length, k)),
    majorityAt: atEachK((of, k) => {
      const { answers, silent } = countsOf(of);
      return majorityAtK(answers, silent, k);
    }),
  };
}

/** What a scorer of samples is worth: best-of-k by it, and by one that knows nothing, for k = 1, 2, 4, … */
export interface BestFigures {
  readonly bestAt: Readonly<Record<number, Share>>;
  readonly chanceAt: Readonly<Record<number, Share>>;
}

/** Samples with their counts by text. */
export function textsOf(samples: readonly CheckedAnswer[]): TextCount[] {
  const texts = new Map<string, { count: number; right: boolean }>();
  for (const sample of samples) {
    const known = texts.get(sample.text) ?? { count: 0, right: isRight(sample) };
    known.count++;
    texts.set(sample.text, known);
  }
  return [...texts.values()];
}

/** `scores`: [questions][samples], higher is better. */
export function bestFigures(
  questions: readonly AnsweredQuestion[],
  scores: readonly (readonly number[])[],
): BestFigures {
  const atEachK = (estimate: (question: AnsweredQuestion, own: readonly number[], k: number) => number) =>
    Object.fromEntries(
      powersUpTo(questions[0]!.samples.length).map((k) => [
        k,
        shareOf(questions.map((question, q) => estimate(question, scores[q]!, k))),
      ]),
    );
  return {
    bestAt: atEachK(({ samples }, own, k) =>
      bestAtK(
        samples.map((sample, s) => ({ score: own[s]!, right: isRight(sample) })),
        k,
      ),
    ),
    chanceAt: atEachK(({ samples }, _, k) => chanceAtK(textsOf(samples), k)),
  };
}

/** Ranges of difficulty that a report shows at most. */
const MOST_RANGES = 6;

/**
 * Each value is a range of its own where there are few values; otherwise ranges hold about as many questions each, and equal values stay together.
 */
function byDifficulty(questions: readonly AnsweredQuestion[]): DifficultyFigures[] {
  const rated = questions
    .flatMap((question) =>
      question.task.difficulty === null ? [] : [{ question, value: question.task.difficulty }],
    )
    .sort((a, b) => a.value - b.value);
  const values = [...new Set(rated.map(({ value }) => value))];
  const bounds =
    values.length <= MOST_RANGES
      ? values
      : [
          ...new Set(
            Array.from(
              { length: MOST_RANGES },
              (_, i) => rated[Math.ceil(((i + 1) * rated.length) / MOST_RANGES) - 1]!.value,
            ),
          ),
        ];
  return bounds.map((to, i) => {
    const above = i === 0 ? Number.NEGATIVE_INFINITY : bounds[i - 1]!;
    const inside = rated.filter(({ value }) => value > above && value <= to);
    return {
      from: inside[0]!.value,
      to,
      n: inside.length,
      greedy: single(inside.map(({ question }) => question.greedy)),
    };
  });
}

export function figuresOf(questions: readonly AnsweredQuestion[]): QuestionFigures {
  const greedy = questions.map((question) => question.greedy);
  return {
    n: questions.length,
    greedy: {
      accuracy: single(greedy),
      tokens: mean(greedy.map(({ tokens }) => tokens)),
      invalid: invalidOf(greedy),
    },
    sampled: sampledFigures(questions.map(({ samples }) => samples)),
    byDifficulty: byDifficulty(questions),
  };
}

export interface Comparison {
  /** Whether the greedy answer to each question is right. */
  readonly greedy: Interval & McNemar & { readonly mean: number };
  /** Shares of right samples; null where nothing was sampled. */
  readonly sampled: (Interval & { readonly mean: number }) | null;
}

/** The paired difference of the second version from the first, question by question. */
export function compare(first: readonly AnsweredQuestion[], second: readonly AnsweredQuestion[]): Comparison {
  const right = (questions: readonly AnsweredQuestion[]) => questions.map(({ greedy }) => isRight(greedy));
  const shares = (questions: readonly AnsweredQuestion[]) =>
    questions.map(({ samples }) => rightShare(samples));
  const [before, after] = [right(first), right(second)];
  return {
    greedy: { ...pairedDifference(before.map(Number), after.map(Number)), ...mcNemar(before, after) },
    sampled: first[0]?.samples.length ? pairedDifference(shares(first), shares(second)) : null,
  };
}
