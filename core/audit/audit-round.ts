/**
 * The audit of a round's records, in two parts. `rereadRound` runs the recipe's own stage functions over a policy that plays the
 * record back: they must come to the same ids, prompts, outcomes, oracle verdicts and rewards. `redrawRound` samples a share again
 * from the exact versions: tokens and log-probabilities must be the same bits. Both are pure: policies come as arguments.
 */

import { RollmeshError } from '../errors.ts';
import type { AskService } from '../net/reward-service.ts';
import type { Policy, PolicyRef, SamplingSettings } from '../policy/policy.ts';
import { Random } from '../random.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { openRoundContext, type RoundContext, type RoundContextParts } from '../recipe/round-context.ts';
import type { PolicyText } from '../renderer/policy-text.ts';
import { proposeStage, rollOutAndJudge } from '../round/play-stages.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { AdmittedTask, Proposals, Sample, ScoredGroup } from '../schema/sample.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import {
  type AuditLedger,
  compareGroup,
  compareMeasurements,
  compareSample,
  type Depth,
} from './findings.ts';
import { completionFault } from './read-completion.ts';
import { episodesOfRecord } from './recorded-episodes.ts';
import { type Played, playedGroups, recordedPolicy } from './recorded-policy.ts';

export interface RoundRecord {
  readonly recipe: Recipe;
  readonly round: RoundSpec;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
}

export interface AuditTools {
  readonly tokenizer: Tokenizer;
  readonly renderer?: PolicyText['renderer'] | undefined;
  readonly contextLength?: number | undefined;
  /** How another policy than the round's own reads and writes text. */
  readonly textOf?: RoundContextParts['textOf'];
  /** Runs `work` with the policy of exactly this version and set. */
  readonly use: <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>) => Promise<T>;
  /** The recipe state that the round's stages read. */
  readonly recipeState: () => Promise<unknown>;
  /** Reads an object of tasks that lies beside the recipe. */
  readonly readStored?: RoundContextParts['readStored'];
}

/** Draws `ceil(fraction * n)` of the items from the seed. A forger who cannot know the seed cannot know which items are drawn. */
export function drawShare<T>(items: readonly T[], fraction: number, seed: string): T[] {
  const count = Math.min(items.length, Math.ceil(fraction * items.length));
  return new Random(`audit/${seed}`).shuffle(items).slice(0, count);
}

/** Checks the whole record by playing it back; no model is run. */
export async function rereadRound(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
): Promise<void> {
  await rereadProposals(ledger, record, tools);
  const taskOf = new Map(record.proposals.tasks.map((task) => [task.group, task]));
  for (const group of record.groups) await rereadGroup(ledger, record, tools, taskOf.get(group.group), group);
}

/**
 * Samples a share of the groups and proposals again from the real policies. `seed` decides which. `close`: ids of samples that come from an
 * engine whose last digits differ; they are played back, and are scored again by the audit of nodes (audit-nodes.ts).
 */
export async function redrawRound(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  fraction: number,
  seed: string,
  close: ReadonlySet<string> = new Set(),
): Promise<void> {
  const exact = record.proposals.samples.filter(({ id }) => !close.has(id));
  await redrawProposals(ledger, record, tools, drawShare(exact, fraction, `${seed}/proposals`));
  await redrawGroups(ledger, record, tools, drawShare(record.groups, fraction, `${seed}/groups`), close);
}

/** Samples some of the proposals again from the real policy. */
export async function redrawProposals(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  samples: readonly Sample[],
): Promise<void> {
  if (!samples.length) return;
  const ids = new Set(samples.map(({ id }) => id));
  // The other samples are played back, so that the stage takes the same course: which batch came after which.
  const again = await proposeStage(
    record.recipe,
    stageOf(record, tools, (ref, work) =>
      tools.use(ref, (live) => work(recordedPolicy(ref, record.proposals, { ids, live, again: true }))),
    ),
  );
  compareMeasurements(ledger, null, record.proposals.measurements, again.measurements);
  const expected = new Map(again.samples.map((sample) => [sample.id, sample]));
  for (const sample of samples) compareSample(ledger, 'model', null, sample, expected.get(sample.id));
}

