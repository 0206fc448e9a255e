/**
 * The mesh's seal on a scored group: an HMAC-SHA256 over what it is, where it comes from and the hash of its bytes. A
 * batch whose hash, round, group, seed or policy versions were changed, or that was copied from another round, fails it.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RoundSpec, ScoredMessage } from './schema/round.ts';

/** Hex HMAC-SHA256 of (round, group, seed, the version of each role, sha256) under the mesh's key. */
export function provenanceMac(meshKey: string, round: RoundSpec, group: string, sha256Hex: string): string {
  const roles = Object.entries(round.roles)
    .map(([role, { name, version }]) => `${role}=${name}@${version}`)
    .sort();
  const text = ['scored', round.id, group, round.settings.seed, ...roles, sha256Hex].join('|');
  return bytesToHex(hmac(sha256, utf8ToBytes(meshKey), utf8ToBytes(text)));
}

/** Compares in time that does not depend on where two strings of the same length differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length);
  return difference === 0;
}

/** Is the message this mesh's, for this round, about bytes with that hash? */
export const isAuthentic = (meshKey: string, round: RoundSpec, message: ScoredMessage): boolean =>
  message.round === round.id &&
  equalInConstantTime(message.mac, provenanceMac(meshKey, round, message.group, message.sha256));
