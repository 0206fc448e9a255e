/** Tasks from a fixed generator instead of a proposer: seeded by the round, none twice, none held out (the generator's own promise). */
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/round-context.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { Proposals } from '../core/schema/sample.ts';
import { drawUntil } from '../core/split.ts';
import { admit } from './proposals.ts';

/** Tasks that nobody proposed, in this order; one may come more than once, as a group each. */
export const admitTasks = (round: Pick<RoundSpec, 'id'>, tasks: readonly string[]): Proposals => ({
  round: round.id,
  samples: [],
  tasks: admit(
    round,
    tasks.map((task) => ({ task, proposal: null })),
  ),
});

/** `count` tasks, as many as the run's settings say if it is not given; `draw` is told how many there are already. */
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
