/**
 * Fetches and checks the records of a round: the bytes against their hash, the hash against the mesh's seal, and the round, group and
 * versions that a record names against those of the round. A group that fails a check is never trained on; the mesh stores it with the
 * reason.
 */
import * as v from 'valibot';
import { isAuthentic } from '../../core/audit/provenance.ts';
import { isOfTask, wrongList } from '../../core/audit/whole-round.ts';
import { kindOf, RollmeshError } from '../../core/errors.ts';
import { samePolicy } from '../../core/policy/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { keys, type ScoredMessage } from '../../core/schema/round.ts';
import { type Proposals, proposals, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import type { GroupFailure, GroupStates, MeshGateway, RoundState } from './ports.ts';

export interface Gathered {
  /** Has no samples and no tasks where the round is refused as a whole. */
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  readonly refused: readonly { readonly group: string; readonly failure: GroupFailure }[];
}

/** Refuses every group of a round whose proposals, list of groups or versions cannot be trusted. */
export const refuseRound = ({ groups, refused }: Gathered, round: string, why: GroupFailure): Gathered => ({
  proposals: { round, samples: [], tasks: [] },
  groups: [],
  refused: [...refused, ...groups.map(({ group }) => ({ group, failure: why }))],
});

/** Where the groups are read: from the gateway, or from what was fetched early. */
type Objects = Pick<MeshGateway, 'getObject'>;

/** Number of groups fetched at once. Fetched one by one, a large round spends most of its time on round trips to the store (test/bench/elastic.md). */
const AT_ONCE = 16;

export async function gatherRound(
  gateway: Objects,
  round: RoundState,
  listed: GroupStates,
  messages: readonly ScoredMessage[],
  meshKey: string | undefined,
  objects: Objects = gateway,
): Promise<Gathered> {
  const groups: ScoredGroup[] = [];
  const refused: { group: string; failure: GroupFailure }[] = [];
  for (let at = 0; at < messages.length; at += AT_ONCE) {
    const some = messages.slice(at, at + AT_ONCE);
    const gathered = await Promise.all(
      some.map((message) => refusable(() => gatherGroup(objects, round, message, meshKey))),
    );
    for (const [i, group] of gathered.entries())
      if ('kind' in group) refused.push({ group: some[i]!.group, failure: group });
      else groups.push(group);
  }
  const written = await refusable(() => gatherProposals(gateway, round));
  const nothing: Proposals = { round: round.id, samples: [], tasks: [] };
  const gathered = { proposals: nothing, groups, refused };
  // Only the proposals say which tasks were admitted.
  if ('kind' in written) return refuseRound(gathered, round.id, written);
  const wrong = wrongList(written.tasks, listed);
  if (wrong !== null)
    return refuseRound(gathered, round.id, { kind: 'give-up', code: 'round.groups', message: wrong });
  return refuseForeignTasks({ ...gathered, proposals: written });
}

/** Refuses groups whose task is not the one that was admitted under their id, whatever the database says about them now. */
function refuseForeignTasks({ proposals, groups, refused }: Gathered): Gathered {
  const own = groups.filter((group) => isOfTask(group, proposals.tasks));
  const foreign = groups.filter((group) => !own.includes(group));
  const failure = {
    kind: 'give-up',
    code: 'group.task',
    message: 'The group is about another task than the one that was admitted.',
  } as const;
  return {
    proposals,
    groups: own,
    refused: [...refused, ...foreign.map(({ group }) => ({ group, failure }))],
  };
}

const invalid = (code: string, what: string) => new RollmeshError('give-up', code, what);

/** Returns an error as a failure with its reason, except for kind `retry`, where a later attempt may succeed: that one is thrown again. */
async function refusable<T extends object>(work: () => Promise<T>): Promise<T | GroupFailure> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RollmeshError) || kindOf(error) === 'retry') throw error;
    return { kind: error.kind, code: error.code, message: error.message.slice(0, 500) };
  }
}

function parse<S extends v.GenericSchema>(schema: S, bytes: Uint8Array, key: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    throw invalid('group.damaged', `The object ${key} (${bytes.length} bytes) cannot be read.`);
  }
}

async function gatherProposals(gateway: Objects, { spec, proposalsSha256 }: RoundState): Promise<Proposals> {
  const key = keys.proposals(spec.id);
  const written = parse(proposals, await gateway.getObject(key, proposalsSha256 ?? undefined), key);
  if (written.round !== spec.id)
    throw invalid('group.foreign', `The proposals are of round ${written.round}.`);
  return written;
}

async function gatherGroup(
  objects: Objects,
  { spec, proposalsSha256, manifests }: RoundState,
  message: ScoredMessage,
  meshKey: string | undefined,
): Promise<ScoredGroup> {
  if (meshKey !== undefined && !isAuthentic(meshKey, { spec, proposalsSha256, manifests }, message))
    throw invalid(
      'group.seal',
      'The seal does not fit the round, its settings, its versions, the group and the hashes.',
    );
  if (message.key !== keys.scored(spec.id, message.group))
    throw invalid('group.key', `The message names the object ${message.key.slice(0, 160)}.`);
  const early = await objects.getObject(message.key);
  // What was fetched early may have been sampled again since, if a node was shut out: then the store has other bytes by now.
  const bytes = sha256Hex(early) === message.sha256 ? early : await objects.getObject(message.key);
  if (sha256Hex(bytes) !== message.sha256)
    throw invalid(
      'group.hash',
      `The object ${message.key} (${bytes.length} bytes) is not the one that was sealed.`,
    );
  const group = parse(scoredGroup, bytes, message.key);
  if (group.round !== spec.id || group.group !== message.group)
    throw invalid('group.foreign', `The object is of round ${group.round}, group ${group.group}.`);
  const foreign = [...group.samples, ...group.judgments].find((sample) => {
    const ref = spec.roles[sample.role];
    return !ref || !samePolicy(ref, sample.policy);
  });
  if (foreign)
    throw invalid(
      'group.version',
      `A ${foreign.role} sample is of ${foreign.policy.name}@${foreign.policy.version}.`,
    );
  return group;
}
