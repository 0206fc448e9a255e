/** Questions about a canvas in English, and their exact answers. */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { COLOURS, type Colour, type Scene, SHAPES, type Shape, SIZES, type Thing } from './scene.ts';

/** A description of shapes: each word that it has must hold. */
export interface Description {
  readonly size?: Thing['size'];
  readonly colour?: Colour;
  readonly shape?: Shape;
}

export const fits = ({ size, colour, shape }: Description, thing: Thing): boolean =>
  (size ?? thing.size) === thing.size &&
  (colour ?? thing.colour) === thing.colour &&
  (shape ?? thing.shape) === thing.shape;

const pluralOf = (shape: string): string => (shape === 'cross' ? 'crosses' : `${shape}s`);

/** Does a thing of that description stand on a canvas? */
export const isThere = ({ things }: Scene, described: Description): boolean => countOf(things, described) > 0;

/** " big red circle", " red shape"; with `noun` in place of a shape that is not told. */
const phrase = (
  { size, colour, shape }: Description,
  noun: string,
  inflect = (word: string) => word,
): string => [size, colour, inflect(shape ?? noun)].flatMap((word) => (word ? ` ${word}` : [])).join('');
export const one = (described: Description): string => phrase(described, 'shape');
export const many = (described: Description): string => phrase(described, 'shape', pluralOf);

interface Kind {
  /** The question's words before, between and after the descriptions that it is about. */
  readonly words: readonly string[];
  /** How each of these descriptions is written. */
  readonly write: (described: Description) => string;
  readonly draw: (random: Random) => readonly Description[];
  /** null where the question makes no sense on this canvas. */
  readonly answer: (things: readonly Thing[], about: readonly Description[]) => string | null;
}

const yesNo = (is: boolean): string => (is ? 'yes' : 'no');
const countOf = (things: readonly Thing[], described: Description): number =>
  things.filter((thing) => fits(described, thing)).length;

/** The only shape that fits a description; null where there is none or several. */
function onlyOne(things: readonly Thing[], described: Description): Thing | null {
  const [first, ...more] = things.filter((thing) => fits(described, thing));
  return first && !more.length ? first : null;
}

const maybe = <T>(random: Random, items: readonly T[]): T | undefined =>
  random.bool(0.35) ? random.pick(items) : undefined;

const described = (words: { [Word in keyof Description]: Description[Word] | undefined }): Description =>
  Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined));

/** A colour, a shape or both, and at times a size. */
function anyOf(random: Random): Description {
  const told = random.int(3);
  return described({
    size: maybe(random, SIZES),
    colour: told > 0 ? random.pick(COLOURS) : undefined,
    shape: told < 2 ? random.pick(SHAPES) : undefined,
  });
}

/** Do two shapes, each the only one of its description, stand so to each other? */
const related =
  (isSo: (a: Thing, b: Thing) => boolean): Kind['answer'] =>
  (things, [first, second]) => {
    const [a, b] = [onlyOne(things, first!), onlyOne(things, second!)];
    return a && b && a !== b && !isSo(a, b) === isSo(b, a) ? yesNo(isSo(a, b)) : null;
  };

const twoOf = (random: Random): Description[] => [anyOf(random), anyOf(random)];

export const KINDS = {
  count: {
    words: ['How many', ' are there? '],
    write: many,
    draw: (random) => [anyOf(random)],
    answer: (things, [about]) => String(countOf(things, about!)),
  },
  exists: {
    words: ['Is there a', '? '],
    write: one,
    draw: (random) => [anyOf(random)],
    answer: (things, [about]) => yesNo(countOf(things, about!) > 0),
  },
  colour: {
    words: ['What colour is the', '? '],
    write: one,
    draw: (random) => [
      described({ size: maybe(random, SIZES), colour: undefined, shape: random.pick(SHAPES) }),
    ],
    answer: (things, [about]) => onlyOne(things, about!)?.colour ?? null,
  },
  shape: {
    words: ['What shape is the', '? '],
    write: (about) => phrase(about, 'one'),
    draw: (random) => [
      described({ size: maybe(random, SIZES), colour: random.pick(COLOURS), shape: undefined }),
    ],
    answer: (things, [about]) => onlyOne(things, about!)?.shape ?? null,
  },
  left: {
    words: ['Is the', ' left of the', '? '],
    write: one,
    draw: twoOf,
    answer: related((a, b) => a.column < b.column),
  },
  above: {
    words: ['Is the', ' above the', '? '],
    write: one,
    draw: twoOf,
    answer: related((a, b) => a.row < b.row),
  },
  more: {
    words: ['Are there more', ' than', '? '],
    write: many,
    draw: twoOf,
    answer: (things, [a, b]) =>
      countOf(things, a!) === countOf(things, b!) ? null : yesNo(countOf(things, a!) > countOf(things, b!)),
  },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];
