/** A vote on who is the spy, and whether it is right: what the deal of a game says. */

/** A player from 1, null for none, undefined for what cannot be read. */
export type Vote = number | null | undefined;

/** `spy`: the spy's number. */
export const namesSpy = (said: Vote, spy: number): boolean => said === spy;
