/** Runs, rounds and the messages between stages. Messages carry only ids and keys, since a queue message holds 128 KB; objects hold the rest. */
import * as v from 'valibot';
import { KERNEL_ENGINES, type PolicyRef, SMALLER_WEIGHTS } from '../policy/policy.ts';
import { deriveId, Random } from '../random.ts';
import type { QueueName, WorkerStage } from '../round/stages.ts';
import { count, positive } from './numbers.ts';
import { id, name, policyRef, setName } from './sample.ts';

/** The most rounds that may be under way before the one that trains; prime-rl drops samples that are more versions behind. */
export const MOST_AHEAD = 8;

/** The most tasks of a round, and the most rollouts of a task. */
export const MOST_TASKS = 4096;
export const LARGEST_GROUP = 64;
/** The most rounds that one order adds. */
export const MOST_ROUNDS = 10_000;

/** The settings of a run: everything that decides its rounds. The run's id is derived from them, so the same settings are the same run. */
export const runSettings = v.object({
  recipe: name,
  seed: count,
  /** The policy that is trained; version 0 is where it starts. */
  policy: name,
  /** The name of one of the recipe's reward functions: it pays the policy in this run. */
  rewardFunction: v.string(),
  /** Roles that keep version 0. */
  freeze: v.array(v.string()),
  /** One of the recipe's variants; absent = as published. */
  variant: v.optional(v.string()),
  /** The format in which samplers hold the weights; absent = float32. The learner corrects for the difference by importance weights. */
  weights: v.optional(v.picklist(SMALLER_WEIGHTS)),
  /** The engine that computes the policies; absent = ONNX Runtime. */
  engine: v.optional(v.picklist(KERNEL_ENGINES)),
  /**
   * How many versions before the one that it trains a round samples with, so that as many rounds are rolled out while one trains;
   * absent = 0, on policy.
   */
  ahead: v.optional(v.pipe(positive, v.maxValue(MOST_AHEAD))),
  /** The number of tasks per round. */
  tasks: v.pipe(positive, v.maxValue(MOST_TASKS)),
  /** The number of rollouts per task. */
  groupSize: v.pipe(positive, v.maxValue(LARGEST_GROUP)),
});
export type RunSettings = v.InferOutput<typeof runSettings>;

export const runIdOf = (run: RunSettings): string =>
  deriveId(
    'run',
    run.recipe,
    run.seed,
    run.policy,
    run.rewardFunction,
    [...run.freeze].sort().join(','),
    run.tasks,
    run.groupSize,
    ...(run.variant ? [run.variant] : []),
    ...(run.weights ? [`weights ${run.weights}`] : []),
    ...(run.engine ? [`engine ${run.engine}`] : []),
    ...(run.ahead ? [`ahead ${run.ahead}`] : []),
  );

/** One round of a run. `roles` names the exact version that each role uses; a round never reads a moving "latest". */
export const roundSpec = v.object({
  id,
  run: id,
  /** 1, 2, … within the run. */
  index: positive,
  settings: runSettings,
  roles: v.record(v.string(), policyRef),
});
export type RoundSpec = v.InferOutput<typeof roundSpec>;

export const roundIdOf = (run: string, index: number): string => deriveId('round', run, index);

type NamedPolicies = Pick<RoundSpec, 'settings' | 'roles'>;

/** The references of the roles that the run's own policy plays. */
export const ownRefs = ({ settings, roles }: NamedPolicies): PolicyRef[] =>
  Object.values(roles).filter(({ name }) => name === settings.policy);

/** The versions of other policies that a round names: of judges that are not trained. */
export const otherRefs = ({ settings, roles }: NamedPolicies): PolicyRef[] =>
  Object.values(roles).filter(({ name }) => name !== settings.policy);

/** Every version of the run's policy that decides what the round's samples are: those that its roles name, and version 0, which holds the tokenizer. */
export const namedVersions = (round: NamedPolicies): number[] =>
  [...new Set([0, ...ownRefs(round).map(({ version }) => version)])].sort((a, b) => a - b);

/** The newest version of the run's policy that a round names: the round's stages read its recipe state. Roles that lag name older versions. */
export const newestOf = (round: NamedPolicies) => ({
  name: round.settings.policy,
  version: Math.max(...ownRefs(round).map(({ version }) => version)),
});

/** The key of a version's manifest among those of a round: its number for the run's own policy, `name@number` for another one. */
export const manifestKey = (
  { settings }: Pick<RoundSpec, 'settings'>,
  { name: of, version }: Pick<PolicyRef, 'name' | 'version'>,
): string => (of === settings.policy ? String(version) : `${of}@${version}`);

