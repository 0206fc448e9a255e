/** SRPO (VLA): a robot whose failures are paid by how much they look like its own successes. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { RolloutGroup } from '../../core/schema/sample.ts';
import { ECHO_SIGNS, echoSigns, grpoByEpisode } from '../../protocols/episode-credit.ts';
import { AGENT, GRID_CONTROLS, type GridEpisode, judgeGridTogether } from '../../protocols/grid-agent.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { BLIND, SEEN_FIGURES, seenRoles, seenRooms } from '../../protocols/seeing-agent.ts';
import { policyUpdate, trainedSolver } from '../../protocols/solver.ts';
import { episodeColours } from '../../worlds/grids/embedding.ts';
import { boardsOf, openGrid } from '../../worlds/grids/play.ts';
import { drawBoard } from '../../worlds/grids/seen.ts';
import { selfReferentialRewards, type Vector } from './self-referential.ts';

const VARIANTS = {
  outcome: 'failures are paid nothing (GRPO)',
  'random-embedding': 'control: what an episode looks like is drawn at random',
  ...BLIND,
} as const;

/** Numbers of an embedding that is drawn at random: as many as that of pictures has. */
const NUMBERS = 150;

function embeddingOf(task: string, { turns, texts }: GridEpisode, variant?: string): Vector {
  if (variant !== 'random-embedding') return episodeColours(boardsOf(openGrid(task), texts).map(drawBoard));
  const random = new Random(`embedding/${turns[0]!.id}`);
  return Array.from({ length: NUMBERS }, () => random.float());
}

function paid({ round }: RoundContext, episodes: readonly GridEpisode[], { task }: RolloutGroup): number[] {
  const { variant } = round.settings;
  const succeeded = episodes.map(({ outcome }) => outcome.success);
  if (variant === 'outcome') return succeeded.map(Number);
  return selfReferentialRewards(
    succeeded,
    episodes.map((episode) => embeddingOf(task, episode, variant)),
  );
}

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: policyUpdate(AGENT, grpoByEpisode(groups), { ...ppoClip(), ...nearStart(0.001) }),
  figures: echoSigns(groups),
});

export const srpoVla: WithoutSetup = {
  ...seenRooms,
  name: 'srpo-vla',
  title: 'A robot in a drawn room, a stand-in for an arm: failures are paid by their likeness to successes',
  paper: arXiv('2511.15605', 'SRPO: Self-Referential Policy Optimization for Vision-Language-Action Models'),
  summary:
    'A robot sees a room and pushes a box onto its place. An episode that fails is paid by how near its pictures come to those of the round’s own successes in the same room, so that failures differ.',
  method: {
    setting:
      'A robot sees a room of five by five cells as a picture of 40 × 40 pixels and pushes a box onto its place, in up to five turns of up to five moves; the shortest way has two to four. The start policy imitates robots that stray. The room stands in for the paper’s simulated arm, and moves for motor commands.',
    roles:
      'The robot is the only role. It plays eight episodes in each of a round’s rooms; after each turn it sees the room anew.',
    rewards:
      'An episode that succeeds earns 1. One that fails earns σ(−z): z is its distance to the nearest centre among the successes of the same room, minus the mean of the failures’ distances and divided by their deviation. Centres are those of clusters (DBSCAN) of the successes. A room without a success pays nothing. What an episode looks like are the mean colours of each cell over its pictures, and those of its last one.',
    credit:
      'The reward of an episode minus the mean of its room’s episodes, divided by their deviation, is the advantage of all its turns (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'No arm, no physics and no video model: a drawn room, moves, and mean colours in place of the latent representations of V-JEPA 2. Nothing is said about robots.',
    'Successes are those of the same room; how the paper chooses among a batch’s could not be checked, nor its radius and its function of the distance, of which it is known that it lies between 0 and 1.',
  ],
  figures: { ...ECHO_SIGNS, ...SEEN_FIGURES },
  rewards: {
    progress: {
      usesGold: true,
      ownScale: true,
      description:
        '1 for an episode that succeeds, and its likeness to successes, below 1, for one that fails',
    },
    ...GRID_CONTROLS,
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 1.4e-3, warmup: 10 }),
  roles: seenRoles(),
  judge: async (context, groups) =>
    judgeGridTogether(context, groups, (episodes, group) => paid(context, episodes, group)),
  learn,
};
