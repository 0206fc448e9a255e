/**
 * Tokens of agents, derived from the learner's token, so that none is stored: one per run, by which episodes are opened, and one per
 * episode, which opens nothing but that episode. Neither says anything about the other, or about the learner's.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

const derived = (secret: string, what: string): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(what)));

/** `run`: its id. */
export const runToken = (learnerToken: string, run: string): string =>
  derived(learnerToken, `agents of ${run}`);

/** `episode`: its name. */
export const episodeToken = (learnerToken: string, episode: string): string =>
  derived(learnerToken, `agent of episode ${episode}`);