/** Which weights a role uses: those of which parameter set, and of which version where that is not the newest. */
export const roleBinding = v.object({
  /** Absent = the main set. */
  set: v.optional(setName),
  /** The role's weights are always so many versions older than the newest: a sampler that lags. */
  lag: v.optional(count),
  /** The role moves to the newest version every so many rounds only: an opponent, or a phase's frozen partner. */
  refreshEvery: v.optional(positive),
  /** The role's version is drawn anew each round among so many of the newest: a pool of earlier selves to play against. */
  sampleFrom: v.optional(positive),
  /** The role always keeps version 0. */
  pinned: v.optional(v.boolean()),
  /** The role is played by exactly this version, of this policy or of another one, in every round. */
  fixed: v.optional(v.object({ name, version: count })),
});
export type RoleBinding = v.InferOutput<typeof roleBinding>;

/** The version of a role in round `index` (from 1), given the newest version; `random` draws where the role has a pool. */
export function boundVersion(
  { lag = 0, refreshEvery = 1, sampleFrom = 1, pinned = false }: RoleBinding,
  index: number,
  newest: number,
  random: Random,
): number {
  if (pinned) return 0;
  const last = Math.max(0, newest - lag - ((index - 1) % refreshEvery));
  return last - random.int(Math.min(sampleFrom, last + 1));
}

/** Makes the next round. Frozen roles keep version 0, the others follow their binding. It is pure, so that the mesh and a single process agree. */
export function roundOf(
  settings: RunSettings,
  roles: Readonly<Record<string, RoleBinding>>,
  index: number,
  newest: number,
): RoundSpec {
  const run = runIdOf(settings);
  return {
    id: roundIdOf(run, index),
    run,
    index,
    settings,
    roles: Object.fromEntries(
      Object.entries(roles).map(([role, binding]) => [
        role,
        {
          ...(binding.fixed ?? {
            name: settings.policy,
            version: settings.freeze.includes(role)
              ? 0
              : boundVersion(binding, index, newest, new Random(`${run}/pool/${role}/${index}`)),
          }),
          ...(binding.set === undefined ? {} : { set: binding.set }),
          ...(settings.weights === undefined ? {} : { weights: settings.weights }),
          ...(settings.engine === undefined ? {} : { engine: settings.engine }),
        },
      ]),
    ),
  };
}

/** Set where an earlier invocation began this work and may have run out of its CPU budget: its partial results are stored then. */
const begun = v.optional(v.literal(true));
/** Set where the clock sends it again: what was begun of the group's later stages may be stored, too. */
const again = v.optional(v.literal(true));
export const proposeMessage = v.object({ v: v.literal(1), round: id, begun });
export const rolloutMessage = v.object({ v: v.literal(1), round: id, group: id, index: count, begun, again });
export const judgeMessage = v.object({ v: v.literal(1), round: id, group: id, index: count, begun });
/** What the learner pulls: the key of a scored group, the sha256 of its bytes, and the mesh's MAC over both and the provenance. */
export const scoredMessage = v.object({
  v: v.literal(1),
  round: id,
  group: id,
  index: count,
  key: v.string(),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  mac: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
/** The messages of every stage's queue. */
export const stageMessages = {
  propose: proposeMessage,
  rollout: rolloutMessage,
  judge: judgeMessage,
  scored: scoredMessage,
} satisfies Readonly<Record<QueueName, v.GenericSchema>>;
export type Messages = { readonly [S in QueueName]: v.InferOutput<(typeof stageMessages)[S]> };
export type ProposeMessage = Messages['propose'];
export type RolloutMessage = Messages['rollout'];
export type JudgeMessage = Messages['judge'];
export type ScoredMessage = Messages['scored'];

/** What tells the objects of a round's later attempts from those of its first. */
const ofAttempt = (attempt: number) => (attempt === 0 ? '' : `-${attempt}`);

/** Keys of a round's objects. They are derived, so that processing a message again writes the same bytes to the same place. */
export const keys = {
  proposals: (round: string) => `rounds/${round}/proposals.json`,
  rollouts: (round: string, group: string, attempt: number) =>
    `rounds/${round}/groups/${group}/rollouts${ofAttempt(attempt)}.json`,
  scored: (round: string, group: string) => `rounds/${round}/groups/${group}/scored.json`,
  /** The partial results of a stage for a group, from before its CPU budget was exceeded. */
  partial: (round: string, stage: WorkerStage, group: string, attempt: number) =>
    `rounds/${round}/groups/${group}/${stage}-partial${ofAttempt(attempt)}.json`,
  version: (policy: string, version: number, file: string) => `policies/${policy}/${version}/${file}`,
  /** Tasks of files, by the hash of the object: runs on the same files share it. */
  tasks: (sha256: string) => `tasks/${sha256}`,
};
