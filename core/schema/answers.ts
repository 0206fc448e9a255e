/**
 * The gateway's requests and answers, each defined once: the gateway makes the answers, the client of the learner and of the CLI reads
 * them, and the page's types are inferred from them. Times are ms since 1970.
 */
import * as v from 'valibot';
import { cost } from '../cost/cost.ts';
import { usageByStage, usageCounts } from '../cost/usage.ts';
import { FAILURE_KINDS } from '../errors.ts';
import { part } from '../recipe/reading.ts';
import { GROUP_STATES, ROUND_STATES, RUN_STATES } from '../round/stages.ts';
import { CHANGE_VERDICTS } from './evaluation.ts';
import { count, finite, hash, measured, positive } from './numbers.ts';
import { outcome } from './outcome.ts';
import { roundReport } from './report.ts';
import { roundSpec, runSettings } from './round.ts';
import { id, name, policyRef, sample } from './sample.ts';

/** Why a group has no result. A failure is never a reward of 0. */
export const groupFailure = v.object({
  kind: v.picklist(FAILURE_KINDS),
  code: v.pipe(v.string(), v.maxLength(64)),
  message: v.pipe(v.string(), v.maxLength(500)),
});
export type GroupFailure = Readonly<v.InferOutput<typeof groupFailure>>;

/** Why the learner could not train a round, and how often it tried. */
export const roundFailure = v.object({ ...groupFailure.entries, attempts: count });
export type RoundFailure = Readonly<v.InferOutput<typeof roundFailure>>;

/** Why the rollout Worker sampled nothing for a reader; the gateway answers with it. */
export const samplingFailure = v.object({
  kind: v.picklist(FAILURE_KINDS),
  code: v.string(),
  message: v.string(),
});
export type SamplingFailure = Readonly<v.InferOutput<typeof samplingFailure>>;

/** The number of a round's groups in each state. */
export const groupsByState = v.object(v.entriesFromList(GROUP_STATES, count));

/** What a round used of the platform, by stage and in all, and what that costs at the prices of a day. */
export const roundUsage = v.object({ stages: usageByStage, total: usageCounts, cost, pricesOf: v.string() });
export type RoundUsage = v.InferOutput<typeof roundUsage>;

/** A round in a listing. */
export const roundAnswer = v.object({
  id,
  run: id,
  index: count,
  recipe: name,
  state: v.picklist(ROUND_STATES),
  /** The number of groups that were admitted; known once the tasks are. */
  expected: count,
  /** sha256 of the proposals' object; null until they are admitted. */
  proposalsSha256: v.nullable(v.string()),
  /** Proposals written, valid or not. */
  proposed: count,
  groups: groupsByState,
  reason: v.nullable(v.string()),
  /** The version that each role uses. */
  roles: v.record(v.string(), policyRef),
  /** The version that the round made. */
  version: v.nullable(count),
  /** The round's report. What proposals earned is only in the answer about a single round. */
  report: v.nullable(roundReport),
  /** null where no usage was noted. */
  usage: v.nullable(roundUsage),
  createdAt: count,
  rolloutAt: v.nullable(count),
  trainingAt: v.nullable(count),
  endedAt: v.nullable(count),
});
export type RoundAnswer = v.InferOutput<typeof roundAnswer>;

/** A group in a listing. */
export const groupAnswer = v.object({
  group: id,
  index: count,
  task: v.string(),
  state: v.picklist(GROUP_STATES),
  /** sha256 of the scored object, and the mesh's seal; null until the group is scored. */
  sha256: v.nullable(hash),
  mac: v.nullable(v.string()),
  failure: v.nullable(v.object({ kind: v.string(), code: v.string(), message: v.string() })),
});
export type GroupAnswer = v.InferOutput<typeof groupAnswer>;

/** A single round, with the settings that it was ordered with and the groups that failed. */
export const roundState = v.object({
  ...roundAnswer.entries,
  spec: roundSpec,
  /** Hashes of the manifests of the round's versions, by `manifestKey`, as the database keeps them. */
  manifests: v.record(v.string(), hash),
  /** The first earlier round of its run that has not ended: the rounds of a run are trained in their order. null = none. */
  waitsFor: v.nullable(id),
  /** Its run is paused: nobody goes on with it. Absent = it is not. */
  paused: v.exactOptional(v.literal(true)),
  failures: v.array(groupAnswer),
});
export type RoundState = v.InferOutput<typeof roundState>;

