/** Trains one round, from its messages to the published version. Messages are not acknowledged here; the loop does that last. */
import type { Apart } from '../../core/audit/suspects.ts';
import { kindOf, RollmeshError } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { isStale } from '../../core/rl/corrections/index.ts';
import { reportRound } from '../../core/round/round-report.ts';
import { aheadOf } from '../../core/round/rounds-ahead.ts';
import type { PolicyState } from '../../core/schema/answers.ts';
import type { Manifest, VersionFiles } from '../../core/schema/policy.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import {
  manifestKey,
  namedVersions,
  newestOf,
  type RoundSpec,
  roundIdOf,
  type ScoredMessage,
} from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { wrongRound } from '../../recipes/run-order.ts';
import type { RoundTrainer, TrainedRound } from '../train/round-trainer.ts';
import { endsLearner } from './attempts.ts';
import { CheckedRounds } from './checked-rounds.ts';
import { versionsForTraining } from './load-version.ts';
import type { GroupFailure, GroupStates, MeshGateway, RoundState } from './ports.ts';
import type { LearnerSettings } from './settings.ts';

export interface RoundOutcome {
  /** The version that training began from; `version` is the one that it published. */
  readonly parent: number;
  readonly version: number;
  readonly report: RoundReport;
}

/** Groups were refused while the round was to be trained, which begins again without them. */
class GroupsRefused extends Error {}

/** Returns null where the round cannot be trained; its groups are then marked as failed in the mesh, with the reason. */
export async function trainRound(
  gateway: MeshGateway,
  trainer: Pick<RoundTrainer, 'train' | 'forget'>,
  round: RoundState,
  listed: GroupStates,
  messages: readonly ScoredMessage[],
  settings: LearnerSettings,
  checked: Pick<CheckedRounds, 'take' | 'examine' | 'publishing'> = new CheckedRounds(gateway, settings),
): Promise<RoundOutcome | null> {
  const began = performance.now();
  const { spec } = round;
  const wrong = wrongRound(settings.recipes, spec);
  if (wrong !== null) {
    await failAll(gateway, round, messages, { kind: 'give-up', code: 'round.settings', message: wrong });
    return null;
  }
  const recipe = settings.recipes.find(spec.settings.recipe);
  const { name, stale, current, next, manifests } = await versions(
    gateway,
    round,
    stalenessBound(settings, recipe, spec),
  );
  if (stale) {
    await failAll(gateway, round, messages, stale);
    return null;
  }
  const stored = versionsForTraining(gateway);
  let gathered = await checked.take(recipe, round, listed, messages);
  const load = (version: number, policy = name) => {
    const ref = { name: policy, version };
    const sealed = policy === name ? manifests.get(version) : round.manifests[manifestKey(spec, ref)];
    return stored.getVersion(ref, undefined, sealed);
  };
  let trained: TrainedRound | null = null;
  const examine = async (samples: readonly Apart[]): Promise<void> => {
    const { groups } = gathered;
    gathered = await checked.examine(recipe, round, gathered, samples);
    if (gathered.groups.length < groups.length) throw new GroupsRefused();
  };
  const refuse = async (): Promise<void> => {
    for (const { group, failure } of gathered.refused) await gateway.failGroup(spec.id, group, failure);
  };
  while (!trained && gathered.groups.length > 0) {
    const { proposals, groups } = gathered;
    const records = { recipe, round: spec, proposals, groups };
    try {
      trained = await trainer.train({
        ...records,
        parent: current,
        next,
        load,
        readImage: (sha256) => stored.getTasks(sha256),
        examine,
      });
    } catch (error) {
      if (error instanceof GroupsRefused) continue;
      if (kindOf(error) === 'retry' || endsLearner(error)) throw error;
      await refuse();
      await failAll(gateway, round, messages, failureOf(error));
      return null;
    }
  }
  const { proposals, groups, refused } = gathered;
  await refuse();
  if (!trained) return null;
  try {
    const about = manifestOf(recipe, round, groups, {
      name,
      current,
      next,
      settings,
    });
    const tokenizer = tokenizerOf(trained.files, name);
    const refusals = refused.map(({ group, failure }) => `group ${group} was refused: ${failure.message}`);
    const learnerMs = () => Math.round(performance.now() - began);
    const report = reportRound(
      {
        recipe,
        settings: spec.settings,
        first: spec.index > 1 ? (await gateway.getRound(roundIdOf(spec.run, 1))).report?.monitors : undefined,
        decode: (ids) => tokenizer.decode(ids),
        proposals,
        groups,
        trained,
        refusals,
      },
      {
        ...(round.trainingAt === null ? {} : { rolloutMs: round.trainingAt - round.createdAt }),
        learnerMs: learnerMs(),
      },
    );
    // The report goes before the publication: after the commit the round is never trained again, so a report lost then would stay lost.
    await checked.publishing(spec.id, bytesOf(trained.files), async () => {
      await gateway.report(spec.id, report);
      await gateway.putVersion(trained.files, about, trained.before);
    });
    return { parent: current, version: next, report: { ...report, learnerMs: learnerMs() } };
  } catch (error) {
    trainer.forget();
    throw error;
  }
}

