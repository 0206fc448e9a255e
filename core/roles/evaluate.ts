/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone misleads: much of a small policy's
 * gain is the choice to write its steps. So accuracy when sampled, the share of worked answers, and accuracy when steps
 * are forced stand beside it.
 */
import { deriveId } from '../random.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import type { Reading, Solution } from '../tasks/family.ts';
import { balancedAccuracy } from './monitors.ts';
import { heldOutAnswers, heldOutFigures } from './solver-exam.ts';
import type { Exam, Stage } from './stage.ts';
import type { ThreeRoles } from './three-role-game.ts';

export interface JudgeItem {
  readonly task: string;
  readonly solution: Solution;
}

const readable = (
  { family }: ThreeRoles,
  { examTasks }: Pick<Stage, 'examTasks'>,
  readings: readonly Reading<Solution>[],
): JudgeItem[] => {
  const tasks = family.heldOut(examTasks);
  return readings.flatMap((reading, i) => (reading.ok ? [{ task: tasks[i]!, solution: reading.value }] : []));
};

/** What the solver answers to the held-out tasks at the game's temperature. */
const naturalAnswers = ({ family, temperature }: ThreeRoles, stage: Stage) =>
  heldOutAnswers({ family, role: 'solver' }, stage, { seed: 'natural', temperature });

/** Readable solutions that a version samples on the held-out tasks: natural right and wrong answers to judge. */
export async function naturalSolutions(game: ThreeRoles, stage: Stage): Promise<JudgeItem[]> {
  return readable(game, stage, await naturalAnswers(game, stage));
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
  const { family } = game;
  const fixed = await exam.once('natural', () => naturalSolutions(game, exam.start));
  const greedily = (seed: string, prefix = '') =>
    heldOutAnswers({ family, role: 'solver' }, exam, { seed, temperature: 0, prefix });
  const greedy = await greedily('greedy');
  const sampled = await naturalAnswers(game, exam);
  const forced = await greedily('forced', family.workedPrefix);
  return {
    heldOut: heldOutFigures(family, family.heldOut(exam.examTasks), { greedy, sampled, forced }),
    judge: {
      fixed: await judgeAccuracy(game, exam, fixed),
      own: await judgeAccuracy(game, exam, readable(game, exam, sampled)),
    },
  };
}
