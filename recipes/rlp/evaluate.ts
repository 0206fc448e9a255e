/** How well the digits of held-out documents that can be worked out are predicted, after a thought and without one. */
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { shareOf, tallyOf, tallyOfDraws } from '../../core/statistics/change.ts';
import {
  heldOutPositions,
  parsePosition,
  parseThought,
  THOUGHT_END,
  thoughtIsExact,
  thoughtPrompt,
} from '../../worlds/documents/sums.ts';

export const THINKER = 'thinker';
/** Samples of each digit behind the sampled accuracy. */
const DRAWS = 2;

/** Shares of the digits that are predicted rightly, and of thoughts that are well-formed and exact. Thoughts and digits are drawn at the temperature. */
async function predicted(
  context: EvaluationContext,
  tasks: readonly string[],
  seed: string,
  temperature: number,
): Promise<{ thought: readonly boolean[]; plain: number; wellFormed: number; exact: number }> {
  const { tokenizer } = context;
  const drawn = async (prompts: readonly (readonly number[])[], what: string, maxNew?: number) =>
    (
      await context.generate(
        THINKER,
        prompts.map((ids, i) => ({
          ids: [...ids],
          sampleIds: [deriveId('evaluate', seed, what, tasks[i]!)],
        })),
        { temperature, ...(maxNew === undefined ? {} : { maxNew }) },
      )
    ).map(([completion]) => completion!.ids);
  const befores = tasks.map((task) => parsePosition(task).before);
  const prompts = befores.map((before) => tokenizer.encode(thoughtPrompt(before)));
  const thoughts = await drawn(prompts, 'thought');
  const end = tokenizer.encode(THOUGHT_END);
  const afterThought = thoughts.map((ids, i) => [
    ...prompts[i]!,
    ...ids,
    ...(ids.at(-1) === end[0] ? [] : end),
  ]);
  const digits = await drawn(afterThought, 'digit', 1);
  const plain = await drawn(
    befores.map((before) => tokenizer.encode(before)),
    'plain',
    1,
  );
  const right = (all: readonly (readonly number[])[]) =>
    all.map((ids, i) => tokenizer.decode([...ids]) === parsePosition(tasks[i]!).next);
  const said = thoughts.map((ids) => parseThought(tokenizer.decode([...ids])));
  return {
    thought: right(digits),
    plain: mean(right(plain).map(Number)),
    wellFormed: mean(said.map(({ ok }) => Number(ok))),
    exact: mean(said.map((one, i) => Number(one.ok && thoughtIsExact(befores[i]!, one.value)))),
  };
}

export async function evaluateThoughts(context: EvaluationContext): Promise<Evaluation> {
  const tasks = heldOutPositions(context.evaluationTasks);
  const greedy = await predicted(context, tasks, 'greedy', 0);
  const sampled: Awaited<ReturnType<typeof predicted>>[] = [];
  for (let draw = 0; draw < DRAWS; draw++)
    sampled.push(await predicted(context, tasks, `sampled/${draw}`, 1));
  const tallies = {
    accuracy: tallyOf(greedy.thought),
    sampled: tallyOfDraws(
      sampled.flatMap(({ thought }) => thought),
      tasks.length,
    ),
  };
  return evaluation(
    {
      n: tasks.length,
      accuracy: shareOf(tallies.accuracy),
      sampled: shareOf(tallies.sampled),
      formatRate: greedy.wellFormed,
      tallies,
    },
    {
      plain: greedy.plain,
      plainSampled: mean(sampled.map(({ plain }) => plain)),
      exactThoughts: greedy.exact,
      exactSampled: mean(sampled.map(({ exact }) => exact)),
    },
  );
}
