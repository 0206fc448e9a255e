/** LlamaRL: asynchronous off-policy training, corrected by truncated importance weights (AIPO). */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import {
  arXiv,
  type Described,
  type EpisodeMethod,
  played,
  type RecipeOver,
} from '../../core/recipe/recipe.ts';
import { CONVENTIONS } from '../../core/rl/conventions.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import type { PolicyObjectiveSpec } from '../../core/rl/objective.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import { CONTROLS, exactReward } from '../../protocols/answer-rewards.ts';
import { episodeItems } from '../../protocols/episode-credit.ts';
import { groupItems, SOLVER, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { sums } from '../../worlds/toy-worlds.ts';

const MAX_RATIO = 2;
const DELAYS = [0, 1, 4, 16];

const OBJECTIVES: Readonly<Record<string, PolicyObjectiveSpec>> = {
  aipo: { kind: 'aipo', maxRatio: MAX_RATIO },
  none: { kind: 'reinforce' },
  'ppo-clip': { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
};
const PUBLISHED = 'aipo-1';

/** Parses a variant such as `aipo-4`: the objective, and how many versions behind the learner the sampler is. */
export function planOf({ variant = PUBLISHED }: Pick<RunSettings, 'variant'>) {
  const cut = variant.lastIndexOf('-');
  return { objective: OBJECTIVES[variant.slice(0, cut)]!, delay: Number(variant.slice(cut + 1)) };
}

/** `items`: how answers, or whole episodes, are compared. */
const planTraining = ({ round, groups }: RoundRecords, items: typeof groupItems): TrainingPlan => ({
  updates: solverUpdate(
    items(groups, (rewards, keys) => grpo(rewards, keys, CONVENTIONS.drgrpo)),
    { objective: planOf(round.settings).objective, aggregation: { mode: 'token-mean' }, old: 'sampler' },
  ),
});

const described = {
  name: 'llama-rl',
  title: 'Asynchronous off-policy training with AIPO',
  paper: arXiv(
    '2505.24034',
    'LlamaRL: A Distributed Asynchronous Reinforcement Learning Framework for Efficient Large-scale LLM Training',
  ),
  summary:
    'A solver’s rollouts come from weights that lag behind the trainer’s by a fixed number of versions. The importance-weighted objective AIPO corrects for the lag; others stand beside it.',
  method: {
    setting:
      'A solver answers arithmetic chains. As in an asynchronous system, generators sample with weights that lag behind the trainer’s; here the lag is an exact number of versions, so that its effect can be measured.',
    roles:
      'The solver is the only role. It samples with the weights of 0, 1, 4 or 16 versions ago; one version is the default.',
    rewards: '1 for an exact answer, otherwise 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, without division by the deviation.',
    objective:
      'AIPO weighs each token’s gradient by the ratio of its probability now to its probability when it was sampled, cut off at 2, and without a lower bound: a token that the policy has become unlikely to sample counts little. The variants put the uncorrected gradient or PPO’s clip (ratios in [0.8, 1.2] against the sampler) in its place.',
    schedule: 'Each round makes one optimiser step.',
  },
  differences: [
    'The lag is exact and in versions: a round samples with the weights of so many rounds ago and takes one optimiser step. There are no threads, and no answer mixes two versions.',
    'The uncorrected gradient and PPO’s clip have no proximal policy: their old log-probabilities are the sampler’s.',
  ],
  variants: Object.fromEntries(
    Object.keys(OBJECTIVES).flatMap((objective) =>
      DELAYS.map((delay) => [
        `${objective}-${delay}`,
        `${objective}, the sampler ${delay === 1 ? 'one version' : `${delay} versions`} behind`,
      ]),
    ),
  ),
  sets: trainedSolver({ warmup: 10, minibatches: 1 }),
  staleness: Math.max(...DELAYS),
  bindings: (settings: RunSettings) => ({ [SOLVER]: { lag: planOf(settings).delay } }),
  learn: (records: RoundRecords): TrainingPlan => planTraining(records, groupItems),
} satisfies Described;

const inEpisodes: EpisodeMethod = {
  ...described,
  summary:
    'Agents are answered by weights that lag behind the trainer’s by a fixed number of versions. The importance-weighted objective AIPO corrects for the lag; others stand beside it.',
  method: {
    ...described.method,
    setting:
      'Programs outside the mesh hold the episodes of tasks from files. What answers them lags behind the trainer by an exact number of versions.',
    roles:
      'The solver answers agents, with the weights of 0, 1, 4 or 16 versions ago; one version is the default.',
    rewards: 'What the agent posts at the end of its episode.',
    credit:
      'The advantage of an episode, on all of its answers, is its reward minus the mean of its task, without division by the deviation.',
    schedule: 'Each round goes once over its episodes.',
  },
  learn: (records) => planTraining(records, episodeItems),
};

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({
      ...game,
      draws: 4,
      rewards: { gold: exactReward, ...CONTROLS },
    }),
  }),
};

export const llamaRl = played(written, sums, { inEpisodes });
