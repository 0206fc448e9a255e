/**
 * Negotiation over a split. Two seats divide ten coins by offers in turn; each refused offer costs a coin, and whoever gets no deal has an outside option
 * that the other does not know. A seat may have a strategist, who writes one word before each of its moves.
 */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import { ILLEGAL_REWARD, parseActions } from '../environment.ts';
import { STOP } from '../worked.ts';

const COINS = 10;
const OFFERS = 4;
/** Coins of the outside options, each as likely. */
const OUTSIDE = [1, 2, 3, 4] as const;

/** What a strategist may write. */
export const ADVICE = ['hard', 'fair', 'soft', 'take'] as const;

export interface SplitState {
  /** [2]: the outside options of actor and partner. */
  readonly outside: readonly [number, number];
  /** What each offer left to the other side, in order; the actor begins. */
  readonly offers: readonly number[];
  /** The word that was written for the next move; null where there is none yet. */
  readonly advice: string | null;
  /** [2]: the coins of actor and partner, once it is over. */
  readonly got: readonly [number, number] | null;
}

const SIDES = ['actor', 'partner'] as const;
type Side = (typeof SIDES)[number];

const moverOf = ({ offers }: SplitState): Side => SIDES[offers.length % 2]!;
/** The coins that are left to divide. */
export const coinsIn = ({ offers }: SplitState): number => COINS - offers.length;
/** What the other side offers now; null where there is no offer. */
export const offered = ({ offers }: SplitState): number | null => offers.at(-1) ?? null;

const situation = (state: SplitState, side: Side): string =>
  `${coinsIn(state)} out ${state.outside[SIDES.indexOf(side)]} offer ${offered(state) ?? 'none'}`;

/** The share of the coins that a seat has, which its strategist has too. */
const shareOf = (seat: string, [actor, partner]: readonly [number, number]): number =>
  (seat === 'partner' || seat === 'adviser' ? partner : actor) / COINS;

const pay = (seats: readonly string[], got: readonly [number, number]) =>
  Object.fromEntries(seats.map((seat) => [seat, shareOf(seat, got)]));

/** The game with strategists for some sides: `strategist` advises the actor, `adviser` the partner. */
function splitGame(name: string, advisers: Partial<Record<Side, string>>): SeatedGame<SplitState> {
  const seats = SIDES.flatMap((side) => [...(advisers[side] ? [advisers[side]] : []), side]);
  const refuse = (seat: string) => ({
    rewards: Object.fromEntries(seats.map((one) => [one, one === seat ? ILLEGAL_REWARD : 0])),
    refused: [seat],
  });
  return {
    name,
    seats,
    maxTurns: OFFERS * 2 + 2,
    maxNew: 8,
    tags: true,
    deal: (random) => ({
      outside: [random.pick(OUTSIDE), random.pick(OUTSIDE)],
      offers: [],
      advice: null,
      got: null,
    }),
    toMove: (state) => {
      if (state.got) return [];
      const side = moverOf(state);
      return [(state.advice === null && advisers[side]) || side];
    },
    view: (state, seat) => {
      const side = moverOf(state);
      const advice = state.advice ? ` ${state.advice}` : '';
      return `${seat === side ? 'split' : 'advise'} ${situation(state, side)}${seat === side ? advice : ''}`;
    },
    move: (state, moves) => {
      const [seat, text] = Object.entries(moves)[0]!;
      const side = moverOf(state);
      const parsed = parseActions(`${text}${STOP}`);
      const [word, number] = parsed.ok ? parsed.value : [];
      if (seat !== side) {
        const known = parsed.ok && parsed.value.length === 1 && ADVICE.some((one) => one === word);
        return { state: { ...state, advice: known ? word! : '' }, ...(known ? {} : refuse(seat)) };
      }
      const coins = coinsIn(state);
      const standing = offered(state);
      const next = { ...state, advice: null };
      if (word === 'take' && standing !== null && number === undefined) {
        const mine =
          side === 'actor'
            ? ([standing, coins + 1 - standing] as const)
            : ([coins + 1 - standing, standing] as const);
        return { state: { ...next, got: mine }, rewards: pay(seats, mine) };
      }
      const keep = word === 'ask' && /^\d$/.test(number ?? '') ? Number(number) : Number.NaN;
      const isLegal = keep >= 1 && keep < coins;
      // A move that is refused leaves everything to the speaker, which nobody takes.
      const offers = [...state.offers, isLegal ? coins - keep : 0];
      const over = offers.length === OFFERS;
      const { rewards, refused } = isLegal ? { rewards: undefined, refused: undefined } : refuse(seat);
      const ending = over ? pay(seats, state.outside) : undefined;
      const paid =
        rewards && ending
          ? Object.fromEntries(seats.map((one) => [one, rewards[one]! + ending[one]!]))
          : (ending ?? rewards);
      return {
        state: { ...next, offers, got: over ? state.outside : null },
        ...(paid ? { rewards: paid } : {}),
        ...(refused ? { refused } : {}),
      };
    },
    score: ({ got }, seat) => shareOf(seat, got!),
  };
}

export const split = splitGame('split', {});
export const advisedSplit = splitGame('split-advised', { actor: 'strategist' });
export const bothAdvisedSplit = splitGame('split-both-advised', { actor: 'strategist', partner: 'adviser' });
