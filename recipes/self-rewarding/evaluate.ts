/**
 * Evaluation of a judge that scores by comparing, on held-out tasks: how well its scores order the answers that version 0 gave, so that the test
 * stays the same while judge and responder are trained. Only the oracle says which answers are right.
 */
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { mean } from '../../core/rl/statistics.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { type Contest, compareAnswers, contestOf, isExact, sharesWon } from './compare-answers.ts';

/** Answers sampled for each held-out task. */
const SAMPLES = 4;

/**
 * The distinct answers of a responder to each held-out task that it answered both right and wrong; the answers to other tasks have no order to find.
 */
async function naturalContests(
  context: Pick<RoundContext, 'tokenizer' | 'generate' | 'evaluationTasks'>,
  responder: string,
): Promise<Contest[]> {
  const tasks = arithmetic.heldOut(context.evaluationTasks);
  const said = await asked(context, responder, tasks, {
    prompt: (task) => arithmetic.solverPrompt(task),
    key: (task) => ['contest', task],
    samples: SAMPLES,
  });
  return tasks.flatMap((task, t) => {
    const given = said[t]!.map(({ text }, i) => {
      const parsed = arithmetic.parseSolution(task, text);
      return { id: deriveId('contest', task, i), answer: parsed.ok ? parsed.value.answer : null };
    });
    const contest = contestOf(task, given);
    const right = contest.answers.filter(({ answer }) => isExact(task, answer)).length;
    return right > 0 && right < contest.answers.length ? [contest] : [];
  });
}

/**
 * `judge` is the rank correlation of scores with exactness over all answers (0 where all scores are equal), `pairs` the share of right verdicts on a
 * right and a wrong answer, `checks` the share of comparisons that write a check.
 */
export async function evaluateComparisons(
  context: EvaluationContext,
  roles: { readonly responder: string; readonly judge: string },
): Promise<Readonly<Record<'judge' | 'pairs' | 'checks', number>>> {
  const contests = await context.once('contests', () => naturalContests(context.atStart, roles.responder));
  const matches = await compareAnswers(context, roles.judge, contests);
  const truths = contests.map(({ task, answers }) => answers.map(({ answer }) => isExact(task, answer)));
  const scored = contests.flatMap(({ answers }, c) =>
    sharesWon(answers.length, matches[c]!).flatMap((share, a) =>
      share === null ? [] : [{ share, right: Number(truths[c]![a]) }],
    ),
  );
  const verdicts = matches.flatMap((played, c) =>
    played.flatMap(({ first, second, comparison }) => {
      const [a, b] = [truths[c]![first], truths[c]![second]];
      return a === b ? [] : [Number(comparison?.choice === (a ? 'A' : 'B'))];
    }),
  );
  const correlation = rankCorrelation(
    scored.map(({ share }) => share),
    scored.map(({ right }) => right),
  );
  const checked = matches.flat().map(({ comparison }) => Number((comparison?.totals.length ?? 0) > 0));
  return { judge: correlation ?? 0, pairs: mean(verdicts), checks: mean(checked) };
}
