/**
 * Evaluation of a judge that rates, on held-out tasks: how well its greedy scores order answers and questions, compared with the oracle. The answers
 * are sampled by version 0 and the questions are drawn once, so that the test stays the same while judge and solver are trained.
 */
import { Random } from '../../core/random.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { heldOutAnswers } from '../../protocols/evaluate/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { spoiled } from '../../worlds/arithmetic/questions.ts';
import {
  answerBand,
  answerPrompt,
  BANDS,
  type Band,
  parseRating,
  questionBand,
  questionPrompt,
} from '../../worlds/arithmetic/ratings.ts';

interface Rated {
  readonly prompt: string;
  readonly band: Band;
}

/** Every second held-out task, with one fault put in. */
function heldOutQuestions({ evaluationTasks }: Pick<EvaluationContext, 'evaluationTasks'>): Rated[] {
  const random = new Random('rating-exam/questions');
  return arithmetic.heldOut(evaluationTasks).map((task, i) => {
    const question = i % 2 === 0 ? task : spoiled(random, task);
    return { prompt: questionPrompt(question), band: questionBand(question) };
  });
}

async function naturalAnswers({ atStart: start }: Pick<EvaluationContext, 'atStart'>): Promise<Rated[]> {
  const tasks = arithmetic.heldOut(start.evaluationTasks);
  const solver = { family: arithmetic, role: 'solver' };
  const answers = await heldOutAnswers(solver, start, { seed: 'natural', temperature: 1 });
  return answers.flatMap((answer, i) => {
    if (!answer.ok) return [];
    const task = tasks[i]!;
    return [{ prompt: answerPrompt(task, answer.value.answer), band: answerBand(task, answer.value.answer) }];
  });
}

/** Spearman's correlation of scores with the oracle's bands. A rating that does not parse counts as the middle; 0 where all scores are equal. */
async function correlation(
  { tokenizer, generate }: EvaluationContext,
  items: readonly Rated[],
): Promise<number> {
  const completions = await generate(
    'judge',
    items.map(({ prompt }) => ({ ids: tokenizer.encode(prompt), sampleIds: [prompt] })),
    { temperature: 0 },
  );
  const scores = completions.map(([completion]) => {
    const parsed = parseRating(tokenizer.decode(completion!.ids));
    return parsed.ok ? parsed.value : 5.5;
  });
  return (
    rankCorrelation(
      scores,
      items.map(({ band }) => BANDS[band][0]),
    ) ?? 0
  );
}

export async function evaluateRatings(
  context: EvaluationContext,
): Promise<Readonly<Record<'answerRatings' | 'questionRatings', number>>> {
  const answers = await context.once('rated answers', () => naturalAnswers(context));
  return {
    answerRatings: await correlation(context, answers),
    questionRatings: await correlation(context, heldOutQuestions(context)),
  };
}
