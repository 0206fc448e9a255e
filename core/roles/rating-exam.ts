/**
 * What held-out tasks show of a judge that rates: how well its greedy scores order answers, and questions, as the oracle does.
 * Answers are those version 0 samples and questions are drawn once, so that the yardstick stays while judge and solver move.
 */
import { Random } from '../random.ts';
import { rankCorrelation } from '../rl/rank-correlation.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { spoiled } from '../tasks/judging/questions.ts';
import {
  answerBand,
  answerPrompt,
  BANDS,
  type Band,
  questionBand,
  questionPrompt,
  readRating,
} from '../tasks/judging/ratings.ts';
import { heldOutAnswers } from './solver-exam.ts';
import type { Exam } from './stage.ts';

interface Rated {
  readonly prompt: string;
  readonly band: Band;
}

/** Every second held-out task with one fault. */
function heldOutQuestions({ examTasks }: Pick<Exam, 'examTasks'>): Rated[] {
  const random = new Random('rating-exam/questions');
  return arithmetic.heldOut(examTasks).map((task, i) => {
    const question = i % 2 === 0 ? task : spoiled(random, task);
    return { prompt: questionPrompt(question), band: questionBand(question) };
  });
}

async function naturalAnswers({ start }: Pick<Exam, 'start'>): Promise<Rated[]> {
  const tasks = arithmetic.heldOut(start.examTasks);
  const solver = { family: arithmetic, role: 'solver' };
  const answers = await heldOutAnswers(solver, start, { seed: 'natural', temperature: 1 });
  return answers.flatMap((answer, i) => {
    if (!answer.ok) return [];
    const task = tasks[i]!;
    return [{ prompt: answerPrompt(task, answer.value.answer), band: answerBand(task, answer.value.answer) }];
  });
}

/** Spearman's correlation of scores with the oracle's bands; an unreadable rating is in the middle; 0 where all scores are equal. */
async function correlation({ tokenizer, generate }: Exam, items: readonly Rated[]): Promise<number> {
  const completions = await generate(
    'judge',
    items.map(({ prompt }) => ({ ids: tokenizer.encode(prompt), sampleIds: [prompt] })),
    { temperature: 0 },
  );
  const scores = completions.map(([completion]) => {
    const reading = readRating(tokenizer.decode(completion!.ids));
    return reading.ok ? reading.value : 5.5;
  });
  return (
    rankCorrelation(
      scores,
      items.map(({ band }) => BANDS[band][0]),
    ) ?? 0
  );
}

export async function examineRatings(
  exam: Exam,
): Promise<Readonly<Record<'answerRatings' | 'questionRatings', number>>> {
  const answers = await exam.once('rated answers', () => naturalAnswers(exam));
  return {
    answerRatings: await correlation(exam, answers),
    questionRatings: await correlation(exam, heldOutQuestions(exam)),
  };
}