/** Samples all of some groups again from the real policies, but for the samples of `close`. */
export async function redrawGroups(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  groups: readonly ScoredGroup[],
  close: ReadonlySet<string>,
): Promise<void> {
  const { recipe } = record;
  const tasks = groups.flatMap(
    ({ group }) => record.proposals.tasks.find((task) => task.group === group) ?? [],
  );
  if (!tasks.length) return;
  const played = playedGroups(groups);
  const ids = new Set(played.samples.flatMap(({ id }) => (close.has(id) ? [] : [id])));
  const context = stageOf(
    record,
    tools,
    ids.size === played.samples.length
      ? tools.use
      : (ref, work) =>
          tools.use(ref, (live) => work(recordedPolicy(ref, played, { ids, live, again: true }))),
  );
  const scored = await rollOutAndJudge(recipe, context, tasks);
  const recordOf = new Map(groups.map((group) => [group.group, group]));
  // What was played back is equal by itself.
  for (const expected of scored) compareGroup(ledger, 'model', recordOf.get(expected.group)!, expected);
}

const stageOf = (
  record: RoundRecord,
  { tokenizer, renderer, contextLength, textOf, recipeState, readStored }: AuditTools,
  use: AuditTools['use'],
): RoundContext => {
  const { recipe, round } = record;
  const askService = recordedService(record);
  return openRoundContext({
    recipe,
    round,
    tokenizer,
    renderer,
    contextLength,
    textOf,
    recipeState,
    readStored,
    askService,
    episodes: episodesOfRecord(record),
    use,
  });
};

/** A service cannot be asked again for the same answer, so that its answers are taken as they are recorded. */
const recordedService =
  ({ groups }: Pick<RoundRecord, 'groups'>): AskService =>
  async ({ group, reward, rollouts }) => {
    const recorded = new Map(
      groups.find((one) => one.group === group)?.samples.map((sample) => [sample.id, sample] as const),
    );
    return rollouts.map(({ id }) => {
      const { rewards, missing } = recorded.get(id) ?? {};
      return rewards?.[reward] ?? missing?.[reward] ?? 'not-rated';
    });
  };

/** A round context in which every role plays its record back. Each sample played is checked; one that no policy could write is noted. */
function replayOf(
  ledger: AuditLedger,
  group: string | null,
  record: RoundRecord,
  tools: AuditTools,
  played: Played,
): RoundContext {
  const read = (sample: Sample, settings: SamplingSettings) => {
    const fault = completionFault(sample, settings);
    if (fault) ledger.check(false, { class: fault.class, group, sample: sample.id }, () => fault.message);
  };
  return stageOf(record, tools, (ref, work) => work(recordedPolicy(ref, played, undefined, read)));
}

const READ: Depth = 'record';

async function rereadProposals(ledger: AuditLedger, record: RoundRecord, tools: AuditTools): Promise<void> {
  const { recipe, proposals } = record;
  const again = await readable(ledger, null, () =>
    proposeStage(recipe, replayOf(ledger, null, record, tools, proposals)),
  );
  if (!again) return;
  compareMeasurements(ledger, null, proposals.measurements, again.measurements);
  for (let i = 0; i < Math.max(proposals.samples.length, again.samples.length); i++)
    compareSample(ledger, READ, null, proposals.samples[i], again.samples[i]);
  ledger.check(
    JSON.stringify([proposals.tasks.map(taskParts), proposals.leftOut ?? []]) ===
      JSON.stringify([again.tasks.map(taskParts), again.leftOut ?? []]),
    { class: 'provenance', group: null, sample: null },
    () => 'The admitted tasks are not those of the proposals.',
  );
}

const taskParts = ({ group, index, task, proposal }: AdmittedTask) => [group, index, task, proposal];

async function rereadGroup(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  task: AdmittedTask | undefined,
  group: ScoredGroup,
): Promise<void> {
  const place = { group: group.group, sample: null };
  const admitted = ledger.check(
    task !== undefined,
    { class: 'provenance', ...place },
    () => 'No such group was admitted.',
  );
  if (!admitted) return;
  const context = replayOf(ledger, group.group, record, tools, playedGroups([group]));
  const again = await readable(ledger, group.group, () => rollOutAndJudge(record.recipe, context, [task!]));
  if (again) compareGroup(ledger, READ, group, again[0]!);
}

/**
 * Where `work` throws, as it does for tokens that no tokenizer can decode, the ledger notes a difference and the audit goes on. What may be read later
 * says nothing of the record, and is thrown.
 */
async function readable<T>(
  ledger: AuditLedger,
  group: string | null,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RollmeshError && error.kind === 'retry') throw error;
    ledger.check(false, { class: 'token', group, sample: null }, () => `It cannot be read: ${String(error)}`);
    return null;
  }
}
