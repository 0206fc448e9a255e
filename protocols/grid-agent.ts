/** An agent in grid worlds: its episodes, their outcomes, and its success in worlds that it was not trained on. */
import { episodesOf, type Played, playEpisodes } from '../core/episodes/play-episodes.ts';
import { deriveId } from '../core/random.ts';
import type { RewardInfo } from '../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../core/recipe/split.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { shareOf, tallyOf } from '../core/statistics/change.ts';
import { agentPrompt, parseActions } from '../worlds/environment.ts';
import {
  agentSees,
  EXAM_WORLDS,
  examWorld,
  type GridKind,
  type GridOutcome,
  gridOutcome,
  MAX_GRID_TURNS,
  openGrid,
} from '../worlds/grids/play.ts';
import { withEpisodeRewards } from './episode-credit.ts';
import { coinOf, sealedGold } from './gold.ts';

export const AGENT = 'agent';

/** How an observation is shown to the agent: as it is, or as a picture. */
export type Sight = (observation: string) => string;
const asText: Sight = (observation) => observation;

const play = (
  context: RoundContext,
  episodes: readonly { readonly id: string; readonly task: string }[],
  see: Sight,
  { heldOut = false, temperature }: { heldOut?: boolean; temperature?: number } = {},
) =>
  playEpisodes(
    context,
    AGENT,
    episodes.map(({ id, task }) => {
      const game = openGrid(task, heldOut);
      const situation = game.start();
      return { id, prompt: agentPrompt(see(situation.observation)), world: { game, situation } };
    }),
    {
      maxTurns: MAX_GRID_TURNS,
      answer: ({ game, situation }, text) => {
        const next = game.turn(situation, text);
        const parsed = parseActions(text);
        return {
          world: { game, situation: next },
          reply: next.done ? null : agentSees(see(next.observation)),
          outcome: parsed.ok ? 'ok' : parsed.reason,
        };
      },
      ...(temperature === undefined ? {} : { sampling: { temperature } }),
    },
  );

/** Plays `round.settings.groupSize` episodes in each task's world; a group's samples are the turns of all of them. */
export async function rollGrid(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  see: Sight = asText,
): Promise<RolloutGroup[]> {
  const { groupSize } = context.round.settings;
  const played = await play(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: groupSize }, (_, i) => ({ id: rolloutId(group, AGENT, i), task })),
    ),
    see,
  );
  return tasks.map((task, t) => ({
    round: context.round.id,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
  }));
}

/** The rewards that are controls: they know nothing of the goal. */
export const GRID_CONTROLS: Readonly<Record<'format' | 'random', RewardInfo>> = {
  format: {
    usesGold: false,
    description: 'control: the share of an episode’s turns that keep to the grammar',
  },
  random: { usesGold: false, description: 'control: a fair coin' },
};

/** An episode of a group, told again from its texts. */
export interface GridEpisode {
  readonly turns: readonly Sample[];
  readonly texts: readonly string[];
  readonly outcome: GridOutcome;
}

/** Pays the episodes of each group what `earned` says of all of them [episodes], or by the control that the run selects. An answer is exact where the episode succeeded. */
export const judgeGridTogether = (
  { recipe, round, tokenizer }: Pick<RoundContext, 'recipe' | 'round' | 'tokenizer'>,
  groups: readonly RolloutGroup[],
  earned: (episodes: readonly GridEpisode[], group: RolloutGroup) => readonly number[],
): ScoredGroup[] =>
  groups.map((group) => {
    const episodes = episodesOf(group.samples).map((turns): GridEpisode => {
      const texts = turns.map(({ ids }) => tokenizer.decode(ids));
      return { turns, texts, outcome: gridOutcome(openGrid(group.task), texts) };
    });
    const { rewardFunction } = round.settings;
    const rewards =
      rewardFunction === 'random'
        ? episodes.map(({ turns }) => Number(coinOf(turns[0]!.id)))
        : rewardFunction === 'format'
          ? episodes.map(({ turns }) => mean(turns.map(({ outcome: kept }) => Number(kept === 'ok'))))
          : earned(sealedGold({ recipe, round }, episodes)(), group);
    const rated = episodes.map(({ turns, outcome }, e) => ({
      turns,
      rewards: { reward: rewards[e]! },
      exact: outcome.success,
    }));
    return withEpisodeRewards(group, rated);
  });

/** Pays each episode what `earned` says of its outcome. */
export const judgeGrid = (
  context: RoundContext,
  groups: readonly RolloutGroup[],
  earned: (outcome: GridOutcome) => number,
): ScoredGroup[] =>
  judgeGridTogether(context, groups, (episodes) => episodes.map(({ outcome }) => earned(outcome)));

const worldsOf = (kind: GridKind, { most }: EvaluationTasks) =>
  Array.from({ length: Math.min(EXAM_WORLDS, most) }, (_, i) => examWorld(kind, i));

/** Success on held-out worlds, greedy and sampled, and by kind. */
export async function evaluateGrid(
  context: EvaluationContext,
  kinds: readonly GridKind[],
  see: Sight = asText,
): Promise<Evaluation> {
  const { heldOut } = context.evaluationTasks;
  const figures: Record<string, number> = {};
  const successes: Record<'greedy' | 'sampled', boolean[]> = { greedy: [], sampled: [] };
  const wellFormedTurns: number[] = [];
  for (const kind of kinds) {
    const tasks = worldsOf(kind, context.evaluationTasks).map((task) => ({
      id: deriveId(task, 'evaluation'),
      task,
    }));
    for (const [name, temperature] of [
      ['greedy', 0],
      ['sampled', 1],
    ] as const) {
      const played = await play(context, tasks, see, { heldOut, temperature });
      const outcomes = played.map(({ turns }: Played<unknown>, i) =>
        gridOutcome(
          openGrid(tasks[i]!.task, heldOut),
          turns.map(({ ids }) => context.tokenizer.decode(ids)),
        ),
      );
      figures[`${kind}-${name}`] = mean(outcomes.map(({ success }) => Number(success)));
      successes[name].push(...outcomes.map(({ success }) => success));
      if (name === 'sampled')
        wellFormedTurns.push(...outcomes.map(({ wellFormed, turns }) => wellFormed / turns));
    }
  }
  const tallies = { accuracy: tallyOf(successes.greedy), sampled: tallyOf(successes.sampled) };
  return evaluation(
    {
      n: successes.greedy.length,
      accuracy: shareOf(tallies.accuracy),
      sampled: shareOf(tallies.sampled),
      formatRate: mean(wellFormedTurns),
      tallies,
    },
    figures,
  );
}
