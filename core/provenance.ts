/**
 * The mesh's seal on a scored group: an HMAC-SHA256 over what it is, where it comes from and the hashes of its bytes and of
 * the round's proposals. A batch whose hash, round, group, seed or policy versions were changed, or that was copied from
 * another round, fails it.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RoundSpec, ScoredMessage } from './schema/round.ts';

/** What is sealed beside the round: the group, the sha256 of its bytes, and that of the round's proposals. */
export interface Sealed {
  readonly group: string;
  readonly sha256: string;
  /** Null for rounds that were admitted before proposals were hashed. */
  readonly proposals: string | null;
}

/** Hex HMAC-SHA256 of (round, group, seed, the version of each role, both hashes) under the mesh's key. */
export function provenanceMac(meshKey: string, round: RoundSpec, sealed: Sealed): string {
  const { group, sha256: hash, proposals } = sealed;
  const roles = Object.entries(round.roles)
    .map(([role, { name, version }]) => `${role}=${name}@${version}`)
    .sort();
  const text = ['scored', round.id, group, round.settings.seed, ...roles, hash, proposals ?? ''].join('|');
  return bytesToHex(hmac(sha256, utf8ToBytes(meshKey), utf8ToBytes(text)));
}

/** Compares in time that does not depend on where two strings of the same length differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length);
  return difference === 0;
}

/** Is the message this mesh's, for this round and its proposals, about bytes with that hash? */
export const isAuthentic = (
  meshKey: string,
  round: RoundSpec,
  proposals: string | null,
  { round: of, group, sha256: hash, mac }: Pick<ScoredMessage, 'round' | 'group' | 'sha256' | 'mac'>,
): boolean =>
  of === round.id &&
  equalInConstantTime(mac, provenanceMac(meshKey, round, { group, sha256: hash, proposals }));
