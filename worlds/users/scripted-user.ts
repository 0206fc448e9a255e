/**
 * A user by script: somebody with needs that he does not tell at once, and a mood from 0 to 100 that follows from what he is told. No model plays him,
 * so that the same replies lead to the same mood.
 */
import type { UserNeed } from '../../core/game/game.ts';

/** How a user takes it if a reply gives him nothing, and what he says of what he still wants. */
export interface Temper {
  /** What such a reply costs. */
  readonly loss: number;
  /** After so many such replies in a row he says what he wants; Infinity = never. */
  readonly patience: number;
}

export const TEMPERS = {
  open: { loss: 10, patience: 0 },
  guarded: { loss: 15, patience: 1 },
  harsh: { loss: 30, patience: Number.POSITIVE_INFINITY },
} as const satisfies Readonly<Record<string, Temper>>;

const START = 50;
/** He leaves at this mood or below. */
const LEAVES = 10;
/** What it costs to be told the same again. */
const REPEATED = 15;

export interface User {
  /** 0 to 100. */
  readonly mood: number;
  /** Which needs are met [needs]. */
  readonly met: readonly boolean[];
  /** Replies in a row that gave him nothing. */
  readonly vain: number;
  readonly replies: readonly string[];
  /** What he says next; null = he says nothing more. */
  readonly says: string | null;
}

export const beginUser = (needs: readonly UserNeed[]): User => ({
  mood: START,
  met: needs.map(() => false),
  vain: 0,
  replies: [],
  says: '',
});

/** The user after a reply. All needs met by replies of which none was in vain bring the mood to 100. */
export function userAfter(
  user: User,
  needs: readonly UserNeed[],
  { loss, patience }: Temper,
  reply: string,
): User {
  const met = needs.map(({ isMet }, n) => user.met[n]! || isMet(reply));
  const gained = met.filter((is, n) => is && !user.met[n]).length;
  const again = user.replies.includes(reply) ? REPEATED : 0;
  const change = gained ? (gained * (100 - START)) / needs.length : -loss;
  const mood = Math.min(100, Math.max(0, user.mood + change - again));
  const vain = gained ? 0 : user.vain + 1;
  const missing = needs.find((_, n) => !met[n]);
  const next = { mood, met, vain, replies: [...user.replies, reply] };
  if (!missing || mood <= LEAVES) return { ...next, says: null };
  const told = vain > patience || (gained > 0 && patience === 0);
  const opening = gained ? 'That helps.' : again ? 'You said that before.' : 'That does not help me.';
  return {
    ...next,
    says: told
      ? `${opening} I want to know: ${missing.wants}.`
      : `${opening}${gained ? ' Something is missing.' : ''}`,
  };
}
