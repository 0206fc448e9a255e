/**
 * The audit of a round's records. First all of them are read again: the roles' own functions, over a policy that plays the
 * record back, must come to the same ids, prompts, outcomes, oracles and rewards. Then a share is drawn again by the exact
 * versions, and tokens and log-probabilities must be the same bits. Pure: policies come as arguments.
 */
import type { Policy } from '../policy.ts';
import { Random } from '../random.ts';
import type { Recipe } from '../recipe.ts';
import { judge } from '../roles/judge.ts';
import { propose } from '../roles/propose.ts';
import { solve } from '../roles/solve.ts';
import type { RoleName, Stage } from '../roles/stage.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { AdmittedTask, Proposals, ScoredGroup } from '../schema/sample.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { type AuditLedger, compareGroup, compareSample, type Depth } from './findings.ts';
import { recordedPolicy } from './recorded-policy.ts';

export interface RoundRecord {
  readonly recipe: Recipe;
  readonly round: RoundSpec;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
}

export interface AuditTools {
  /** The policy of the version that the round names for the role. */
  readonly policyOf: (role: RoleName) => Policy;
  readonly tokenizerOf: (role: RoleName) => Tokenizer;
}

/** `ceil(fraction * n)` of the items, drawn from the seed. A seed that a forger cannot know keeps the choice from them. */
export function drawShare<T>(items: readonly T[], fraction: number, seed: string): T[] {
  const count = Math.min(items.length, Math.ceil(fraction * items.length));
  return new Random(`audit/${seed}`).shuffle(items).slice(0, count);
}

/** Reads the whole record again; no model is run. */
export async function rereadRound(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
): Promise<void> {
  await rereadProposals(ledger, record, tools);
  const taskOf = new Map(record.proposals.tasks.map((task) => [task.group, task]));
  for (const group of record.groups) await rereadGroup(ledger, record, tools, taskOf.get(group.group), group);
}

/** Draws a share of groups and proposals again. `seed` decides which. */
export async function redrawRound(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  fraction: number,
  seed: string,
): Promise<void> {
  const proposals = drawShare(record.proposals.samples, fraction, `${seed}/proposals`);
  if (proposals.length) {
    const ids = new Set(proposals.map((sample) => sample.id));
    const live = tools.policyOf('proposer');
    const policy = recordedPolicy(live.ref, record.proposals.samples, { ids, live });
    const again = await propose({ ...stageOf(record, tools, 'proposer'), policy });
    const expected = new Map(again.samples.map((sample) => [sample.id, sample]));
    for (const sample of proposals) compareSample(ledger, 'model', null, sample, expected.get(sample.id));
  }
  const groups = drawShare(record.groups, fraction, `${seed}/groups`);
  const tasks = groups.flatMap(
    ({ group }) => record.proposals.tasks.find((task) => task.group === group) ?? [],
  );
  if (!tasks.length) return;
  const rolled = await solve(stageOf(record, tools, 'solver'), tasks);
  const scored = await judge(stageOf(record, tools, 'judge'), rolled);
  const recordOf = new Map(groups.map((group) => [group.group, group]));
  for (const expected of scored) compareGroup(ledger, 'model', recordOf.get(expected.group)!, expected);
}

const stageOf = ({ recipe, round }: RoundRecord, tools: AuditTools, role: RoleName): Stage => ({
  recipe,
  round,
  policy: tools.policyOf(role),
  tokenizer: tools.tokenizerOf(role),
});

const READ: Depth = 'record';

async function rereadProposals(ledger: AuditLedger, record: RoundRecord, tools: AuditTools): Promise<void> {
  const { round, proposals } = record;
  const stage = {
    recipe: record.recipe,
    round,
    tokenizer: tools.tokenizerOf('proposer'),
    policy: recordedPolicy(round.roles.proposer!, proposals.samples),
  };
  const again = await readable(ledger, null, () => propose(stage));
  if (!again) return;
  for (let i = 0; i < Math.max(proposals.samples.length, again.samples.length); i++)
    compareSample(ledger, READ, null, proposals.samples[i], again.samples[i]);
  ledger.check(
    JSON.stringify(proposals.tasks.map(taskParts)) === JSON.stringify(again.tasks.map(taskParts)),
    { class: 'provenance', group: null, sample: null },
    () => 'The admitted tasks are not those of the proposals.',
  );
}

const taskParts = ({ group, index, task, proposal }: AdmittedTask) => [group, index, task, proposal];

async function rereadGroup(
  ledger: AuditLedger,
  { recipe, round }: RoundRecord,
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
  const over = (role: RoleName, samples: ScoredGroup['samples']): Stage => ({
    recipe,
    round,
    tokenizer: tools.tokenizerOf(role),
    policy: recordedPolicy(round.roles[role]!, samples),
  });
  const again = await readable(ledger, group.group, async () => {
    const rolled = await solve(over('solver', group.samples), [task!]);
    return judge(over('judge', group.judgments), rolled);
  });
  if (again) compareGroup(ledger, READ, group, again[0]!);
}

/** Tokens that no tokenizer can read are a difference, not a crash. */
async function readable<T>(
  ledger: AuditLedger,
  group: string | null,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    ledger.check(false, { class: 'token', group, sample: null }, () => `It cannot be read: ${String(error)}`);
    return null;
  }
}
