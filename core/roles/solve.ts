/** The solver, or whoever answers tasks in its stead: G rollouts of each. The prompt is computed once a group; several groups share one batch. */
import { rolloutId } from '../sample-ids.ts';
import type { AdmittedTask, RolledGroup } from '../schema/sample.ts';
import { type Stage, sampleOf } from './stage.ts';
import type { ThreeRoles } from './three-role-game.ts';

export async function solve(
  { family }: Pick<ThreeRoles, 'family'>,
  stage: Stage,
  tasks: readonly AdmittedTask[],
  role = 'solver',
): Promise<RolledGroup[]> {
  const { round, tokenizer } = stage;
  const prompts = tasks.map((task) => ({
    ids: tokenizer.encode(family.solverPrompt(task.task)),
    sampleIds: Array.from({ length: round.settings.group }, (_, i) => rolloutId(task.group, role, i)),
  }));
  const completions = await stage.generate(role, prompts);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: completions[t]!.map((completion, i) => {
      const reading = family.readSolution(task.task, tokenizer.decode(completion.ids));
      const outcome = !completion.stopped ? 'cut-off' : reading.ok ? 'ok' : reading.reason;
      return sampleOf(stage, role, prompts[t]!.sampleIds[i]!, prompts[t]!.ids, completion, outcome);
    }),
  }));
}