export const roundListing = v.object({ rounds: v.array(roundAnswer) });
export const groupListing = v.object({ groups: v.array(groupAnswer) });
export type GroupStates = v.InferOutput<typeof groupListing>['groups'];

/** A sample with its text; null where its policy's tokenizer cannot be read. */
export const readableSample = v.object({
  ...sample.entries,
  text: v.nullable(
    v.object({
      prompt: v.string(),
      completion: v.string(),
      /** The completion as the recipe's reader cuts it. */
      parts: v.array(part),
      /** What the role had not read before: the whole prompt, or in a later turn what came since its last one. */
      seen: v.array(part),
      /** The text of each token of `ids`. */
      tokens: v.array(v.string()),
    }),
  ),
});
export type ReadableSample = v.InferOutput<typeof readableSample>;

/** A group with its texts; null until it is scored. */
export const groupContent = v.object({
  ...groupAnswer.entries,
  /** The proposal that the group came from, turn by turn, with what it earned once its round is trained; empty where nobody proposed it. */
  proposal: v.array(readableSample),
  /** The task as the recipe's reader cuts it. */
  title: v.array(part),
  samples: v.nullable(v.array(readableSample)),
  judgments: v.nullable(v.array(readableSample)),
  answersExact: v.nullable(v.array(v.nullable(v.boolean()))),
  solutionsExact: v.nullable(v.array(v.nullable(v.boolean()))),
  /** What each episode ended at, by the id of its first turn, where the recipe's world can say. */
  endings: v.record(id, v.array(part)),
});
export type GroupContent = v.InferOutput<typeof groupContent>;

/** A page of a round's groups with their texts, in the order of their index; `next` is the index to go on from, null at the end. */
export const contentListing = v.object({ groups: v.array(groupContent), next: v.nullable(count) });
export type ContentListing = v.InferOutput<typeof contentListing>;

/** Everything that was proposed in a round: the turns of each proposal, its outcome, and the group that it became. */
export const proposalListing = v.object({
  proposals: v.array(
    v.object({
      outcome,
      /** What the outcome means, in words. */
      meaning: v.string(),
      group: v.nullable(id),
      turns: v.array(readableSample),
    }),
  ),
});
export type ProposalListing = v.InferOutput<typeof proposalListing>;

/** What a reader must know of a recipe. */
export const recipeAnswer = v.object({
  name,
  title: v.string(),
  summary: v.string(),
  paper: v.object({ title: v.string(), year: finite, source: v.nullable(v.string()) }),
  taskName: v.string(),
  /** In the order in which they first act. */
  roles: v.array(v.object({ role: v.string(), description: v.string(), set: v.string() })),
  rewards: v.record(v.string(), v.string()),
  variants: v.record(v.string(), v.string()),
  /** What the recipe’s own figures mean, by name; a name explains the names that continue it after a dot, too. */
  figures: v.record(v.string(), v.string()),
  /** What the characters of its boards are. */
  cells: v.record(v.string(), v.string()),
});
export type RecipeAnswer = v.InferOutput<typeof recipeAnswer>;

/** What the gateway asks of the rollout Worker for a reader; `group` is null for a proposal. */
export const redrawOrder = v.object({ round: id, group: v.nullable(id), sample: id });
export const answerOrder = v.object({ round: id, version: count });

/** A sample that was drawn again. `token` and `logprob`: index of the first that differs from the record, -1 = none does. */
export const redrawnSample = v.object({
  sample: id,
  same: v.boolean(),
  token: v.pipe(v.number(), v.safeInteger()),
  logprob: v.pipe(v.number(), v.safeInteger()),
  ids: v.array(count),
  logprobs: v.array(finite),
});
export type RedrawnSample = v.InferOutput<typeof redrawnSample>;

