/**
 * Drawings under marks of a style: a stylist chooses how a clean drawing is stamped, and an eraser says what was drawn beneath.
 *
 *     task      big red circle at 0,2; small blue cross at 3,1
 *     stylist   <image:clean>Choose a style.      ->   purple bars many
 *     eraser    <image:stamped>What is beneath?   ->   big red circle at 0,2; small blue cross at 3,1
 *
 * Pictures of the world are stamped, too, in styles of which nobody knows a list. Only those are what an eraser is measured on.
 */
import type { Image } from '../../core/images/image.ts';
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, ok, type ParseResult, type TaskFamily } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { drawings, painted, programOf, randomDrawing, taskOf } from './drawing.ts';
import { COLOURS, type Colour, drawScene, PAINTS, type Scene } from './scene.ts';

const NAME = 'canvas stamps';
const HELD_OUT = 150;

/** How far a mark reaches to the right and down, as the pixels that it paints. */
const MARKS = {
  dots: [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ],
  bars: [0, 1, 2, 3, 4, 5].map((x) => [x, 0]),
  posts: [0, 1, 2, 3, 4, 5].map((y) => [0, y]),
} as const satisfies Record<string, readonly (readonly number[])[]>;
const AMOUNTS = { few: 6, some: 14, many: 28 } as const;

export interface Style {
  readonly colour: Colour;
  readonly form: keyof typeof MARKS;
  readonly amount: keyof typeof AMOUNTS;
}
const FORMS_OF_MARKS = Object.keys(MARKS) as Style['form'][];
const AMOUNTS_OF_MARKS = Object.keys(AMOUNTS) as Style['amount'][];

const CHOOSE = 'Choose a style. ';
const BENEATH = 'What is beneath? ';
const IS_IT = 'Is it ';
const REAL = 'real? ';
/** The words that its texts have beside those of drawings. */
export const STAMP_WORDS: readonly string[] = [
  CHOOSE,
  BENEATH,
  IS_IT,
  REAL,
  ...[...FORMS_OF_MARKS, ...AMOUNTS_OF_MARKS].map((word) => ` ${word}`),
];

/** Every style as often as any other. */
export const randomStyle = (random: Random): Style => ({
  colour: random.pick(COLOURS),
  form: random.pick(FORMS_OF_MARKS),
  amount: random.pick(AMOUNTS_OF_MARKS),
});

/** A style of the world's pictures: many or some bars, white or purple; one in five has posts. */
export const realStyle = (random: Random): Style => ({
  colour: random.pick(['white', 'purple'] as const),
  form: random.bool(0.2) ? 'posts' : 'bars',
  amount: random.bool(0.7) ? 'many' : 'some',
});

/** Could a picture of the world have this style? */
export const isReal = ({ colour, form, amount }: Style): boolean =>
  (colour === 'white' || colour === 'purple') && form !== 'dots' && amount !== 'few';

export const writeStyle = ({ colour, form, amount }: Style): string => ` ${colour} ${form} ${amount}`;

/** The inverse of `writeStyle` with the token that ends a text. */
export function readStyle(text: string): ParseResult<Style> {
  const [empty, colour, form, amount, ...more] = (withoutStop(text) ?? '').split(' ');
  const known = <T extends string>(list: readonly T[], word: string | undefined) =>
    list.find((each) => each === word);
  const [paint, mark, many] = [
    known(COLOURS, colour),
    known(FORMS_OF_MARKS, form),
    known(AMOUNTS_OF_MARKS, amount),
  ];
  return empty === '' && paint && mark && many && !more.length
    ? ok({ colour: paint, form: mark, amount: many })
    : invalid('off-grammar');
}

/** A picture with marks over it; where they are follows from `key`. */
export function stampedOver({ width, height, pixels }: Image, style: Style, key: string): Image {
  const random = new Random(`stamp/${key}`);
  const over = pixels.slice();
  for (let mark = 0; mark < AMOUNTS[style.amount]; mark++) {
    const [left, top] = [random.int(width), random.int(height)];
    for (const [x, y] of MARKS[style.form])
      if (left + x! < width && top + y! < height)
        over.set(PAINTS[style.colour], 3 * ((top + y!) * width + left + x!));
  }
  return { width, height, pixels: over };
}

/** The drawing of a task; null where the text is none. */
export const drawnOf = (task: string): Scene | null => painted(` ${task}`);
/** What an eraser is to say. */
export const beneath = (task: string): string => ` ${task}`;

const cleanOf = (task: string): Image => drawScene(drawnOf(task)!);

export const stylePrompt = (task: string): string => imageText(cleanOf(task)) + CHOOSE;

/** What is asked of a drawing in a style. */
export const erasePrompt = (task: string, style: Style, key: string): string =>
  imageText(stampedOver(cleanOf(task), style, key)) + BENEATH;

/** A picture of the world, over a drawing; its style follows from `key`, too. */
const realImage = (task: string, key: string): Image =>
  stampedOver(cleanOf(task), realStyle(new Random(`real/${key}`)), key);

/** A picture to somebody who is asked whether it is one of the world: what he sees, and the question. */
export const realSeen = (task: string, key: string) => ({
  seen: imageText(realImage(task, key)) + IS_IT,
  asked: REAL,
});
export const madeSeen = (task: string, style: Style, key: string) => ({
  seen: imageText(stampedOver(cleanOf(task), style, key)) + IS_IT,
  asked: REAL,
});

const isHeldOut = (task: string): boolean => {
  const scene = drawnOf(task);
  return scene !== null && isHeldOutKey(NAME, taskOf(scene));
};

const randomTask = (random: Random, forMeasurement = false): string =>
  drawUntil(
    () => programOf(randomDrawing(random)).trimStart(),
    (task) => isHeldOut(task) === forMeasurement,
  );

/** The shapes that are drawn and read at their places, of as many as are drawn or read, whichever is more: 0 to 1. */
export function restored(task: string, program: string): number {
  const [wanted, read] = [task, program].map((text) => text.trimStart().split('; '));
  return wanted!.filter((thing) => read!.includes(thing)).length / Math.max(wanted!.length, read!.length);
}

/** Held-out drawings as pictures of the world. */
export const stamps: TaskFamily = {
  ...drawings,
  name: NAME,
  random: (random) => randomTask(random),
  heldOut: heldOutTasks(NAME, HELD_OUT, randomTask, isHeldOut),
  isHeldOut,
  difficulty: (task) => drawnOf(task)?.things.length ?? 0,
  solverPrompt: (task) => (drawnOf(task) ? imageText(realImage(task, task)) + BENEATH : ''),
  answerIsExact: (task, { answer }) => restored(task, answer) === 1,
  exactJudgment: (task, { answer }) => ({ steps: [], right: restored(task, answer) === 1 }),
};

/** A drawing that has nothing to do with a task, which follows from a key. */
export const otherDrawn = (key: string): string => randomTask(new Random(`stamps/other/${key}`));

/** A drawing with nothing over it, to an eraser. */
export const cleanPrompt = (task: string): string => imageText(cleanOf(task)) + BENEATH;
