/**
 * Rollouts of the solver, or of the role that answers tasks in its place: G of each task. A group's prompt is computed once, and several groups share
 * one batch.
 */
import type { RoundContext } from '../core/recipe/round-context.ts';
import { rendered, type TaskFamily } from '../core/recipe/task-family.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../core/schema/sample.ts';
import { samplePrompts } from './sample-prompts.ts';

/** The ids of rollouts number `from` to `from + count - 1` of a group. */
export const rolloutIds = (group: string, role: string, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => rolloutId(group, role, from + i));

/** The answers to a task that are wanted; a group may want answers of several kinds. */
export interface WantedAnswers {
  readonly group: string;
  readonly task: string;
  /** Default: the family's prompt for the task. */
  readonly prompt?: string;
  /** What is answered, where that is not the task of the group: recorded with the answers. */
  readonly about?: string;
  readonly count: number;
  /** How many answers of this role the group already has; default 0. */
  readonly from?: number;
}

/** Samples answers of a role, [wanted][count], in one batch. */
export function answer(
  given: TaskFamily,
  context: RoundContext,
  role: string,
  wanted: readonly WantedAnswers[],
): Promise<Sample[][]> {
  const family = rendered(given, context);
  return samplePrompts(
    context,
    role,
    wanted.map(({ group, task, prompt = family.solverPrompt(task), about, count, from }) => ({
      prompt,
      about,
      sampleIds: rolloutIds(group, role, count, from),
      parse: (text) => family.parseSolution(task, text),
    })),
  );
}

/** `count`: answers of the role to each task. */
export async function rollOut(
  { family }: { readonly family: TaskFamily },
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  role = 'solver',
  count = context.round.settings.groupSize,
): Promise<RolloutGroup[]> {
  const { round } = context;
  const samples = await answer(
    family,
    context,
    role,
    tasks.map(({ group, task }) => ({ group, task, count })),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}
