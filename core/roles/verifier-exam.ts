/**
 * What held-out tasks show of a solver and a verifier: answers greedy and sampled, verdicts on a fixed set (what version 0 samples) and
 * on the examined version's own samples, and what the verdicts are worth to a vote. By the oracle, apart from every reward.
 */
import { deriveId } from '../random.ts';
import { mean } from '../rl/statistics.ts';
import { majority, weightedMajority } from '../rl/votes.ts';
import { type Evaluation, evaluation } from '../schema/evaluation.ts';
import { type Judgment, type Reading, refuse, type Solution, type TaskFamily } from '../tasks/family.ts';
import { balancedAccuracy } from './monitors.ts';
import { heldOutAnswers } from './solver-exam.ts';
import type { Exam, Stage } from './stage.ts';

export interface Examined {
  readonly family: TaskFamily;
  readonly solver: string;
  readonly judge: string;
  /** Held-out tasks that are voted on, the first ones, and the answers to each. */
  readonly voted: number;
  readonly answers: number;
}

/** A readable solution with the oracle's verdicts. */
export interface Natural {
  readonly task: string;
  readonly solution: Solution;
  readonly truth: Judgment;
}

type Speaker = Pick<Stage, 'tokenizer' | 'generate' | 'examTasks'>;

/** Sampled answers [voted tasks][answers], as read. */
async function sampledAnswers(
  { family, solver, voted, answers }: Examined,
  { tokenizer, generate, examTasks }: Speaker,
): Promise<Reading<Solution>[][]> {
  const tasks = family.heldOut(examTasks).slice(0, voted);
  const completions = await generate(
    solver,
    tasks.map((task) => ({
      ids: tokenizer.encode(family.solverPrompt(task)),
      sampleIds: Array.from({ length: answers }, (_, i) => deriveId('evaluate', 'vote', task, i)),
    })),
    { temperature: 1 },
  );
  return tasks.map((task, t) =>
    completions[t]!.map(({ ids, stopped }) =>
      stopped ? family.readSolution(task, tokenizer.decode(ids)) : refuse('cut-off'),
    ),
  );
}

/** The readable ones among the first `each` answers to every task. */
const naturals = (
  { family }: Examined,
  tasks: readonly string[],
  answersTA: readonly (readonly Reading<Solution>[])[],
  each?: number,
): Natural[] =>
  answersTA.flatMap((answers, t) => {
    const task = tasks[t]!;
    return answers
      .slice(0, each)
      .flatMap((reading) =>
        reading.ok ? [{ task, solution: reading.value, truth: family.truth(task, reading.value) }] : [],
      );
  });

/** Greedy verdicts [solutions]. */
async function verdicts(
  { family, judge }: Examined,
  { tokenizer, generate }: Speaker,
  items: readonly Natural[],
): Promise<Reading<Judgment>[]> {
  const completions = await generate(
    judge,
    items.map(({ task, solution }, i) => ({
      ids: tokenizer.encode(family.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'verdict', i)],
    })),
    { temperature: 0 },
  );
  return completions.map(([completion], i) =>
    family.readJudgment(items[i]!.solution, tokenizer.decode(completion!.ids)),
  );
}

/** Mean of the hit rates on right and on wrong solutions; an unreadable verdict is a miss; 0.5 where there is but one kind. */
export const verdictAccuracy = (items: readonly Natural[], read: readonly Reading<Judgment>[]): number =>
  balancedAccuracy(
    items.map(({ truth: { right } }, i) => {
      const verdict = read[i]!;
      return { truth: right, hit: verdict.ok && verdict.value.right === right };
    }),
  ) ?? 0.5;

/** F1 of finding the wrong steps; an unreadable verdict finds none. 0 where none is found. */
export function stepF1(items: readonly Natural[], read: readonly Reading<Judgment>[]): number {
  let [found, claimed, wrong] = [0, 0, 0];
  for (const [i, { truth }] of items.entries()) {
    const verdict = read[i]!;
    const marks = verdict.ok ? verdict.value.steps : [];
    for (const [s, ok] of truth.steps.entries()) {
      const says = marks[s] === false;
      if (says) claimed++;
      if (!ok) wrong++;
      if (says && !ok) found++;
    }
  }
  return claimed + wrong === 0 ? 0 : (2 * found) / (claimed + wrong);
}

/** `vote` counts answers, `weightedVote` those that the verifier calls right, and all where it calls none right. */
export async function examineVerifier(exam: Exam, examined: Examined): Promise<Evaluation> {
  const { family, solver } = examined;
  const tasks = family.heldOut(exam.examTasks);
  const exact = (t: number, solution: Solution) => family.gold(tasks[t]!, solution);
  const greedy = await heldOutAnswers({ family, role: solver }, exam, { seed: 'greedy', temperature: 0 });
  const sampled = await sampledAnswers(examined, exam);
  const own = naturals(examined, tasks, sampled);
  const ownVerdicts = await verdicts(examined, exam, own);
  const fixed = await exam.once('natural', async () =>
    naturals(examined, tasks, await sampledAnswers(examined, exam.start), 2),
  );
  const fixedVerdicts = await verdicts(examined, exam, fixed);
  let at = 0;
  const votes = sampled.map((answers, t) => {
    const given = answers.map((reading) => (reading.ok ? reading.value.answer : null));
    const weights = answers.map((reading) => {
      if (!reading.ok) return 0;
      const verdict = ownVerdicts[at++]!;
      return Number(verdict.ok && verdict.value.right);
    });
    const won = (answer: string | undefined) =>
      Number(answer !== undefined && exact(t, { steps: [], answer }));
    return {
      plain: won(majority(given)?.answer),
      weighted: won((weightedMajority(given, weights) ?? majority(given))?.answer),
    };
  });
  const share = (answers: readonly number[]) => mean(answers);
  return evaluation(
    {
      n: tasks.length,
      accuracy: share(greedy.map((reading, t) => Number(reading.ok && exact(t, reading.value)))),
      sampled: share(
        sampled.flatMap((answers, t) =>
          answers.map((reading) => Number(reading.ok && exact(t, reading.value))),
        ),
      ),
      worked: share(greedy.map((reading) => Number(reading.ok && reading.value.steps.length > 0))),
      formatRate: share(greedy.map(({ ok }) => Number(ok))),
    },
    {
      verification: verdictAccuracy(fixed, fixedVerdicts),
      ownVerification: verdictAccuracy(own, ownVerdicts),
      stepF1: stepF1(fixed, fixedVerdicts),
      vote: share(votes.map(({ plain }) => plain)),
      weightedVote: share(votes.map(({ weighted }) => weighted)),
    },
    { fixed: verdictAccuracy(fixed, fixedVerdicts), own: verdictAccuracy(own, ownVerdicts) },
  );
}
