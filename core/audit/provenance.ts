/**
 * The mesh's seal on a scored group: an HMAC-SHA256 over all that decides what the group is and what may be made of it. That is the
 * round with its settings and bindings, the manifests of the versions that the round names, the round's proposals with the tasks
 * that were admitted, and the bytes of the group. Whoever changes any of it without the key breaks the seal.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import { type RoundSpec, roundSpec, type ScoredMessage } from '../schema/round.ts';
import { canonicalJson } from '../text/canonical-json.ts';

/** What a seal covers of the round. */
export interface SealedRound {
  readonly spec: RoundSpec;
  /** sha256 of the proposals' object; null until they are admitted. */
  readonly proposalsSha256: string | null;
  /** Hashes of manifests (`manifestSha256`) by `manifestKey`: of every version that a role names, and of version 0, which holds the tokenizer. */
  readonly manifests: Readonly<Record<string, string>>;
}

/** What a seal covers of the group: its id, and the sha256 of its bytes. */
export interface SealedGroup {
  readonly group: string;
  readonly sha256: string;
}

const macOf = (meshKey: string, text: string) =>
  bytesToHex(hmac(sha256, utf8ToBytes(meshKey), utf8ToBytes(text)));

/** Hex HMAC-SHA256 over round and group under the mesh's key. */
export const provenanceMac = (
  meshKey: string,
  { spec, proposalsSha256, manifests }: SealedRound,
  { group, sha256: hash }: SealedGroup,
): string =>
  macOf(
    meshKey,
    canonicalJson(['scored', v.parse(roundSpec, spec), proposalsSha256, manifests, group, hash]),
  );

/** Compares two strings in a time that does not depend on where two of the same length differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length);
  return difference === 0;
}

/** Was the message made by this mesh, for this round, its versions and its proposals, about bytes with that hash? */
export const isAuthentic = (
  meshKey: string,
  round: SealedRound,
  message: Pick<ScoredMessage, 'round' | 'group' | 'sha256' | 'mac'>,
): boolean =>
  message.round === round.spec.id && equalInConstantTime(message.mac, provenanceMac(meshKey, round, message));
