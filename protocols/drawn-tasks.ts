/**
 * Tasks in place of a proposer: drawn anew for each round, none twice, or taken in turn from a set that is the same in every run. That none is held
 * out is up to the generator that is passed.
 */
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { drawUntil } from '../core/recipe/split.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { Proposals } from '../core/schema/sample.ts';
import { admit } from './proposals.ts';

/** Admits tasks that no proposer wrote, in this order; a task may come more than once, and is then a group each time. */
export const admitTasks = (round: Pick<RoundSpec, 'id'>, tasks: readonly string[]): Proposals => ({
  round: round.id,
  samples: [],
  tasks: admit(
    round,
    tasks.map((task) => ({ task, proposal: null })),
  ),
});

/** Draws `count` tasks, by default as many as the run's settings say. `draw` is told how many have been drawn already. */
export function drawnTasks(
  { round }: Pick<RoundContext, 'round'>,
  draw: (random: Random, index: number) => string,
  count = round.settings.tasks,
): Proposals {
  const random = new Random(`${round.id}/tasks`);
  const drawn = new Set<string>();
  while (drawn.size < count)
    drawn.add(
      drawUntil(
        () => draw(random, drawn.size),
        (task) => !drawn.has(task),
      ),
    );
  return admitTasks(round, [...drawn]);
}

/** `count` different tasks, the same in every run; they are drawn when they are first asked for. */
export function fixedTasks(
  seed: string,
  count: number,
  draw: (random: Random) => string,
): () => readonly string[] {
  let fixed: readonly string[] | undefined;
  return () => {
    if (!fixed) {
      const random = new Random(seed);
      const drawn = new Set<string>();
      while (drawn.size < count) drawn.add(draw(random));
      fixed = [...drawn];
    }
    return fixed;
  };
}

/** The next tasks of a walk through some tasks, which is shuffled anew for each pass. */
export function nextTasks({ run, index, settings }: RoundSpec, tasks: readonly string[]): string[] {
  return Array.from({ length: settings.tasks }, (_, i) => {
    const at = (index - 1) * settings.tasks + i;
    const around = Math.floor(at / tasks.length);
    return new Random(`${run}/around/${around}`).shuffle(tasks)[at % tasks.length]!;
  });
}