/** What a version answers to a few held-out tasks. A conversation of several turns is one answer. */
export const heldOutListing = v.object({
  policy: name,
  version: count,
  answers: v.array(
    v.object({
      role: v.string(),
      prompt: v.array(part),
      parts: v.array(part),
      /** The text of each generated token, and its log-probability (nats). */
      tokens: v.array(v.string()),
      logprobs: v.array(finite),
    }),
  ),
});
export type HeldOutListing = v.InferOutput<typeof heldOutListing>;

/** A sample that was looked up by its id, and the group that it belongs to; null for a proposal that became no group. */
export const foundSample = v.object({
  round: id,
  group: v.nullable(id),
  index: v.nullable(count),
  task: v.nullable(v.string()),
  sample: readableSample,
});
export type FoundSample = v.InferOutput<typeof foundSample>;

/** What a person says of a run. It changes nothing that the run computes. */
export const runLabel = v.strictObject({
  /** A name in place of the settings; null = none. */
  name: v.nullable(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(80))),
  tags: v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'Expected up to 32 of a-z, 0-9, dot, dash and underscore'),
      ),
    ),
    v.maxLength(16),
  ),
  /** Left out of lists unless they are asked for all. */
  hidden: v.boolean(),
});
export type RunLabel = Readonly<v.InferOutput<typeof runLabel>>;
export const NO_LABEL: RunLabel = { name: null, tags: [], hidden: false };

export const runState = v.object({
  id,
  settings: runSettings,
  /** Index of the last round that is wanted. */
  target: count,
  /** `stopped`: its last round failed, or a person ended it; `paused`: the local mesh was ended before it was done. An order opens it again. */
  state: v.picklist(RUN_STATES),
  createdAt: count,
  label: v.optional(runLabel, NO_LABEL),
  /** When it was deleted; null = it is there. */
  deletedAt: v.optional(v.nullable(count), null),
});
export type RunState = v.InferOutput<typeof runState>;
/** A run in a listing, with how far it is and what its evaluations said. */
export const listedRun = v.object({
  ...runState.entries,
  /** What its recipe is called by people, where that is not its name and the mesh knows it. */
  called: v.exactOptional(v.string()),
  /** Rounds that have ended well. */
  done: v.optional(count, 0),
  /** The state of its newest round; null = it has none. */
  roundState: v.optional(v.nullable(v.picklist(ROUND_STATES)), null),
  /** When its newest round showed progress last. */
  touchedAt: v.optional(v.nullable(count), null),
  /** Held-out accuracy of the version that it began from and of the version evaluated last. */
  first: v.optional(measured, null),
  last: v.optional(measured, null),
  /** What may be said of the change between the two; null = nothing was compared. */
  verdict: v.optional(v.nullable(v.picklist(CHANGE_VERDICTS)), null),
});
export type ListedRun = v.InferOutput<typeof listedRun>;
export const runListing = v.object({ runs: v.array(listedRun) });

/** What a call of the deletion of a run did. It removes a bounded number of objects, and is called again until none is left. */
export const runDeleted = v.object({ run: id, objects: count, left: v.boolean() });
export type RunDeleted = v.InferOutput<typeof runDeleted>;

/** A policy as the listing shows it. */
export const policyAnswer = v.object({ name, current: count, updatedAt: count });
export const policyListing = v.object({ policies: v.array(policyAnswer) });
export type PolicyListing = v.InferOutput<typeof policyListing>;

export const versionAnswer = v.object({
  version: count,
  parent: v.nullable(count),
  round: v.nullable(id),
  /** The size of the files that it stores itself. */
  bytes: count,
  /** The other versions that store files of it: the weights that its adapter is added to, or a large tokenizer. */
  elsewhere: v.exactOptional(v.array(count)),
  createdAt: count,
  /** Why the version must not be used any more; null = it may be. */
  withdrawn: v.nullable(v.string()),
  /** When retention removed the version's files; null = they are there. */
  prunedAt: v.nullable(count),
  /** `manifestSha256` of its manifest. */
  manifestSha256: hash,
  /** `weightsSha256` of its manifest: equal where two versions have the same weights. */
  weightsSha256: v.exactOptional(hash),
});
export type VersionAnswer = v.InferOutput<typeof versionAnswer>;

