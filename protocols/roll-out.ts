/** The solver, or whoever answers tasks in its stead: G rollouts of each. The prompt is computed once a group; several groups share one batch. */
import { type RoundContext, sampleOf } from '../core/round-context.ts';
import { rolloutId } from '../core/sample-ids.ts';
import type { AdmittedTask, RolloutGroup } from '../core/schema/sample.ts';
import { rendered, type TaskFamily } from '../core/task-family.ts';

export async function rollOut(
  { family: given }: { readonly family: TaskFamily },
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  role = 'solver',
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const family = rendered(given, context);
  const prompts = tasks.map((task) => ({
    ids: tokenizer.encode(family.solverPrompt(task.task)),
    sampleIds: Array.from({ length: round.settings.groupSize }, (_, i) => rolloutId(task.group, role, i)),
  }));
  const completions = await context.generate(role, prompts);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: completions[t]!.map((completion, i) => {
      const parsed = family.parseSolution(task.task, tokenizer.decode(completion.ids));
      const outcome = !completion.stopped ? 'cut-off' : parsed.ok ? 'ok' : parsed.reason;
      return sampleOf(context, role, prompts[t]!.sampleIds[i]!, prompts[t]!.ids, completion, outcome);
    }),
  }));
}
