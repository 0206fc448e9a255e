/**
 * Tokens of agents, derived from the learner's token, so that none is stored in the database: one per run, by which episodes are opened, one per
 * episode, which opens nothing but that episode, and one per seat of an episode, by which that seat asks. None says anything about another, or
 * about the learner's.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

const derived = (secret: string, what: string): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(what)));

/** Of the mesh's own agent, the environment Worker: it opens episodes of every run. */
export const agentsToken = (learnerToken: string): string => derived(learnerToken, 'agents of every run');

/** `run`: its id. */
export const runToken = (learnerToken: string, run: string): string =>
  derived(learnerToken, `agents of ${run}`);

/** `episode`: its name. */
export const episodeToken = (learnerToken: string, episode: string): string =>
  derived(learnerToken, `agent of episode ${episode}`);

/** `episode`: its name. `seat`: one of several that the run has. */
export const seatToken = (learnerToken: string, episode: string, seat: string): string =>
  derived(learnerToken, `agent of seat ${seat} of episode ${episode}`);
