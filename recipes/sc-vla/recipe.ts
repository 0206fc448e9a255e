/** SC-VLA: a robot that forecasts its own progress, and is paid for how far the forecast moves. */
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { whiten } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { ECHO_SIGNS, echoSigns, returnOf } from '../../protocols/episode-credit.ts';
import { AGENT, GRID_CONTROLS, judgeGrid } from '../../protocols/grid-agent.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { BLIND, SEEN_FIGURES, seenRoles, seenRooms } from '../../protocols/seeing-agent.ts';
import { policyUpdate, smallSteps, withAdvantages } from '../../protocols/solver.ts';
import { distancesOf, openGrid } from '../../worlds/grids/play.ts';
import { denseRewards, progressItems, returnsOf, stateBefore } from './progress.ts';

/** The set that forecasts. */
const PROGRESS = 'progress';
/** Passes of it over a round's successes. */
const PASSES = 2;

const VARIANTS = {
  sparse: 'no forecast: the last turn alone is paid, for success',
  shuffled: 'control: forecasts change places among the turns of the round',
  ...BLIND,
} as const;

interface Episode {
  readonly task: string;
  readonly turns: readonly Sample[];
  readonly reward: number;
}

/** How well forecasts order states by their distance from the goal, by the oracle; absent where there is no order. States from which it is out of reach are left out. */
function foresightOf(
  episodes: readonly Episode[],
  forecasts: readonly (readonly number[])[],
  decode: LearnTools['decode'],
) {
  const known = episodes.flatMap(({ task, turns }, e) => {
    const distances = distancesOf(
      openGrid(task),
      turns.map(({ ids }) => decode(ids)),
    );
    return forecasts[e]!.flatMap((forecast, t) => {
      const distance = distances[t]!;
      return distance === null ? [] : [{ forecast, nearness: -distance }];
    });
  });
  const foresight = rankCorrelation(
    known.map(({ forecast }) => forecast),
    known.map(({ nearness }) => nearness),
  );
  return foresight === null ? {} : { foresight };
}

/** Forecasts [episodes][turns] that change places among all turns. */
function shuffled(forecasts: readonly (readonly number[])[], seed: string): number[][] {
  const all = new Random(`${seed}/forecasts`).shuffle(forecasts.flat());
  let at = 0;
  return forecasts.map((turns) => turns.map(() => all[at++]!));
}

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const episodes = groups.flatMap(({ task, samples }) =>
    episodesOf(samples).flatMap((turns): Episode[] => {
      const reward = returnOf(turns);
      return reward === null ? [] : [{ task, turns, reward }];
    }),
  );
  if (episodes.length === 0) return { updates: [] };
  const samples = episodes.flatMap(({ turns }) => turns);
  const found = await tools.values(PROGRESS, samples.map(stateBefore));
  let at = 0;
  const forecasts = episodes.map(({ turns }) => turns.map(() => found[at++]![0]!));
  const used = variant === 'shuffled' ? shuffled(forecasts, round.id) : forecasts;
  const returns = episodes.flatMap(({ turns, reward }, e) =>
    returnsOf(denseRewards(variant === 'sparse' ? turns.map(() => 0) : used[e]!, reward)),
  );
  const successes = episodes.filter(({ reward }) => reward === 1);
  return {
    updates: [
      ...updateOf(
        [
          {
            kind: 'value',
            role: AGENT,
            weight: 1,
            items: successes.flatMap(({ turns }) => progressItems(turns)),
          },
        ],
        { epochs: PASSES },
        PROGRESS,
      ),
      ...policyUpdate(AGENT, withAdvantages(samples, whiten(returns)), { ...ppoClip(), ...nearStart(0.001) }),
    ],
    figures: { ...echoSigns(groups), ...foresightOf(episodes, forecasts, tools.decode) },
  };
}

const optimizer = smallSteps({ learningRate: 1.4e-3, warmup: 10 });

export const scVla: WithoutSetup = {
  ...seenRooms,
  name: 'sc-vla',
  title: 'A robot in a drawn room, a stand-in for an arm: paid for the progress that it forecasts',
  paper: arXiv('2602.21633', 'Self-Correcting VLA: Online Action Refinement via Sparse World Imagination'),
  summary:
    'A robot sees a room and pushes a box onto its place. A head learns from its successes how far an episode has come, and the change of that forecast pays each turn. Only an adapter on the robot’s weights is trained.',
  method: {
    setting:
      'A robot sees a room of five by five cells as a picture of 40 × 40 pixels and pushes a box onto its place, in up to five turns of up to five moves; the shortest way has two to four. The start policy imitates robots that stray. The room stands in for the paper’s arm, and moves for motor commands.',
    roles:
      'The robot is the only role. It plays eight episodes in each of a round’s rooms. A second set of weights, with a head for one number, forecasts progress from what the robot has seen.',
    rewards:
      'A turn is paid the forecast after it minus the forecast before it; the last turn is paid 1 if the box is on its place and 0 if not.',
    credit:
      'The return of a turn is its reward and those after it, discounted by 0.95 a turn. Returns of a round, minus their mean and divided by their deviation, are the advantages.',
    objective:
      'The progress head is drawn to t/T before turn t of a successful episode of T turns (mean squared error). The robot has a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0, on a low-rank adapter of rank 8: a residual to the weights that imitation left.',
    schedule:
      'Each round trains the head in two passes over its successes, and the adapter in one over all episodes.',
  },
  differences: [
    'No arm and no physics: a drawn room and moves. Nothing is said about robots.',
    'The head that forecasts how the state will move is left out, and with it what it adds to the reward. The paper’s expression of its reward and its algorithm could not be checked.',
    'Progress is learnt from the run’s own successes, where the paper learns it from demonstrations first; the residual is an adapter and not a second policy.',
  ],
  figures: {
    ...ECHO_SIGNS,
    ...SEEN_FIGURES,
    foresight:
      'Spearman correlation of the forecasts before turns with how near the goal is, by the oracle; 0 is chance.',
  },
  rewards: {
    success: { usesGold: true, description: '1 for an episode that reaches its goal' },
    ...GRID_CONTROLS,
  },
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer, adapter: { rank: 8, alpha: 16 } },
    [PROGRESS]: { optimizer, head: { kind: 'value' } },
  },
  roles: seenRoles('turn'),
  judge: async (context, groups) => judgeGrid(context, groups, ({ success }) => Number(success)),
  learn,
};
