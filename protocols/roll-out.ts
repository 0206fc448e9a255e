/** The solver, or whoever answers tasks in its stead: G rollouts of each. The prompt is computed once a group; several groups share one batch. */
import type { RoundContext } from '../core/round-context.ts';
import { rolloutId } from '../core/sample-ids.ts';
import type { AdmittedTask, RolloutGroup } from '../core/schema/sample.ts';
import { rendered, type TaskFamily } from '../core/task-family.ts';
import { samplePrompts } from './sample-prompts.ts';

/** The ids of rollouts number `from` to `from + count - 1` of a group. */
export const rolloutIds = (group: string, role: string, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => rolloutId(group, role, from + i));

export async function rollOut(
  { family: given }: { readonly family: TaskFamily },
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  role = 'solver',
): Promise<RolloutGroup[]> {
  const { round } = context;
  const family = rendered(given, context);
  const samples = await samplePrompts(
    context,
    role,
    tasks.map(({ group, task }) => ({
      prompt: family.solverPrompt(task),
      sampleIds: rolloutIds(group, role, round.settings.groupSize),
      parse: (text) => family.parseSolution(task, text),
    })),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}
