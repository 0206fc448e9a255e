/**
 * Tasks in place of a proposer: drawn anew for each round, none twice, or taken in turn from a set that is the same in every run. That none is held
 * out is up to the generator that is passed.
 */
import { RollmeshError } from '../core/errors.ts';
import type { DrawingContext, Fitting, Game } from '../core/game/game.ts';
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { drawUntil } from '../core/recipe/split.ts';
import type { TaskFamily } from '../core/recipe/task-family.ts';
import { admit } from '../core/round/admit.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { Proposals } from '../core/schema/sample.ts';

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

/** Tasks as the family draws them, none held out. */
export const familyTasks =
  (family: TaskFamily) =>
  (context: Pick<RoundContext, 'round'>, count?: number): Proposals =>
    drawnTasks(
      context,
      (random) =>
        drawUntil(
          () => family.random(random),
          (task) => !family.isHeldOut(task),
        ),
      count,
    );

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

/** The tasks, and a record of what was left out. Throws `questions.too-long` where no task is left. */
export function withLeftOut(
  { contextLength }: Pick<RoundContext, 'contextLength'>,
  proposals: Proposals,
  leftOut: Fitting['leftOut'],
): Proposals {
  if (leftOut.length === 0) return proposals;
  if (proposals.tasks.length) return { ...proposals, leftOut: [...leftOut] };
  const shortest = Math.min(...leftOut.map(({ tokens }) => tokens));
  throw new RollmeshError(
    'give-up',
    'questions.too-long',
    `None of the ${leftOut.length} questions fits the policy: the shortest could reach ${shortest} tokens.`,
    {
      expected: `at most ${contextLength}, question and answer together`,
      next: 'Lower --set maxNew, shorten the questions, or train a policy with more positions.',
    },
  );
}

/** The next of the held-out tasks that fit, for training at test time. */
export function nextTests(
  { fitting }: Pick<Game, 'fitting'>,
  context: DrawingContext,
  tests: readonly string[],
): Proposals {
  const { round } = context;
  if (!fitting) return admitTasks(round, nextTasks(round, tests));
  const { fits, leftOut } = fitting(context);
  const fit = tests.filter(fits);
  return withLeftOut(context, admitTasks(round, fit.length ? nextTasks(round, fit) : []), leftOut);
}