/** A policy and its versions, newest first (the newest 200). */
export const policyVersions = v.object({
  ...policyAnswer.entries,
  /** The number that the next version must have. */
  next: count,
  versions: v.array(versionAnswer),
});
export type PolicyVersions = v.InferOutput<typeof policyVersions>;
export type PolicyState = Pick<PolicyVersions, 'name' | 'current' | 'next' | 'versions'>;

const reason = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
export const stopOrder = v.object({ reason });
export const rollbackOrder = v.object({ version: v.pipe(count, v.safeInteger()), reason });
export const rolledBack = v.object({ policy: name, current: count });

export const pruneOrder = v.object({
  keep: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  withdrawnDays: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(36_500)), 7),
  dryRun: v.optional(v.boolean(), false),
});
/** The versions that a retention rule found, oldest first, and what it removed in this call. */
export const pruned = v.object({
  policy: name,
  dryRun: v.boolean(),
  /** Every version that had its files; `kept` says why it keeps them, null = nothing refers to it. */
  versions: v.array(v.object({ version: count, bytes: count, kept: v.nullable(v.string()) })),
  removed: v.array(v.object({ policy: name, version: count, bytes: count })),
});
export type Pruned = v.InferOutput<typeof pruned>;

export const storedFile = v.object({ file: v.string(), result: v.picklist(['stored', 'same']) });

/** The hashes of objects of tasks; as many as a Worker may look for in one request. */
export const tasksOrder = v.object({
  sha256: v.pipe(v.array(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))), v.maxLength(500)),
});
export const missingTasks = v.object({ missing: v.array(v.string()) });
export const storedTasks = v.object({ result: v.picklist(['stored', 'same']) });

export const uploadOrder = v.object({ bytes: positive });
export const uploadState = v.object({
  file: v.string(),
  /** `same`: the file is stored already, and no part of it is wanted. */
  result: v.picklist(['open', 'same']),
  partBytes: count,
  /** The numbers, from 1, of the parts that are stored. */
  parts: v.array(count),
});
export type UploadState = v.InferOutput<typeof uploadState>;
export const storedPart = v.object({ ...storedFile.entries, part: count });

export const committed = v.object({
  version: count,
  /** false where this very version was committed before: nothing has changed. */
  created: v.boolean(),
  nextRound: v.nullable(id),
});
export type Committed = v.InferOutput<typeof committed>;

export const reported = v.object({ round: id });
export const roundFailed = v.object({ round: id, state: v.picklist(ROUND_STATES) });
export const groupFailed = v.object({ round: id, group: id, state: v.picklist(GROUP_STATES) });

/** The answer to an order of a run: `round` is the one that began, null where one was under way or none is due. */
export const runStarted = v.object({ run: id, round: v.nullable(id), rounds: count });
export type RunStarted = v.InferOutput<typeof runStarted>;

export const deadLetter = v.object({
  id,
  /** The stage that the message was for; `unknown` where the message does not say. */
  queue: v.string(),
  attempts: count,
  kind: v.string(),
  code: v.string(),
  cause: v.string(),
  round: v.nullable(id),
  group: v.nullable(id),
  at: count,
  replayedAt: v.nullable(count),
});
export type DeadLetter = v.InferOutput<typeof deadLetter>;
export const deadLetterListing = v.object({ deadLetters: v.array(deadLetter) });

/** `refused`: the message's round has moved on; the dead letter stays stored. */
export const replayed = v.variant('state', [
  v.object({ id, state: v.literal('sent') }),
  v.object({ id, state: v.literal('refused'), reason: v.string() }),
]);
export type Replayed = v.InferOutput<typeof replayed>;
/** `next`: where the next call goes on, null at the end. */
export const replayListing = v.object({
  results: v.array(replayed),
  next: v.nullable(v.string()),
});

export const refusal = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    expected: v.nullable(v.string()),
    next: v.nullable(v.string()),
  }),
});
export type Refusal = v.InferOutput<typeof refusal>;