const bytesOf = (files: VersionFiles): number =>
  Object.values(files).reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);

/** How many versions the samples may be behind: what the operator allows, or what the run and its recipe ask for by design, if that is more. */
const stalenessBound = (
  { maxStaleness }: LearnerSettings,
  { staleness: designed = 0 }: Recipe,
  { settings }: RoundSpec,
): number => Math.max(maxStaleness, designed + aheadOf(settings));

/** The policy's current and next version, whether the samples are too stale to train on, and the manifest hash of each version. */
async function versions(gateway: MeshGateway, { spec, manifests: sealed }: RoundState, maxStaleness: number) {
  const { policy: name } = spec.settings;
  const policy = await gateway.getPolicy(name);
  if (!policy) throw new RollmeshError('retry', 'policy.unknown', `There is no policy ${name} yet.`);
  const { current, next } = policy;
  const manifests = new Map(policy.versions.map(({ version, manifestSha256 }) => [version, manifestSha256]));
  for (const version of namedVersions(spec)) {
    const hash = sealed[version];
    if (hash !== undefined) manifests.set(version, hash);
  }
  const stale = tooStale(policy, newestOf(spec).version, maxStaleness);
  return { name, current, next, stale, manifests };
}

/** Why samples of version `sampled` may not be trained on; null if they may. */
function tooStale(
  { name, current, versions }: PolicyState,
  sampled: number,
  maxStaleness: number,
): GroupFailure | null {
  const parents = new Map(versions.map(({ version, parent }) => [version, parent]));
  // Numbers of withdrawn versions are not used again, so versions behind are counted along the chain of parents.
  const chain: number[] = [];
  for (let at: number | null = current; at !== null && at >= sampled; at = parents.get(at) ?? null)
    chain.push(at);
  const behind = chain.indexOf(sampled);
  if (behind < 0 && (sampled > current || parents.has(sampled)))
    return {
      kind: 'missing-version',
      code: 'version.withdrawn',
      message: `Version ${sampled} of ${name} was withdrawn.`,
    };
  const lag = behind < 0 ? current - sampled : behind;
  if (!isStale([current - lag], current, maxStaleness)) return null;
  return {
    kind: 'give-up',
    code: 'group.stale',
    message: `The samples are ${lag} versions behind; at most ${maxStaleness} are trained on.`,
  };
}

/** Anything that was thrown, as the reason why a group or a round has no result. */
export const failureOf = (error: unknown): GroupFailure =>
  error instanceof RollmeshError
    ? { kind: error.kind, code: error.code, message: error.message.slice(0, 500) }
    : { kind: 'give-up', code: 'learner.failed', message: String(error).slice(0, 500) };

async function failAll(
  gateway: MeshGateway,
  { spec }: RoundState,
  messages: readonly ScoredMessage[],
  why: GroupFailure,
) {
  for (const { group } of messages) await gateway.failGroup(spec.id, group, why);
}

/** The manifest has no times and hosts, so that training a round again gives the same one, except for the audit's seed. */
function manifestOf(
  recipe: Recipe,
  { spec }: RoundState,
  groups: readonly { readonly group: string; readonly index: number }[],
  {
    name,
    current,
    next,
    settings: { device, audit },
  }: { name: string; current: number; next: number; settings: LearnerSettings },
): Omit<Manifest, 'files'> {
  return {
    policy: name,
    version: next,
    parent: current,
    groups: [...groups].sort((a, b) => a.index - b.index).map(({ group }) => group),
    round: spec.id,
    settings: { ...spec.settings, sets: recipe.sets, device },
    ...(audit ? { audit: { fraction: audit.fraction, drawSeed: audit.seedOf(spec.id) } } : {}),
  };
}
