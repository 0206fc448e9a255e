/**
 * What held-out tasks show of a solver and a verifier: greedy and sampled answers; verdicts on a fixed set of solutions, which version 0 sampled, and
 * on the examined version's own; and the accuracy of a vote that counts the verdicts. The oracle checks all of it, apart from every reward.
 */
import { balancedAccuracy } from '../../core/monitor/monitors.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import {
  invalid,
  type Judgment,
  type ParseResult,
  rendered,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { majority, weightedMajority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { asked } from './asked.ts';
import { heldOutAnswers } from './solver.ts';
import { within } from './within-context.ts';

export interface Examined {
  readonly family: TaskFamily;
  readonly solver: string;
  readonly judge: string;
  /** How many held-out tasks are voted on (the first ones), and how many answers each has. */
  readonly voted: number;
  readonly answers: number;
}

/** A solution that parses, with the oracle's verdicts on it. */
export interface Natural {
  readonly task: string;
  readonly solution: Solution;
  readonly exact: Judgment;
}

type Speaker = Pick<
  RoundContext,
  'recipe' | 'tokenizer' | 'renderer' | 'contextLength' | 'generate' | 'evaluationTasks'
>;

/** Parsed sampled answers [voted tasks][answers]. */
async function sampledAnswers(
  { family: given, solver, voted, answers }: Examined,
  context: Speaker,
): Promise<ParseResult<Solution>[][]> {
  const family = rendered(given, context);
  const tasks = family.heldOut(context.evaluationTasks).slice(0, voted);
  const said = await asked(within(context), solver, tasks, {
    prompt: (task) => family.solverPrompt(task),
    key: (task) => ['vote', task],
    samples: answers,
    temperature: 1,
  });
  return tasks.map((task, t) =>
    said[t]!.map(({ text, stopped }) => (stopped ? family.parseSolution(task, text) : invalid('cut-off'))),
  );
}

/** Those of the first `each` answers to every task that parse. */
const naturals = (
  { family }: Examined,
  tasks: readonly string[],
  answersTA: readonly (readonly ParseResult<Solution>[])[],
  each?: number,
): Natural[] =>
  answersTA.flatMap((answers, t) => {
    const task = tasks[t]!;
    return answers
      .slice(0, each)
      .flatMap((parsed) =>
        parsed.ok ? [{ task, solution: parsed.value, exact: family.exactJudgment(task, parsed.value) }] : [],
      );
  });

/** Greedy verdicts [solutions]. */
async function verdicts(
  { family: given, judge }: Examined,
  context: Speaker,
  items: readonly Natural[],
): Promise<ParseResult<Judgment>[]> {
  const family = rendered(given, context);
  const said = await asked(within(context), judge, items, {
    prompt: ({ task, solution }) => family.judgePrompt(task, solution),
    key: (_, i) => ['verdict', i],
    temperature: 0,
  });
  return said.map(([verdict], i) => family.parseJudgment(items[i]!.solution, verdict!.text));
}

const verdictHits = (items: readonly Natural[], verdicts: readonly ParseResult<Judgment>[]) =>
  items.map(({ exact: { right } }, i) => {
    const verdict = verdicts[i]!;
    return { right, hit: verdict.ok && verdict.value.right === right };
  });

/** Mean of the hit rates on right and on wrong solutions. A verdict that does not parse is a miss. 0.5 where all solutions are of one kind. */
export const verdictAccuracy = (
  items: readonly Natural[],
  verdicts: readonly ParseResult<Judgment>[],
): number => balancedAccuracy(verdictHits(items, verdicts)) ?? 0.5;

/** F1 of finding the wrong steps; a verdict that does not parse finds none. 0 where none is found. */
export function stepF1(items: readonly Natural[], verdicts: readonly ParseResult<Judgment>[]): number {
  let [found, claimed, wrong] = [0, 0, 0];
  for (const [i, { exact }] of items.entries()) {
    const verdict = verdicts[i]!;
    const marks = verdict.ok ? verdict.value.steps : [];
    for (const [s, ok] of exact.steps.entries()) {
      const description = marks[s] === false;
      if (description) claimed++;
      if (!ok) wrong++;
      if (description && !ok) found++;
    }
  }
  return claimed + wrong === 0 ? 0 : (2 * found) / (claimed + wrong);
}

/** What the figures of `evaluateVerifier` mean. */
export const VERIFIER_FIGURES = {
  verification:
    'Balanced accuracy of greedy verdicts on solutions that version 0 wrote to the held-out tasks; 0.5 is chance.',
  ownVerification:
    'Balanced accuracy of greedy verdicts on solutions that the evaluated version itself wrote; 0.5 is chance.',
  stepF1:
    'F1 (harmonic mean of precision and recall, 0 to 1) of the wrong steps that verdicts mark, on solutions that version 0 wrote.',
  vote: 'Share of held-out tasks at which the answer that most of the sampled solutions give is exact.',
  weightedVote:
    'Share of held-out tasks at which the vote is exact where only solutions that the verifier calls right are counted.',
} as const;

/** `vote` counts all answers; `weightedVote` counts those that the verifier calls right, or all where it calls none right. */
export async function evaluateVerifier(context: EvaluationContext, examined: Examined): Promise<Evaluation> {
  const { family, solver } = examined;
  const tasks = family.heldOut(context.evaluationTasks);
  const exact = (t: number, solution: Solution) => family.answerIsExact(tasks[t]!, solution);
  const greedy = await heldOutAnswers({ family, role: solver }, context, { seed: 'greedy', temperature: 0 });
  const sampled = await sampledAnswers(examined, context);
  const own = naturals(examined, tasks, sampled);
  const ownVerdicts = await verdicts(examined, context, own);
  const fixed = await context.once('natural', async () =>
    naturals(examined, tasks, await sampledAnswers(examined, context.atStart), 2),
  );
  const fixedVerdicts = await verdicts(examined, context, fixed);
  let at = 0;
  const votes = sampled.map((answers, t) => {
    const given = answers.map((parsed) => (parsed.ok ? parsed.value.answer : null));
    const weights = answers.map((parsed) => {
      if (!parsed.ok) return 0;
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
  const right = (parsed: ParseResult<Solution>, t: number) => parsed.ok && exact(t, parsed.value);
  const worked = greedy.map((parsed) => parsed.ok && parsed.value.steps.length > 0);
  return evaluation(
    {
      n: tasks.length,
      accuracy: share(greedy.map((parsed, t) => Number(right(parsed, t)))),
      sampled: share(sampled.flatMap((answers, t) => answers.map((parsed) => Number(right(parsed, t))))),
      worked: family.workedPrefix ? share(worked.map(Number)) : null,
      formatRate: share(greedy.map(({ ok }) => Number(ok))),
      tallies: {
        accuracy: tallyOf(greedy.map(right)),
        sampled: tallyOf(
          sampled.map((answers, t) => answers.filter((parsed) => right(parsed, t)).length),
          examined.answers,
        ),
        ...(family.workedPrefix ? { worked: tallyOf(worked) } : {}),
        judge: tallyOf(verdictHits(fixed, fixedVerdicts).map(({ hit }) => hit)),
      },
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
