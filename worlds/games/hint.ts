/**
 * A cooperative hint game in three rounds. Three cards lie open, each with a colour and a shape. The guide is told which one is meant and says one word; the
 * guesser picks a card. Both are paid 1 for the right one. A hint helps where no other card has it.
 */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { Random } from '../../core/random.ts';
import { ILLEGAL_REWARD, parseActions } from '../environment.ts';
import { STOP } from '../worked.ts';

const COLOURS = [...'rgb'];
const SHAPES = [...'ost'];
export const WORDS = [...COLOURS, ...SHAPES];
export const PICKS = ['1', '2', '3'];
const ROUNDS = 3;

interface Round {
  /** [3]: colour and shape of each, such as `ro`. */
  readonly cards: readonly string[];
  /** The index of the card that is meant. */
  readonly meant: number;
}

export interface HintState {
  readonly rounds: readonly Round[];
  /** The hint of the round that is played; null until there is one. */
  readonly hint: string | null;
  readonly right: number;
  readonly played: number;
}

/** The words that no other card has. */
export const tellingWords = ({ cards, meant }: Round): string[] =>
  [...cards[meant]!].filter((word) => cards.filter((card) => card.includes(word)).length === 1);

function drawRound(random: Random): Round {
  for (;;) {
    const cards = random
      .shuffle(COLOURS.flatMap((colour) => SHAPES.map((shape) => colour + shape)))
      .slice(0, 3);
    const round = { cards, meant: random.int(3) };
    // One of the two words tells and the other does not: which one it is has to be found out.
    if (tellingWords(round).length === 1) return round;
  }
}

/** The one word of a move; null where it is none of `known`. */
const wordOf = (move: string | undefined, known: readonly string[]): string | null => {
  const parsed = parseActions(`${move}${STOP}`);
  return parsed.ok && parsed.value.length === 1 && known.includes(parsed.value[0]!) ? parsed.value[0]! : null;
};

const both = (reward: number) => ({ guide: reward, guesser: reward });

export const hintGame: SeatedGame<HintState> = {
  name: 'hint',
  seats: ['guide', 'guesser'],
  maxTurns: 2 * ROUNDS,
  maxNew: 6,
  tags: true,
  deal: (random) => ({
    rounds: Array.from({ length: ROUNDS }, () => drawRound(random)),
    hint: null,
    right: 0,
    played: 0,
  }),
  toMove: ({ played, hint }) => (played === ROUNDS ? [] : [hint === null ? 'guide' : 'guesser']),
  view: ({ rounds, played, hint }, seat) => {
    const { cards, meant } = rounds[played]!;
    return seat === 'guide'
      ? `hint ${cards.join(' ')} for ${cards[meant]}`
      : `pick ${cards.join(' ')} by ${hint}`;
  },
  move: (state, moves) => {
    const { rounds, played, hint, right } = state;
    if (hint === null) {
      const word = wordOf(moves.guide, WORDS);
      return word === null
        ? { state: { ...state, hint: '?' }, rewards: both(ILLEGAL_REWARD), refused: ['guide'] }
        : { state: { ...state, hint: word } };
    }
    const picked = wordOf(moves.guesser, PICKS);
    const isRight = picked !== null && Number(picked) - 1 === rounds[played]!.meant;
    const next = { rounds, hint: null, played: played + 1, right: right + Number(isRight) };
    return picked === null
      ? { state: next, rewards: both(ILLEGAL_REWARD), refused: ['guesser'] }
      : { state: next, rewards: both(Number(isRight)) };
  },
  together: true,
  score: ({ right }) => right / ROUNDS,
};
