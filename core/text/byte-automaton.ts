/**
 * Finite automata over bytes. A piece says what may be written, and is made from other pieces; `automatonOf` follows a piece byte by byte, through all
 * ways at once (Thompson's construction; its sets of states are made when they are first reached).
 */
import { wrongInput } from '../errors.ts';

/** The most states that a piece may need: each is some numbers in a Worker's memory. */
const MOST_STATES = 20_000;
/** The most sets of them that are followed. */
const MOST_SETS = 8000;

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly next: number;
}

const tooLarge = (needed: string) =>
  wrongInput('grammar.size', `The form needs ${needed}.`, {
    next: 'Ask for fewer fields, shorter lists or less nesting.',
  });

/** Builds a piece before a state, and returns the state that it begins in. */
export type Piece = (states: States, after: number) => number;

/** The states of an automaton while it is built: their edges by ranges of bytes, and the states that they are at once, too. */
export class States {
  readonly edges: Edge[][] = [];
  readonly also: number[][] = [];

  add(edges: Edge[], also: number[] = []): number {
    if (this.edges.length >= MOST_STATES) throw tooLarge(`more than ${MOST_STATES} states`);
    this.also.push(also);
    return this.edges.push(edges) - 1;
  }
}

/** One byte of some ranges, ends included. */
export const byteOf =
  (...ranges: readonly (readonly [from: number, to: number])[]): Piece =>
  (states, after) =>
    states.add(ranges.map(([from, to]) => ({ from, to, next: after })));

export const literal = (text: string): Piece => {
  const bytes = new TextEncoder().encode(text);
  return (states, after) =>
    bytes.reduceRight((next, byte) => states.add([{ from: byte, to: byte, next }]), after);
};

/** A character of a set. */
export const oneOfBytes = (characters: string): Piece =>
  byteOf(...Array.from(characters, (c) => [c.charCodeAt(0), c.charCodeAt(0)] as const));

export function inTurn(...pieces: readonly Piece[]): Piece {
  return (states, after) => pieces.reduceRight((next, piece) => piece(states, next), after);
}

export const either =
  (...pieces: readonly Piece[]): Piece =>
  (states, after) =>
    states.add(
      [],
      pieces.map((piece) => piece(states, after)),
    );

const nothing: Piece = (_, after) => after;
export const perhaps = (piece: Piece): Piece => either(piece, nothing);

/** Any number of times, or none. */
export const often =
  (piece: Piece): Piece =>
  (states, after) => {
    const also = [after];
    const here = states.add([], also);
    also.push(piece(states, here));
    return here;
  };

/** Between `least` and `most` times. No call stands within another for each time: lists of lists would run out of stack. */
export const times =
  (piece: Piece, least: number, most = Number.POSITIVE_INFINITY): Piece =>
  (states, after) => {
    let next = most === Number.POSITIVE_INFINITY ? often(piece)(states, after) : after;
    if (most !== Number.POSITIVE_INFINITY)
      for (let more = least; more < most; more++) next = states.add([], [piece(states, next), after]);
    for (let needed = 0; needed < least; needed++) next = piece(states, next);
    return next;
  };

/** An automaton whose states are numbers from 0, where it begins. */
export interface ByteAutomaton {
  /** The state after a byte, or -1 where it may not come. */
  step(state: number, byte: number): number;
  /** Whether everything is written. */
  ends(state: number): boolean;
}

export function automatonOf(piece: Piece): ByteAutomaton {
  const states = new States();
  const end = states.add([]);
  const begin = piece(states, end);
  const sets: (readonly number[])[] = [];
  const known = new Map<string, number>();
  const steps: Int32Array[] = [];
  /** The number of a set of states, with those that its states are at once. */
  const numberOf = (members: readonly number[]): number => {
    const all = new Set<number>();
    const left = [...members];
    for (let state = left.pop(); state !== undefined; state = left.pop())
      if (!all.has(state)) {
        all.add(state);
        left.push(...states.also[state]!);
      }
    if (!all.size) return -1;
    const set = [...all].sort((a, b) => a - b);
    const key = set.join();
    const number = known.get(key) ?? sets.push(set) - 1;
    if (number >= MOST_SETS) throw tooLarge(`more than ${MOST_SETS} sets of states`);
    known.set(key, number);
    steps[number] ??= new Int32Array(256).fill(UNKNOWN);
    return number;
  };
  numberOf([begin]);
  return {
    step(state, byte) {
      const row = steps[state]!;
      if (row[byte] === UNKNOWN) {
        const members: number[] = [];
        for (const member of sets[state]!)
          for (const { from, to, next } of states.edges[member]!)
            if (from <= byte && byte <= to) members.push(next);
        row[byte] = numberOf(members);
      }
      return row[byte]!;
    },
    ends: (state) => sets[state]!.includes(end),
  };
}

const UNKNOWN = -2;
