/**
 * A fictional world as triples: made-up people, towns, guilds and lands that no corpus knows, so that what a policy answers it
 * has looked up or reasoned out. Every relation has one object per subject; each triple is a one-line document.
 */
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';

export type Kind = 'person' | 'town' | 'guild' | 'land';

/** Relation -> the kind of its subjects and of its objects. */
export const RELATIONS = {
  home: ['person', 'town'],
  mentor: ['person', 'person'],
  guild: ['person', 'guild'],
  seat: ['guild', 'town'],
  head: ['guild', 'person'],
  land: ['town', 'land'],
  mayor: ['town', 'person'],
  capital: ['land', 'town'],
  ruler: ['land', 'person'],
} as const satisfies Readonly<Record<string, readonly [Kind, Kind]>>;

export type Relation = keyof typeof RELATIONS;
export const RELATION_NAMES = Object.keys(RELATIONS) as readonly Relation[];
export const isRelation = (text: string): text is Relation => RELATION_NAMES.some((name) => name === text);

export interface Triple {
  readonly subject: string;
  readonly relation: Relation;
  readonly object: string;
}

export type WorldSize = Readonly<Record<Kind, number>>;

export interface World {
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  readonly triples: readonly Triple[];
  /** [triples]: the document of each. */
  readonly documents: readonly string[];
}

/** About 2,700 triples. */
export const DEFAULT_SIZE: WorldSize = { person: 750, town: 120, guild: 80, land: 20 };

const CONSONANTS = 'bdfgklmnprstvz';
const VOWELS = 'aeiou';
const SYLLABLES = CONSONANTS.length * VOWELS.length;
const MAX_NAMES = 20_000;

const syllable = (random: Random) => random.pick([...CONSONANTS]) + random.pick([...VOWELS]);

/** Names of `count` things: lower-case, never a relation, and as short as leaves nine in ten unused (up to 490 things: two syllables). */
function drawNames(random: Random, count: number): string[] {
  const length = Math.ceil(Math.log(10 * count) / Math.log(SYLLABLES));
  const names = new Set<string>();
  while (names.size < count) names.add(Array.from({ length }, () => syllable(random)).join(''));
  return [...names];
}

export const writeDocument = ({ subject, relation, object }: Triple): string =>
  `the ${relation} of ${subject} is ${object}.`;

const DOCUMENT = /^the ([a-z]+) of ([a-z]+) is ([a-z]+)\.$/;

/** The triple a document states; null for any other text. */
export function parseDocument(text: string): Triple | null {
  const [, relation = '', subject = '', object = ''] = DOCUMENT.exec(text) ?? [];
  return isRelation(relation) ? { subject, relation, object } : null;
}

/** The world of a seed. Throws `tasks.world-size` for sizes it cannot name. */
export function drawWorld(seed: string, size: WorldSize = DEFAULT_SIZE): World {
  const counts = Object.values(size);
  const total = counts.reduce((a, b) => a + b, 0);
  if (!counts.every((count) => Number.isInteger(count) && count >= 2) || total > MAX_NAMES)
    throw wrongInput('tasks.world-size', `A world of ${JSON.stringify(size)} cannot be drawn.`, {
      expected: `at least 2 of each kind and at most ${MAX_NAMES} in all`,
    });
  const random = new Random(`knowledge/${seed}`);
  const all = drawNames(random, total);
  let from = 0;
  const take = (count: number) => {
    from += count;
    return all.slice(from - count, from);
  };
  const names = {
    person: take(size.person),
    town: take(size.town),
    guild: take(size.guild),
    land: take(size.land),
  };
  const triples = RELATION_NAMES.flatMap((relation) => {
    const [subjects, objects] = RELATIONS[relation];
    return names[subjects].map((subject): Triple => {
      let object = random.pick(names[objects]);
      // Nobody is their own mentor.
      while (object === subject) object = random.pick(names[objects]);
      return { subject, relation, object };
    });
  });
  const shuffled = random.shuffle(triples);
  return { names, triples: shuffled, documents: shuffled.map(writeDocument) };
}
