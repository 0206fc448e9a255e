/** The records that stages exchange: samples, groups of them, proposals. Each has one schema, from which its type is inferred. */
import * as v from 'valibot';
import { KERNEL_ENGINES, SMALLER_WEIGHTS } from '../policy/policy.ts';
import { measurements } from './measurement.ts';
import { missingRewards } from './missing-reward.ts';
import { count, finite } from './numbers.ts';
import { outcome } from './outcome.ts';

const tokenIds = v.array(count);

/** Names that become parts of keys and URLs: lower-case words, digits, dots and dashes. */
export const name = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/,
    'Expected a name of 1 to 64 lower-case letters, digits, dots and dashes',
  ),
);

/** Derived ids: hex of a sha256, 32 characters (see deriveId). */
export const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'Expected an id of 32 hexadecimal digits'));

/** Name of a parameter set; `model` and `optimizer` are taken by the main set's files. */
export const setName = v.pipe(
  v.string(),
  v.regex(/^(?!(?:model|optimizer|main)$)[a-z][a-z0-9-]{0,31}$/, 'Expected the name of a parameter set'),
);

/** `set` is absent for the main parameter set, `weights` for float32, `engine` for ONNX Runtime, so that there is one way to name them. */
export const policyRef = v.object({
  name,
  version: count,
  set: v.optional(setName),
  weights: v.optional(v.picklist(SMALLER_WEIGHTS)),
  engine: v.optional(v.picklist(KERNEL_ENGINES)),
});

/** One completion by one role: what was sampled, its outcome and its rewards. */
export const sample = v.object({
  id,
  role: v.string(),
  policy: policyRef,
  /** Token ids of the prompt, and of the completion (stop token included). Ids travel, never re-tokenised text. */
  prompt: tokenIds,
  ids: tokenIds,
  /** Log-probabilities (nats) of ids under the distribution they were sampled from. */
  logprobs: v.array(finite),
  stopped: v.boolean(),
  /** `ok`, or why the text is no valid output of its role. */
  outcome,
  /** Rewards by stream; null = missing (it could not be had), which is never 0. */
  rewards: v.record(v.string(), v.nullable(finite)),
  /** Why rewards from outside are null, by their streams; absent where none of them is. */
  missing: v.optional(missingRewards),
  /** For monitors only, on a judgment: does the oracle call what was judged right, and does the judgment agree (a hit)? Absent = it cannot be told. */
  oracle: v.optional(v.object({ right: v.boolean(), hit: v.boolean() })),
  /** The id of the sample that this one judges, or of the first sample of its episode. */
  of: v.optional(id),
  /** What it was asked about, where that is not the task of its group: another task, a solution, a kind. Its reader need not take its prompt apart. */
  about: v.exactOptional(v.string()),
  /** The index of the turn in an episode of several turns, from 0. */
  turn: v.optional(count),
  /** Where several roles speak in one episode: its number among the group's rollouts. Each role's first sample there is its own, without `of`. */
  episode: v.optional(count),
});
export type Sample = v.InferOutput<typeof sample>;

/** A task that passed the gates, and the proposal it came from. */
export const admittedTask = v.object({
  group: id,
  index: count,
  /** Canonical text of the task; its family parses it. */
  task: v.string(),
  proposal: v.nullable(id),
});
export type AdmittedTask = v.InferOutput<typeof admittedTask>;

/** Everything that the proposer wrote for a round: every sample, rejected ones with their reason, and the admitted tasks. */
export const proposals = v.object({
  round: id,
  samples: v.array(sample),
  tasks: v.array(admittedTask),
  /** Tasks that were drawn and are not asked, because prompt and answer could reach more tokens than the policy has positions for. */
  leftOut: v.exactOptional(v.array(v.object({ task: v.string(), tokens: count }))),
  /** What the propose stage measured. */
  measurements: v.exactOptional(measurements),
});
export type Proposals = v.InferOutput<typeof proposals>;

/** A task with its G rollouts, before judging. */
export const rolloutGroup = v.object({
  round: id,
  ...admittedTask.entries,
  samples: v.array(sample),
  /** What stages measured about the group; absent = nothing. */
  measurements: v.exactOptional(measurements),
});
export type RolloutGroup = v.InferOutput<typeof rolloutGroup>;

/**
 * A group with its judgments and rewards: what the learner trains on. `answersExact` and `solutionsExact` are the oracle's, for
 * judges' training and for monitors; a reward that is declared gold-free never reads them.
 */
export const scoredGroup = v.object({
  ...rolloutGroup.entries,
  judgments: v.array(sample),
  /** For each rollout: is the answer exact? null where there is no answer to check (off-grammar), or nothing to check it with. */
  answersExact: v.array(v.nullable(v.boolean())),
  /** For each rollout: is the whole solution exact, every step included? null as above. */
  solutionsExact: v.array(v.nullable(v.boolean())),
});
export type ScoredGroup = v.InferOutput<typeof scoredGroup>;
