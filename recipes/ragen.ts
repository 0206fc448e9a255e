/**
 * RAGEN (Wang et al. 2025): an agent in small worlds, paid for whole episodes of several turns (StarPO). Its finding is a collapse,
 * the echo trap: what is paid rises, then the variety of the answers dies, gradients grow and success falls. StarPO-S holds it off:
 *
 *     train on the groups whose returns differ most, no KL, a wider clip upwards, an entropy bonus
 *
 *   return      sum of the episode's rewards: 1 for the goal, -0.1 for every refused action; the same for all its turns
 *   advantage   (return - mean)/σ over the episodes of one world (the paper's GRPO variant)
 */
import { deriveId, Random } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import { groupsOfLargestDeviation } from '../core/rl/group-filter.ts';
import { mean } from '../core/rl/statistics.ts';
import { drawnTasks } from '../core/roles/drawn-tasks.ts';
import { echoSigns, grpoByEpisode, returnOf } from '../core/roles/episode-credit.ts';
import { episodesOf } from '../core/roles/episodes.ts';
import { coinOf, sealedGold } from '../core/roles/gold.ts';
import { AGENT, examineGrid, rollGrid, scoreGrid, TURN_TOKENS } from '../core/roles/grid-agent.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { gridTask } from '../core/tasks/grids/play.ts';
import { STOP } from '../core/tasks/worked.ts';
import type { Lesson, RoundRecords } from '../core/training.ts';
import { ragenClaim } from './claims/ragen.ts';

interface Settings {
  /** Which quarter of the worlds is trained on: that whose returns differ most, or one at random. */
  readonly filter: boolean;
  readonly clipHigh: number;
  readonly kl: number;
  readonly entropy: number;
  /** Times that a round's episodes are gone through. */
  readonly epochs: number;
}

const STABLE: Settings = { filter: true, clipHigh: 0.28, kl: 0, entropy: 1e-3, epochs: 1 };
const PLAIN: Settings = { filter: false, clipHigh: 0.2, kl: 1e-3, entropy: 0, epochs: 1 };
/** Share of a round's worlds that is trained on. */
const KEPT = 0.25;

const SETTINGS: Readonly<Record<string, Settings>> = {
  '': STABLE,
  starpo: PLAIN,
  unfiltered: { ...STABLE, filter: false },
  reuse: { ...STABLE, epochs: 5 },
};

/** The quarter of the worlds whose returns differ most. */
export function worldsThatDiffer(groups: readonly ScoredGroup[]): string[] {
  const episodes = groups.flatMap(({ group, samples }) =>
    episodesOf(samples).map((turns) => ({ group, value: returnOf(turns) })),
  );
  return groupsOfLargestDeviation(
    episodes.map(({ value }) => value),
    episodes.map(({ group }) => group),
    KEPT,
  ).map(String);
}

const someWorlds = (groups: readonly ScoredGroup[], seed: string): string[] =>
  new Random(`${seed}/worlds`)
    .shuffle(groups.map(({ group }) => group))
    .slice(0, Math.max(1, Math.round(KEPT * groups.length)));

function learn({ round, groups }: RoundRecords): Lesson {
  const { filter, clipHigh, kl, entropy, epochs } = SETTINGS[round.settings.variant ?? '']!;
  const kept = new Set(filter ? worldsThatDiffer(groups) : someWorlds(groups, round.id));
  return {
    updates: [
      {
        set: 'main',
        epochs,
        parts: [
          {
            kind: 'policy',
            role: AGENT,
            weight: 1,
            items: grpoByEpisode(groups.filter(({ group }) => kept.has(group))),
            objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh },
            aggregation: { mode: 'token-mean' },
            entropy,
            ...(kl ? { kl: { weight: kl, estimator: 'k3', reference: { set: 'main', version: 0 } } } : {}),
          },
        ],
      },
    ],
    figures: echoSigns(groups),
  };
}

export const ragen: Recipe = {
  name: 'ragen',
  title: 'StarPO-S: multi-turn agents, paid for episodes, trained where returns differ',
  paper: {
    title: 'RAGEN: Understanding Self-Evolution in LLM Agents via Multi-Turn Reinforcement Learning',
    year: 2025,
    source: 'arXiv:2504.20073',
  },
  summary:
    'One agent crosses frozen lakes in up to five turns of up to five moves. All turns of an episode are paid its return. Only the quarter of the worlds whose episodes differ most in return is trained on.',
  differences: [
    'The worlds are lakes of 4 x 4 whose ice does not slip; no bandit, no Sokoban, no WebShop.',
    'Answers have no thoughts: at this size they would be templates from the first.',
    'StarPO trains on as many episodes as StarPO-S, a quarter of the worlds at random, so that arms differ in which worlds and not in how many.',
    'The group is the baseline (the paper’s GRPO variant); its PPO variant with a critic is left out.',
  ],
  claim: ragenClaim,
  start: 'grids',
  taskName: 'lake',
  stop: STOP,
  tasks: 16,
  group: 8,
  rewards: {
    return: { usesGold: true, says: 'the episode’s return: 1 for the goal, -0.1 for each refused action' },
    format: { usesGold: false, says: 'control: the share of an episode’s turns that keep to the grammar' },
    random: { usesGold: false, says: 'control: a fair coin' },
  },
  variants: {
    starpo: 'StarPO: a quarter of the worlds at random, KL .001, clip .2/.2, no entropy bonus',
    unfiltered: 'StarPO-S on a quarter of the worlds at random',
    reuse: 'StarPO-S that goes through each round’s episodes five times',
  },
  sets: {
    main: {
      optimizer: {
        learningRate: 1e-3,
        warmup: 10,
        betas: [0.9, 0.95],
        weightDecay: 0.01,
        clipNorm: 1,
        minibatches: 2,
      },
    },
  },
  roles: { [AGENT]: { says: 'plays', sampling: { maxNew: TURN_TOKENS, temperature: 1 } } },
  freezable: [],
  propose: async (stage) =>
    drawnTasks(stage, (random) => gridTask('lake', deriveId('world', random.uint32()))),
  rollOut: rollGrid,
  judge: async (stage, groups) =>
    groups.map((group) =>
      scoreGrid(stage, group, (outcome, turns) => {
        const { reward } = stage.round.settings;
        if (reward === 'random') return Number(coinOf(turns[0]!.id));
        if (reward === 'format') return mean(turns.map(({ outcome: kept }) => Number(kept === 'ok')));
        return sealedGold(stage, outcome())().total;
      }),
    ),
  learn,
  evaluate: (exam) => examineGrid(exam, ['lake']),
};
