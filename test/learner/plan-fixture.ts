/** Rounds of training on small random checkpoints: versions in memory, and scores of their weights that bypass the trainer. */

import type {
  LearnTools,
  RoundRecords,
  Sequence,
  SetSettings,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { VersionFile, VersionFiles } from '../../core/schema/policy.ts';
import { type RoundSpec, roundOf } from '../../core/schema/round.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { scoredStates } from '../../learner/nn/model.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { RoundTrainer, type TrainedRound } from '../../learner/train/round-trainer.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';

const CONFIG = {
  model_type: 'qwen3',
  vocab_size: 13,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  max_position_embeddings: 64,
  tie_word_embeddings: true,
};
const config: ModelConfig = parseConfig(CONFIG);

export const trained: SetSettings = {
  optimizer: {
    learningRate: 1e-3,
    warmup: 0,
    betas: [0.9, 0.95],
    weightDecay: 0,
    clipNorm: 1,
    minibatches: 1,
  },
};

export const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** A version whose main set has random weights of its own; `change` makes it one of another size. */
export function version(seed: string, change: Readonly<Record<string, number>> = {}): VersionFiles {
  const changed = { ...CONFIG, ...change };
  return {
    'config.json': text(changed),
    'model.safetensors': writeSafetensors(randomCheckpoint(parseConfig(changed), seed)),
  };
}

/** Random sequences: `prompt` tokens, then `length` tokens. */
export function sequences(...lengths: number[]): Sequence[] {
  const random = new Random(`lesson/${lengths}`);
  const draw = (count: number) => Array.from({ length: count }, () => random.int(config.vocabSize));
  return lengths.map((length) => ({ prompt: draw(3), ids: draw(length) }));
}

export function sampleOf({ prompt, ids }: Sequence, logprobs: readonly number[]): Sample {
  const policy = { name: 'p', version: 1 };
  const about = {
    id: '0'.repeat(32),
    role: 'solver',
    policy,
    stopped: true,
    outcome: 'ok',
    rewards: {},
  } as const;
  return { ...about, prompt: [...prompt], ids: [...ids], logprobs: [...logprobs] };
}

export interface Teaching {
  readonly sets?: Readonly<Record<string, SetSettings>>;
  /** Files of version 0, 1, …; the last is the parent. */
  readonly versions: readonly VersionFiles[];
  readonly trainer?: Pick<RoundTrainer, 'train'>;
  readonly freeze?: string[];
  readonly tokenBudget?: number;
  /** Files of version 0 of other policies, by name. */
  readonly others?: Readonly<Record<string, VersionFiles>>;
  /** What the recipe's state looks like; absent = it keeps none. */
  readonly state?: Recipe['state'];
}

type Learn = (records: RoundRecords, tools: LearnTools) => TrainingPlan | Promise<TrainingPlan>;

/** One round of training from the last version. */
export async function teach(
  plan: TrainingPlan | Learn,
  {
    sets = { main: trained },
    versions,
    trainer,
    freeze = [],
    tokenBudget = 8192,
    state,
    others = {},
  }: Teaching,
): Promise<TrainedRound> {
  const parent = versions.length - 1;
  const settings = { recipe: 'r', seed: 0, policy: 'p', rewardFunction: 'x', freeze, tasks: 1, groupSize: 1 };
  const teachers = Object.keys(others).map((name) => [name, { fixed: { name, version: 0 } }] as const);
  const roles = { solver: {}, ...Object.fromEntries(teachers) };
  const round: RoundSpec = roundOf(settings, roles, versions.length, parent);
  return (trainer ?? new RoundTrainer({ tokenBudget })).train({
    recipe: {
      name: 'r',
      sets,
      ...(state ? { state } : {}),
      learn: typeof plan === 'function' ? plan : () => plan,
    },
    round,
    proposals: { round: round.id, samples: [], tasks: [] },
    groups: [],
    parent,
    next: parent + 1,
    load: async (index, policy = 'p') => (policy === 'p' ? versions[index]! : others[policy]!),
  });
}

export const tensorsOf = (files: VersionFiles, file: VersionFile = 'model.safetensors'): Tensors =>
  readSafetensors(files[file]!);

interface Scored {
  /** nats [sequences][ids]. */
  readonly logprobs: number[][];
  readonly entropy: number[][];
  /** States before each token [sequences][ids][hidden]. */
  readonly states: number[][][];
}

/** Scores under the weights of a file, straight from the model. */
export function scoresOf(
  files: VersionFiles,
  given: readonly Sequence[],
  file: VersionFile = 'model.safetensors',
): Scored {
  const own = parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));
  const params = paramsFrom(own, tensorsOf(files, file));
  const each = given.map(({ prompt, ids }) =>
    tf.tidy(() => {
      const batch = packSequences([{ ids: [...prompt, ...ids], from: prompt.length }]);
      const { logp, entropy } = tokenLogProbs(params, batch);
      return {
        logprobs: [...logp.dataSync()],
        entropy: [...entropy.dataSync()],
        states: scoredStates(params, batch).arraySync(),
      };
    }),
  );
  params.dispose();
  return {
    logprobs: each.map(({ logprobs }) => logprobs),
    entropy: each.map(({ entropy }) => entropy),
    states: each.map(({ states }) => states),
  };
}

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
