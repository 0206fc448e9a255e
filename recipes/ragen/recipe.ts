/** RAGEN: an agent in small worlds, paid for whole episodes of several turns (StarPO). */
import type { RoundRecords, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { arXiv, type EpisodeMethod, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import {
  ECHO_SIGNS,
  echoSigns,
  grpoByEpisode,
  worldsAtRandom,
  worldsThatDiffer,
} from '../../protocols/episode-credit.ts';
import { AGENT, evaluateGrid, GRID_CONTROLS, judgeGrid, rollGrid } from '../../protocols/grid-agent.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { policyPart, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { LAKE_CELLS } from '../../worlds/grids/lake.ts';
import { gridTask, TURN_TOKENS } from '../../worlds/grids/play.ts';
import { gridEnding, gridParts, gridTitle } from '../../worlds/grids/reading.ts';
import { hostedGrid } from '../../worlds/hosted/grids.ts';
import { STOP } from '../../worlds/worked.ts';

interface Settings {
  /** The share of a round's worlds that is trained on: those whose returns vary most, or as many at random. */
  readonly share: number;
  readonly atRandom?: boolean;
  readonly clipHigh: number;
  readonly kl: number;
  readonly entropy: number;
  /** Passes over a round's episodes. */
  readonly epochs: number;
}

const STABLE: Settings = { share: 0.25, clipHigh: 0.28, kl: 0, entropy: 1e-3, epochs: 1 };

const SETTINGS: Readonly<Record<string, Settings>> = {
  '': STABLE,
  'filter-50': { ...STABLE, share: 0.5 },
  'filter-100': { ...STABLE, share: 1 },
  'random-25': { ...STABLE, atRandom: true },
  starpo: { share: 1, clipHigh: 0.2, kl: 1e-3, entropy: 0, epochs: 1 },
  reuse: { ...STABLE, epochs: 5 },
};
/**
 * Optimiser steps where all worlds of a round are trained on; where a share is, there are proportionally fewer, so that every step trains on the same
 * number of worlds.
 */
const STEPS = 8;
/** The cost of an action, whatever its result. */
const ACTION_COST = 0.1;

/** One update by the episodes of the chosen worlds, which `role` wrote. */
function updateBy({ round, groups }: Pick<RoundRecords, 'round' | 'groups'>, role: string): Update {
  const { share, atRandom, clipHigh, kl, entropy, epochs } = SETTINGS[round.settings.variant ?? '']!;
  const kept = new Set(atRandom ? worldsAtRandom(groups, share, round.id) : worldsThatDiffer(groups, share));
  return {
    set: 'main',
    epochs,
    parts: [
      policyPart(role, grpoByEpisode(groups.filter(({ group }) => kept.has(group))), {
        ...ppoClip(clipHigh),
        entropy,
        ...(kl ? nearStart(kl) : {}),
      }),
    ],
  };
}

const shareOf = ({ settings }: RoundRecords['round']): number => SETTINGS[settings.variant ?? '']!.share;

const learn = (records: RoundRecords): TrainingPlan => ({
  updates: [{ ...updateBy(records, AGENT), minibatches: STEPS * shareOf(records.round) }],
  figures: echoSigns(records.groups),
});

const { success: _, ...AGENT_SIGNS } = ECHO_SIGNS;

const described = {
  title: 'StarPO-S: multi-turn agents, paid for episodes, trained where returns differ',
  paper: arXiv(
    '2504.20073',
    'RAGEN: Understanding Self-Evolution in LLM Agents via Multi-Turn Reinforcement Learning',
  ),
  variants: {
    'filter-50': 'StarPO-S on half of the worlds',
    'filter-100': 'StarPO-S on all worlds',
    'random-25': 'StarPO-S on a quarter of the worlds at random: no filter, as many steps',
    starpo: 'StarPO: all worlds, KL weight 0.001, ratios in [0.8, 1.2], no entropy bonus',
    reuse: 'StarPO-S that goes through each round’s episodes five times',
  },
  sets: trainedSolver({ learningRate: 1.4e-3, warmup: 10, minibatches: STEPS }),
} satisfies Partial<WithoutSetup>;

const inEpisodes: EpisodeMethod = {
  ...described,
  summary:
    'All answers of an agent’s episode are paid its return. Only the quarter of the tasks whose episodes differ most in return is trained on.',
  method: {
    setting:
      'Programs outside the mesh hold the episodes of tasks from files, in as many turns as they like.',
    roles: 'The solver answers agents, which hold several episodes of each task.',
    rewards: 'What the agent posts at the end of its episode, on all answers of it.',
    credit:
      'The advantage of an episode is its return minus the mean of its task, divided by the deviation. Only the quarter of the tasks whose returns vary most is trained on: where all fail alike, the division would make small differences count as much as success does elsewhere.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens, with an entropy bonus of weight 0.001 and no KL term. The variant `starpo` has none of these stabilisers.',
    schedule: 'Each round goes once over the chosen tasks.',
  },
  differences: [
    'The group is the baseline (the paper’s GRPO variant); its PPO variant with a critic is left out.',
  ],
  figures: AGENT_SIGNS,
  learn: (records) => {
    // What succeeded, nobody has told the mesh: held-out episodes have a bound for it.
    const { success: _, ...signs } = echoSigns(records.groups);
    return { updates: [updateBy(records, SOLVER)], figures: signs };
  },
};

export const ragen: WithoutSetup = {
  ...described,
  inEpisodes,
  name: 'ragen',
  summary:
    'One agent crosses frozen lakes in up to five turns of up to five moves. All turns of an episode are paid its return: 1 for the goal, less 0.1 an action. Only the quarter of the worlds whose episodes differ most in return is trained on.',
  method: {
    setting:
      'An agent crosses frozen lakes of four by four fields, drawn anew for each task, in up to five turns of up to five moves each. The ice does not slip.',
    roles:
      'The agent is the only role. It plays eight episodes in each of a round’s worlds; after each turn it reads the new state.',
    rewards:
      'An episode returns 1 for the goal, less 0.1 for every action and for every refused one. All turns of an episode carry its return.',
    credit:
      'The advantage of an episode is its return minus the mean of the world’s episodes, divided by their deviation. Where all episodes of a world fail, returns still differ by how soon they do, and the division makes these small differences count as much as success does elsewhere: training then collapses to one answer, repeated in every world. StarPO-S therefore trains only on the quarter of the worlds whose returns differ most.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens, with an entropy bonus of weight 0.001 and no KL term (StarPO-S). The variant `starpo` has none of these stabilisers.',
    schedule:
      'Each round goes once over the chosen worlds. Optimiser steps have the same size whatever share of the worlds is trained on.',
  },
  needsOfTasks: { datum: 'turns', which: 'an environment of several turns' },
  differences: [
    'The worlds are lakes of 4 x 4 whose ice does not slip; no bandit, no Sokoban, no WebShop.',
    'Answers have no thoughts: at this size they would be templates from the first.',
    'Every action costs 0.1, as in the paper’s Sokoban; its lakes have no such cost.',
    '16 worlds of 8 episodes a round, the paper’s 8 of 16. Steps are of one size, so that whoever trains on all worlds takes four times as many a round as who trains on a quarter.',
    'The group is the baseline (the paper’s GRPO variant); its PPO variant with a critic is left out.',
  ],
  figures: {
    ...ECHO_SIGNS,
    'lake-greedy': 'Share of held-out lakes whose goal is reached, greedy.',
    'lake-sampled': 'Share of held-out lakes whose goal is reached where turns are sampled.',
  },
  taskName: 'lake',
  stop: STOP,
  rewards: {
    return: {
      usesGold: true,
      description: 'the episode’s return: 1 for the goal, -0.1 for each action and for each that is refused',
    },
    ...GRID_CONTROLS,
  },
  roles: { [AGENT]: role('plays', TURN_TOKENS, { shown: 'the board' }) },
  propose: async (context) =>
    drawnTasks(context, (random) => gridTask('lake', deriveId('world', random.uint32()))),
  rollOut: rollGrid,
  judge: async (context, groups) =>
    judgeGrid(context, groups, ({ total, actions }) => total - ACTION_COST * actions),
  learn,
  evaluate: (context) => evaluateGrid(context, ['lake']),
  hosted: [hostedGrid('lake'), hostedGrid('push')],
  describe: { parts: (_, text) => gridParts(text), cells: LAKE_CELLS, title: gridTitle, ending: gridEnding },
};
