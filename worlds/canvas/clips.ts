/**
 * Clips: five pictures of a canvas of five rows and three columns, on which one shape falls by a row from picture to picture and others stand still.
 *
 *     task      7f3a01c2: small red circle falls at 2; big blue square at 3,0 | What shape falls?
 *     solve     <image:…><image:…><image:…><image:…><image:…>What shape falls?                ->  circle
 *     watch     <image:…><image:…><image:…><image:…><image:…>Which pictures are mirrored?     ->  2,3
 */
import type { Game, Wordings } from '../../core/game/game.ts';
import type { AboutOf, Sought } from '../../core/game/verbs.ts';
import type { Image } from '../../core/images/image.ts';
import { imageText } from '../../core/images/patches.ts';
import { deriveId, Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, ok, type TaskFamily } from '../../core/recipe/task-family.ts';
import { familyGame } from '../family-game.ts';
import { withoutStop } from '../worked.ts';
import { canvas } from './family.ts';
import { COLOURS, drawScene, readScene, SHAPES, SIZES, type Thing } from './scene.ts';

const NAME = 'canvas clips';
const BORDER = ' | ';
const HELD_OUT = 150;
/** A clip has as many pictures as its canvas has rows. */
export const CLIP = { rows: 5, columns: 3 } as const;

const ASKED = { shape: 'What shape falls? ', colour: 'What colour falls? ' } as const;
type Asked = keyof typeof ASKED;
const ASKED_OF = Object.keys(ASKED) as Asked[];

const WATCHED: Readonly<Record<Sought, string>> = {
  mirrored: 'Which pictures are mirrored? ',
  turned: 'Which pictures are upside down? ',
  inverted: 'Which pictures have the opposite colours? ',
  swapped: 'In which pictures are red and blue exchanged? ',
  counts: 'How many cyan circles, squares and triangles are there? ',
  order: 'In which order do the pictures belong? ',
};
/** The words that its texts have beside those of the questions. */
export const CLIP_WORDS: readonly string[] = [...Object.values(ASKED), ...Object.values(WATCHED)];

interface Clip {
  readonly noise: string;
  /** What falls, in the row that it begins in, and what stands still, in other columns. */
  readonly things: readonly [falling: Thing, ...still: Thing[]];
}

const bare = ({ size, colour, shape }: Thing): string => `${size} ${colour} ${shape}`;
const contentOf = ({ things: [falling, ...still] }: Clip): string =>
  [
    `${bare(falling)} falls at ${falling.column}`,
    ...still.map((thing) => `${bare(thing)} at ${thing.row},${thing.column}`),
  ].join('; ');

const FALLS = /^(.*) falls at (\d)$/;

/** The inverse of writing a clip; null where the text is none. */
export function readClip(text: string): Clip | null {
  const [noise = '', content = ''] = text.split(': ');
  const [first = '', ...others] = content.split('; ');
  const [, said, column] = FALLS.exec(first) ?? [];
  // Things that stand still are read as a canvas has them, and so is the one that falls, in its first row.
  const all = [`${said} at 0,${column}`, ...others].map((thing) =>
    readScene(`${CLIP.rows}x${CLIP.columns} ${noise}: ${thing}`),
  );
  if (said === undefined || all.some((scene) => scene === null)) return null;
  const [falling, ...still] = all.map((scene) => scene!.things[0]!) as [Thing, ...Thing[]];
  return still.some((thing) => thing.column === falling.column)
    ? null
    : { noise, things: [falling, ...still] };
}

function readTask(task: string): { readonly clip: Clip; readonly asked: Asked } | null {
  const [shown = '', question = ''] = task.split(BORDER);
  const clip = readClip(shown);
  const asked = ASKED_OF.find((each) => ASKED[each].trimEnd() === question);
  return clip && asked ? { clip, asked } : null;
}

const writeTask = (clip: Clip, asked: Asked): string =>
  `${clip.noise}: ${contentOf(clip)}${BORDER}${ASKED[asked].trimEnd()}`;

/** The pictures of a clip, in their order. */
const picturesOf = ({ noise, things: [falling, ...still] }: Clip): Image[] =>
  Array.from({ length: CLIP.rows }, (_, row) =>
    drawScene({
      ...CLIP,
      noise: deriveId('clip', noise, row).slice(0, 8),
      things: [{ ...falling, row }, ...still],
    }),
  );

/** The same of a task; none where the text is none. */
export const picturesIn = (task: string): Image[] => {
  const read = readTask(task);
  return read ? picturesOf(read.clip) : [];
};

const isHeldOut = (task: string): boolean => {
  const read = readTask(task);
  return read !== null && isHeldOutKey(NAME, contentOf(read.clip));
};

function randomClip(random: Random): Clip {
  const thing = (row: number, column: number): Thing => ({
    size: random.pick(SIZES),
    colour: random.pick(COLOURS),
    shape: random.pick(SHAPES),
    row,
    column,
  });
  const noise = random.uint32().toString(16).padStart(8, '0');
  const [first, ...others] = random.shuffle(Array.from({ length: CLIP.columns }, (_, column) => column));
  const still = others
    .slice(0, 1 + random.int(others.length))
    .sort()
    .map((column) => thing(random.int(CLIP.rows), column));
  return { noise, things: [thing(0, first!), ...still] };
}

export const randomTask = (random: Random, forMeasurement = false): string =>
  drawUntil(
    () => writeTask(randomClip(random), random.pick(ASKED_OF)),
    (task) => isHeldOut(task) === forMeasurement,
  );

/** What is right. Null where the text is no task. */
export function answerTo(task: string): string | null {
  const read = readTask(task);
  return read?.clip.things[0][read.asked] ?? null;
}

const isRight = (task: string, answer: string): boolean => answer === answerTo(task);

export const clips: TaskFamily = {
  ...canvas,
  name: NAME,
  random: (random) => randomTask(random),
  heldOut: heldOutTasks(NAME, HELD_OUT, randomTask, isHeldOut),
  isHeldOut,
  difficulty: (task) => readTask(task)?.clip.things.length ?? 0,
  isUnlabelled: () => false,
  solverPrompt: (task) => {
    const read = readTask(task);
    return read ? picturesOf(read.clip).map(imageText).join('') + ASKED[read.asked] : '';
  },
  answerIsExact: (task, { answer }) => isRight(task, answer),
  exactJudgment: (task, { answer }) => ({ steps: [], right: isRight(task, answer) }),
};

const NUMBERS = /^\d(?:,\d)*$/;

export const watchPrompt = ({ sought, frames }: Pick<AboutOf<'watch'>, 'sought' | 'frames'>): string =>
  (frames ?? []).join('') + WATCHED[sought];

export const writeNumbers = (numbers: readonly number[]): string => numbers.join(',');

const words: Wordings<'watch'> = {
  watch: {
    // An order is five numbers with four signs between them, and its end.
    maxNew: 10,
    ask: watchPrompt,
    read: (text) => {
      const said = withoutStop(text);
      return said !== null && NUMBERS.test(said) ? ok(said.split(',').map(Number)) : invalid('off-grammar');
    },
  },
};

export const canvasClips: Game<'solve' | 'verify' | 'watch'> = familyGame(clips, {
  words,
  data: ['frames'],
  question: (task) => task.split(BORDER)[1] ?? '',
  write: ({ answer }) => answer,
  frames: (task) => picturesIn(task).map(imageText),
  otherPicture: (task, key) => {
    const read = readTask(task);
    const random = new Random(`clips/other/${key}`);
    return read ? writeTask(readTask(randomTask(random, isHeldOut(task)))!.clip, read.asked) : task;
  },
});