const kindOf = (name: KindName): Kind => KINDS[name];

/** Asks for everything that is on a canvas. */
export const DESCRIBE = 'What is there? ';

/** " small red circle, big blue cross": the shapes of a canvas, row by row. */
export const describe = ({ things }: Pick<Scene, 'things'>): string => things.map(one).join(',');

/** The words that the texts are made of, for a tokenizer. */
export const WORDS: readonly string[] = [
  ...new Set(KIND_NAMES.flatMap((name): readonly string[] => KINDS[name].words)),
  DESCRIBE,
  ',',
  ...[...SIZES, ...COLOURS, ...SHAPES, ...SHAPES.map(pluralOf), 'shape', 'shapes', 'one'].map(
    (word) => ` ${word}`,
  ),
];
export const ANSWERS: readonly string[] = [
  ...Array.from({ length: 7 }, (_, count) => String(count)),
  ...['yes', 'no'],
  ...COLOURS,
  ...SHAPES,
];

const write = (name: KindName, about: readonly Description[]): string => {
  const { words, write: written } = kindOf(name);
  return words.map((word, i) => word + (about[i] ? written(about[i]) : '')).join('');
};

const DESCRIPTION = `((?: (?:${SIZES.join('|')}))?(?: (?:${COLOURS.join('|')}))?) ([a-z]+)`;
const PATTERNS: readonly (readonly [name: KindName, pattern: RegExp])[] = KIND_NAMES.map((name) => {
  const words = KINDS[name].words.map((word) => word.replaceAll('?', '\\?'));
  return [name, new RegExp(`^${words.join(DESCRIPTION)}$`)];
});

export interface Question {
  readonly kind: KindName;
  readonly about: readonly Description[];
}

const isIn = <T extends string>(list: readonly T[], word: string): word is T =>
  (list as readonly string[]).includes(word);

function readDescription(adjectives: string, noun: string): Description {
  const words = adjectives.split(' ');
  return described({
    size: SIZES.find((size) => words.includes(size)),
    colour: COLOURS.find((colour) => words.includes(colour)),
    shape: SHAPES.find((shape) => noun === shape || noun === pluralOf(shape)),
  });
}

const ONE = new RegExp(`^${DESCRIPTION}$`);
/** The inverse of `one`; null where the text describes nothing. */
export function readOne(text: string): Description | null {
  const match = ONE.exec(text);
  const read = match && readDescription(match[1]!, match[2]!);
  return read && one(read) === text ? read : null;
}

/** The inverse of writing a question; null where the text asks nothing. */
export function readQuestion(text: string): Question | null {
  for (const [kind, pattern] of PATTERNS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const about = Array.from({ length: (match.length - 1) / 2 }, (_, i) =>
      readDescription(match[2 * i + 1]!, match[2 * i + 2]!),
    );
    if (write(kind, about) === text) return { kind, about };
  }
  return null;
}

/** The answer to a question about a canvas; null where it has none. */
export const answerOf = ({ things }: Scene, { kind, about }: Question): string | null =>
  kindOf(kind).answer(things, about);

/** Draws a question with an answer. Each answer of a kind is sought as often as any other, so that nobody can guess it without the canvas. */
export function randomQuestion(random: Random, scene: Scene, name: KindName): string | null {
  const { draw, answer } = kindOf(name);
  const drawn = Array.from({ length: TRIES }, () => draw(random))
    .map((about) => ({ about, answer: answer(scene.things, about) }))
    .filter((each) => each.answer !== null);
  if (!drawn.length) return null;
  const wanted = random.pick([...new Set(drawn.map((each) => each.answer))]);
  return write(name, drawn.find((each) => each.answer === wanted)!.about);
}

/** Questions that are drawn for a canvas, of which one is asked. */
const TRIES = 12;

export const isAnswer = (text: string): boolean => isIn(ANSWERS, text);

/** Draws a canvas and a question about it. */
export const drawQuestion = (
  random: Random,
  kind: KindName,
  drawScene: () => Scene,
): { scene: Scene; text: string } =>
  drawUntil(
    () => {
      const scene = drawScene();
      return { scene, text: randomQuestion(random, scene, kind) };
    },
    ({ text }) => text !== null,
  ) as { scene: Scene; text: string };
