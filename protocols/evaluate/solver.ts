/**
 * What the held-out tasks show of a solver: greedy, sampled, and greedy with the steps forced. The oracle checks the answers, apart from every
 * reward.
 */
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import {
  invalid,
  type ParseResult,
  rendered,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { TalliedHeldOut } from '../../core/schema/evaluation.ts';
import { questionsHash, shareOf, tallyOfDraws } from '../../core/statistics/change.ts';
import { asked } from './asked.ts';
import { within } from './within-context.ts';

export interface Solver {
  readonly family: TaskFamily;
  readonly role: string;
  /** The temperature at which the sampled accuracy is measured. */
  readonly temperature: number;
  /** Samples of each task, over which the sampled accuracy is a mean; default 1. Small differences between arms need more. */
  readonly draws?: number;
  /** Whether the tasks are asked once more with the steps forced, which tells nothing new of a solver that always writes them. Default true. */
  readonly force?: boolean;
  /** Default: all that the family holds out. */
  readonly tasks?: readonly string[];
}

interface Asked {
  /** Keys the samples: another seed draws other answers. */
  readonly seed: string;
  readonly temperature: number;
  /** The text that every answer is forced to begin with. */
  readonly prefix?: string;
}

/** A solver's parsed answers to held-out tasks. */
export async function heldOutAnswers(
  { family: given, role, tasks }: Omit<Solver, 'temperature'>,
  context: Pick<
    RoundContext,
    'recipe' | 'tokenizer' | 'renderer' | 'contextLength' | 'generate' | 'evaluationTasks'
  >,
  { seed, temperature, prefix = '' }: Asked,
): Promise<ParseResult<Solution>[]> {
  const family = rendered(given, context);
  const examined = tasks ?? family.heldOut(context.evaluationTasks);
  const said = await asked(within(context), role, examined, {
    prompt: (task) => family.solverPrompt(task) + prefix,
    key: (task) => [seed, task],
    temperature,
  });
  return examined.map((task, i) => {
    const { text, stopped } = said[i]![0]!;
    return stopped ? family.parseSolution(task, prefix + text) : invalid('cut-off');
  });
}

/** Answers to the same tasks, asked for in three ways; `forced` is absent where steps were not forced. */
interface Answers {
  readonly greedy: readonly ParseResult<Solution>[];
  /** One answer to each task, or one to all tasks in turn, over and over. */
  readonly sampled: readonly ParseResult<Solution>[];
  readonly forced?: readonly ParseResult<Solution>[];
}

/** The figures of some answers to `tasks`, by the oracle. */
export function heldOutFigures(
  family: TaskFamily,
  tasks: readonly string[],
  { greedy, sampled, forced }: Answers,
): TalliedHeldOut {
  const tally = (
    answers: readonly ParseResult<Solution>[],
    test: (solution: Solution, task: string) => boolean,
  ) =>
    tallyOfDraws(
      answers.map((answer, i) => answer.ok && test(answer.value, tasks[i % tasks.length]!)),
      tasks.length,
    );
  const exact = (solution: Solution, task: string) => family.answerIsExact(task, solution);
  const tallies = {
    accuracy: tally(greedy, exact),
    sampled: tally(sampled, exact),
    ...(forced ? { forcedWorked: tally(forced, exact) } : {}),
    ...(family.workedPrefix ? { worked: tally(greedy, (solution) => solution.steps.length > 0) } : {}),
  };
  return {
    n: tasks.length,
    questions: questionsHash(tasks),
    accuracy: shareOf(tallies.accuracy),
    sampled: shareOf(tallies.sampled),
    forcedWorked: tallies.forcedWorked ? shareOf(tallies.forcedWorked) : null,
    worked: tallies.worked ? shareOf(tallies.worked) : null,
    formatRate: mean(greedy.map(({ ok }) => Number(ok))),
    tallies,
  };
}

export async function evaluateSolver(context: EvaluationContext, solver: Solver): Promise<TalliedHeldOut> {
  const {
    family,
    temperature,
    draws = 1,
    force = family.workedPrefix !== '',
    tasks = family.heldOut(context.evaluationTasks),
  } = solver;
  const ask = (asked: Asked) => heldOutAnswers(solver, context, asked);
  const sampled: ParseResult<Solution>[] = [];
  for (let draw = 0; draw < draws; draw++)
    sampled.push(...(await ask({ seed: draw ? `natural/${draw}` : 'natural', temperature })));
  return heldOutFigures(family, tasks, {
    greedy: await ask({ seed: 'greedy', temperature: 0 }),
    sampled,
    ...(force ? { forced: await ask({ seed: 'forced', temperature: 0, prefix: family.workedPrefix }) } : {}),
  });
}
