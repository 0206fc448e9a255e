/** JaxMARL: independent PPO on a vectorised grid for two agents. */

import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type {
  LearnTools,
  PolicyItem,
  RoundRecords,
  TrainingPlan,
  ValuePart,
} from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { gae, grpo } from '../../core/rl/estimators/index.ts';
import { mean, whiten } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { turnRewards } from '../../protocols/episode-credit.ts';
import { examDeals, GAME_FIGURES } from '../../protocols/evaluate/games.ts';
import { gameRound } from '../../protocols/game-round.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { writtenBy } from '../../protocols/samples-of-role.ts';
import { SEAT_FIGURES, seatFigures, seatItems, seatUpdates } from '../../protocols/seat-credit.ts';
import { smallSteps } from '../../protocols/solver.ts';
import { openMatch } from '../../worlds/games/match.ts';
import { meetParts } from '../../worlds/games/reading.ts';
import { bestReturn, meet } from '../../worlds/grids/meet.ts';

const CRITIC = 'critic';
const GAMMA = 0.99;
const LAMBDA = 0.95;
const AGENTS = meet.seats;
const DEALS = 50;

/** Advantages of an agent's turns by GAE over the values before them, whitened over the batch, and what its critic is to say before each turn. */
async function byCritic(
  groups: RoundRecords['groups'],
  role: string,
  { values }: Pick<LearnTools, 'values'>,
): Promise<{ readonly items: PolicyItem[]; readonly targets: ValuePart['items'] }> {
  const episodes = groups
    .flatMap((group) => episodesOf(writtenBy(group, role).samples))
    .flatMap((turns) => {
      const paid = turnRewards(turns);
      return paid ? [{ turns, paid }] : [];
    });
  const samples = episodes.flatMap(({ turns }) => turns);
  const known = samples.length ? await values(CRITIC, samples) : [];
  let at = 0;
  const credit = episodes.flatMap(({ turns, paid }) => {
    // The value of a turn is that before its first token.
    const before = turns.map((_, t) => known[at + t]![0]!);
    at += turns.length;
    const { advantages, returns } = gae({ rewards: paid, values: before }, { gamma: GAMMA, lambda: LAMBDA });
    return turns.map((sample, t) => ({ sample, advantage: advantages[t]!, value: returns[t]! }));
  });
  const white = whiten(credit.map(({ advantage }) => advantage));
  return {
    items: credit.map(({ sample }, i) => ({ sample, advantage: white[i]! })),
    targets: credit.map(({ sample, value }) => ({
      ...sample,
      targets: sample.ids.map(() => value),
      weights: sample.ids.map((_, t) => Number(t === 0)),
    })),
  };
}

const HOW = {
  ...ppoClip(),
  entropy: 0.01,
} as const;

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const figures = seatFigures(groups, AGENTS);
  if (round.settings.variant === 'no-critic')
    return {
      updates: seatUpdates(
        seatItems(groups, AGENTS, { by: 'turn', gamma: GAMMA, compare: 'seat', within: 'deal' }, grpo),
        jaxmarl.roles,
        HOW,
      ),
      figures,
    };
  const credited = new Map<string, PolicyItem[]>();
  const parts: ValuePart[] = [];
  for (const role of AGENTS) {
    const { items, targets } = await byCritic(groups, role, tools);
    credited.set(role, items);
    if (targets.length) parts.push({ kind: 'value', role, weight: 1, items: targets });
  }
  return {
    updates: [
      ...(parts.length ? [{ set: CRITIC, parts }] : []),
      ...seatUpdates(credited, jaxmarl.roles, HOW),
    ],
    figures,
  };
}

/** Mean return of the shortest ways of the held-out worlds. */
const bestOf = (tasks: readonly string[]): number =>
  mean(tasks.map((task) => bestReturn(openMatch([meet], task).state as Parameters<typeof bestReturn>[0])));

export const jaxmarl: WithoutSetup = {
  name: 'jaxmarl',
  title: 'Independent PPO for two agents on a vectorised grid',
  paper: arXiv('2311.10090', 'JaxMARL: Multi-Agent RL Environments and Algorithms in JAX'),
  summary:
    'Two agents move at once on a grid of four by four cells and are paid when both stand on the two goals. Each is trained by PPO with a critic on its own turns, as if the other were a part of the world.',
  method: {
    setting:
      'Two agents and two goals on different cells of a grid of 4 x 4. Both move at the same time, up to eight steps; two who want one cell stay. The start policy makes every second move towards a goal and the others at random.',
    roles:
      'Two agents, played by one policy. Each sees the board with itself marked, and not what the other is about to do.',
    rewards:
      'Each step costs each agent 0.05. When both goals are reached both get 1, and the episode is over.',
    credit:
      'Generalised advantage estimation over an agent’s own turns, γ = 0.99, λ = 0.95, with the value of the critic before each turn, whitened over the agent’s turns of the round.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and an entropy bonus of weight 0.01; the critic is fitted to the returns by squared error.',
    schedule:
      'Each round plays fresh worlds and trains critic and policy once. Agents share their weights, as the paper’s baselines do.',
  },
  needsOfTasks: { datum: 'turns', which: 'a game of several seats' },
  differences: [
    'One grid for two agents in place of eleven environments, and independent PPO alone: no QMIX, no MAPPO, no recurrent networks.',
    'The environment steps batches in typed arrays on a CPU. What is gained by batches is in `npm run bench -- meet`; nothing runs on an accelerator.',
    'The policy is a language model that reads the board as text and writes its move, so that sampling takes nearly all of the time.',
  ],
  figures: {
    ...SEAT_FIGURES,
    ...GAME_FIGURES,
    best: 'Mean return of an agent in the same held-out worlds where both take the shortest way.',
  },
  variants: {
    'no-critic':
      'no critic: discounted rewards to go, standardised over the agent’s turns in the episodes of one world',
  },
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 5e-4, warmup: 5 }) },
    [CRITIC]: { optimizer: smallSteps({ learningRate: 5e-3, warmup: 5 }), head: { kind: 'value' } },
  },
  ...gameRound({
    games: [meet],
    deals: DEALS,
    roles: Object.fromEntries(
      AGENTS.map((agent) => [agent, { description: 'moves on the grid', speaksAs: 'player' }]),
    ),
    parts: meetParts,
    cells: {
      p: 'this agent',
      q: 'this agent on a goal',
      o: 'the other agent',
      e: 'the other agent on a goal',
      g: 'goal',
      '.': 'floor',
    },
    examine: async (context) => ({
      best: await context.once('best', async () => {
        const { heldOut, most } = context.evaluationTasks;
        return bestOf(examDeals(meet, heldOut, Math.min(DEALS, most)));
      }),
    }),
  }),
  learn,
};
