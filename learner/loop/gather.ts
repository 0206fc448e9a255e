/**
 * The records of a round, fetched and checked: bytes against the message's hash, the message against the mesh's seal, the
 * group against what it says it is. What fails is refused by name, kept by the mesh with its reason, and never trained on.
 */
import * as v from 'valibot';
import { isAuthentic } from '../../core/provenance.ts';
import { sha256Hex } from '../../core/random.ts';
import { keys, type ScoredMessage } from '../../core/schema/round.ts';
import { type Proposals, proposals, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import type { GroupFailure, MeshGateway, RoundState } from './ports.ts';

export interface Gathered {
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  readonly refused: readonly { readonly group: string; readonly failure: GroupFailure }[];
}

const parse = <S extends v.GenericSchema>(schema: S, bytes: Uint8Array): v.InferOutput<S> =>
  v.parse(schema, JSON.parse(new TextDecoder().decode(bytes)));

export async function gatherRound(
  gateway: MeshGateway,
  { spec }: RoundState,
  messages: readonly ScoredMessage[],
  meshKey: string | undefined,
): Promise<Gathered> {
  const groups: ScoredGroup[] = [];
  const refused: { group: string; failure: GroupFailure }[] = [];
  for (const message of messages) {
    const group = await gather(gateway, spec, message, meshKey);
    if ('kind' in group) refused.push({ group: message.group, failure: group });
    else groups.push(group);
  }
  return { proposals: parse(proposals, await gateway.getObject(keys.proposals(spec.id))), groups, refused };
}

const refusal = (code: string, message: string): GroupFailure => ({ kind: 'give-up', code, message });

async function gather(
  gateway: MeshGateway,
  spec: RoundState['spec'],
  message: ScoredMessage,
  meshKey: string | undefined,
): Promise<ScoredGroup | GroupFailure> {
  if (meshKey !== undefined && !isAuthentic(meshKey, spec, message))
    return refusal('group.seal', 'The seal does not fit the round, the group, the versions and the hash.');
  if (message.key !== keys.scored(spec.id, message.group))
    return refusal('group.key', `The message names the object ${message.key.slice(0, 160)}.`);
  const bytes = await gateway.getObject(message.key);
  if (sha256Hex(bytes) !== message.sha256)
    return refusal('group.hash', 'The bytes of the group are not those that were sealed.');
  const group = parse(scoredGroup, bytes);
  if (group.round !== spec.id || group.group !== message.group)
    return refusal('group.foreign', `The object is of round ${group.round}, group ${group.group}.`);
  const foreign = [...group.samples, ...group.judgments].find((sample) => {
    const ref = spec.roles[sample.role];
    return ref?.name !== sample.policy.name || ref.version !== sample.policy.version;
  });
  if (foreign)
    return refusal(
      'group.version',
      `A ${foreign.role} sample is of ${foreign.policy.name}@${foreign.policy.version}.`,
    );
  return group;
}
