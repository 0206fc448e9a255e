/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone misleads: much of a small policy's
 * gain is the choice to write its steps. So accuracy when sampled, the share of worked answers, and accuracy when steps
 * are forced stand beside it.
 */
import { deriveId } from '../random.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import type { Reading, Solution } from '../tasks/family.ts';
import { refuse } from '../tasks/family.ts';
import { balancedAccuracy, mean } from './monitors.ts';
import type { Exam, Stage } from './stage.ts';
import type { ThreeRoles } from './three-role-game.ts';

export interface JudgeItem {
  readonly task: string;
  readonly solution: Solution;
}

type Read = readonly Reading<Solution>[];

async function answers(
  { family }: ThreeRoles,
  { tokenizer, generate }: Stage,
  settings: { readonly seed: string; readonly temperature: number; readonly prefix?: string },
): Promise<Read> {
  const { prefix = '', seed, temperature } = settings;
  const tasks = family.heldOut();
  const completions = await generate(
    'solver',
    tasks.map((task) => ({
      ids: tokenizer.encode(family.solverPrompt(task) + prefix),
      sampleIds: [deriveId('evaluate', seed, task)],
    })),
    { temperature },
  );
  return tasks.map((task, i) => {
    const completion = completions[i]![0]!;
    if (!completion.stopped) return refuse('cut-off');
    return family.readSolution(task, prefix + tokenizer.decode(completion.ids));
  });
}

function accuracy({ family }: ThreeRoles, readings: Read): number {
  const tasks = family.heldOut();
  return mean(readings.map((r, i) => (r.ok && family.gold(tasks[i]!, r.value) ? 1 : 0))) ?? 0;
}

const readable = ({ family }: ThreeRoles, readings: Read): JudgeItem[] => {
  const tasks = family.heldOut();
  return readings.flatMap((reading, i) => (reading.ok ? [{ task: tasks[i]!, solution: reading.value }] : []));
};

/** Readable solutions that a version samples on the held-out tasks: natural right and wrong answers to judge. */
export async function naturalSolutions(game: ThreeRoles, stage: Stage): Promise<JudgeItem[]> {
  const { temperature } = game;
  return readable(game, await answers(game, stage, { seed: 'natural', temperature }));
}

/** Balanced accuracy of greedy judgments against the oracle. */
export async function judgeAccuracy(
  { family }: ThreeRoles,
  { tokenizer, generate }: Stage,
  items: readonly JudgeItem[],
): Promise<number | null> {
  const completions = await generate(
    'judge',
    items.map(({ task, solution }, i) => ({
      ids: tokenizer.encode(family.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'judge', i)],
    })),
    { temperature: 0 },
  );
  return balancedAccuracy(
    items.map(({ task, solution }, i) => {
      const truth = family.truth(task, solution).right;
      const reading = family.readJudgment(solution, tokenizer.decode(completions[i]![0]!.ids));
      return { truth, hit: reading.ok && reading.value.right === truth };
    }),
  );
}

export async function examineThreeRoles(game: ThreeRoles, exam: Exam): Promise<Evaluation> {
  const { family, temperature } = game;
  const fixed = await exam.once('natural', () => naturalSolutions(game, exam.start));
  const greedy = await answers(game, exam, { seed: 'greedy', temperature: 0 });
  const sampled = await answers(game, exam, { seed: 'natural', temperature });
  const forced = await answers(game, exam, { seed: 'forced', temperature: 0, prefix: family.workedPrefix });
  return {
    heldOut: {
      n: greedy.length,
      accuracy: accuracy(game, greedy),
      sampled: accuracy(game, sampled),
      forcedWorked: accuracy(game, forced),
      worked: mean(greedy.map((r) => (r.ok && r.value.steps.length > 0 ? 1 : 0))) ?? 0,
      formatRate: mean(greedy.map((r) => (r.ok ? 1 : 0))) ?? 0,
    },
    judge: {
      fixed: await judgeAccuracy(game, exam, fixed),
      own: await judgeAccuracy(game, exam, readable(game, sampled)),
    },
  };
}
