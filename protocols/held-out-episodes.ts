/**
 * Held-out episodes: every few rounds agents hold episodes of held-out tasks beside those of the round. Nothing is trained on them; their figures are a
 * curve of what the policy does with tools and over several turns, which the mesh cannot ask by itself.
 */
import * as v from 'valibot';
import { episodesOf } from '../core/episodes/play-episodes.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { mean } from '../core/rl/statistics.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { admitTasks } from '../worlds/drawn-tasks.ts';
import type { FileTask } from '../worlds/file/task.ts';
import { writeTask } from '../worlds/questions/task-text.ts';
import { returnOf } from './episode-credit.ts';
import { writtenBy } from './samples-of-role.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

export const heldOutEpisodes = v.strictObject({
  /** How many held-out tasks are asked, the first of them, each in as many episodes as a group has. */
  tasks: count,
  /** They are asked in the first round and in every n-th after it. */
  every: v.optional(count, 1),
  /** The reward from which on an episode succeeded. */
  success: v.optional(v.pipe(v.number(), v.finite()), 0.5),
});
export type HeldOutEpisodes = v.InferOutput<typeof heldOutEpisodes>;

/** What the figures of `episodeFigures` mean, by their names. */
export const EPISODE_FIGURES = {
  success: 'Share of the episodes whose reward reaches the bound of success, by default 0.5.',
  return: 'Mean reward of the episodes.',
  turns: 'Mean number of answers in an episode.',
  tokens: 'Mean number of tokens that the policy writes in an episode.',
  episodes: 'Number of episodes that have a reward: the others are missing data.',
} as const;
export type EpisodeFigures = Record<keyof typeof EPISODE_FIGURES, number>;

/** The figures of a seat's episodes that have a reward; null where none has. */
export function episodeFigures(
  groups: readonly Pick<ScoredGroup, 'samples'>[],
  success: number,
): EpisodeFigures | null {
  const episodes = groups.flatMap(({ samples }) =>
    episodesOf(samples).flatMap((turns) => {
      const reward = returnOf(turns);
      return reward === null ? [] : [{ turns, reward }];
    }),
  );
  if (episodes.length === 0) return null;
  return {
    success: mean(episodes.map(({ reward }) => Number(reward >= success))),
    return: mean(episodes.map(({ reward }) => reward)),
    turns: mean(episodes.map(({ turns }) => turns.length)),
    tokens: mean(episodes.map(({ turns }) => turns.reduce((sum, { ids }) => sum + ids.length, 0))),
    episodes: episodes.length,
  };
}

/** The names of the figures in a round's report. */
const NAME = 'heldOut';

/** The recipe, whose episodes agents hold, with held-out episodes. */
export function withHeldOutEpisodes(
  recipe: Recipe,
  tasks: readonly FileTask[],
  { tasks: asked, every, success }: HeldOutEpisodes,
): Recipe {
  const held = tasks.slice(0, asked).map(writeTask);
  const all = new Set(held);
  const isHeldOut = (task: string): boolean => all.has(task);
  const { seats, taskView } = recipe.agent!;
  const figuresOf = (groups: readonly ScoredGroup[]): Record<string, number> =>
    Object.fromEntries(
      seats.flatMap((seat) => {
        const figures = episodeFigures(
          groups.map((group) => writtenBy(group, seat)),
          success,
        );
        const of = seats.length > 1 ? `.${seat}` : '';
        return Object.entries(figures ?? {}).map(([name, value]) => [`${NAME}.${name}${of}`, value]);
      }),
    );
  return {
    ...recipe,
    isMeasured: isHeldOut,
    figures: {
      ...recipe.figures,
      ...Object.fromEntries(
        Object.entries(EPISODE_FIGURES).map(([name, meaning]) => [
          `${NAME}.${name}`,
          `Of held-out tasks, by the version that sampled the round. ${meaning}`,
        ]),
      ),
    },
    agent: {
      seats,
      taskView: (task) => {
        const view = taskView(task);
        return isHeldOut(task) ? { ...(view as object), heldOut: true } : view;
      },
    },
    propose: async (context) => {
      const proposals = await recipe.propose(context);
      const { round } = context;
      return (round.index - 1) % every
        ? proposals
        : admitTasks(round, [...proposals.tasks.map(({ task }) => task), ...held]);
    },
    learn: async (records, tools) => {
      const groups = records.groups.filter(({ task }) => !isHeldOut(task));
      const plan = await recipe.learn({ ...records, groups }, tools);
      const figures = figuresOf(records.groups.filter(({ task }) => isHeldOut(task)));
      return { ...plan, figures: { ...plan.figures, ...figures } };
    },
  };
}
