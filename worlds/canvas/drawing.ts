/**
 * Drawings by a policy: it is told what is wanted, and writes a program of shapes and their cells, which is painted on a canvas of 32 × 32 pixels.
 *
 *     task     big red circle, small blue cross
 *     drawer   Draw: big red circle, small blue cross.   ->   big red circle at 0,2; small blue cross at 3,1
 *
 * What is right is known from the program: the shapes are those that were wanted, wherever they stand.
 */
import { imageText } from '../../core/images/patches.ts';
import { deriveId, Random } from '../../core/random.ts';
import type { Part } from '../../core/recipe/reading.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { canvas } from './family.ts';
import { DESCRIBE, type Description, one, readOne } from './questions.ts';
import { drawScene, randomScene, type Scene, type Thing } from './scene.ts';

const NAME = 'canvas drawings';
const SIDE = 4;
const MOST_WANTED = 3;
const MOST_DRAWN = 6;
const HELD_OUT = 150;

const DRAW = 'Draw:';
const END = '. ';
const AT = ' at ';
const NEXT = ';';
const BETWEEN = ',';
/** The words that its texts have beside those of the questions. */
export const DRAWING_WORDS: readonly string[] = [DRAW, END, AT, NEXT];

/** What is wanted, in its order; null where the text wants nothing that can be drawn. */
export function wantedIn(task: string): readonly Description[] | null {
  const wanted = task.split(', ').map((each) => readOne(` ${each}`));
  return wanted.length <= MOST_WANTED && wanted.every((each) => each?.size && each.colour && each.shape)
    ? (wanted as Description[])
    : null;
}

/** " big red circle, small blue cross": what is wanted as it is read from a picture. */
export const captionOf = (task: string): string => ` ${task}`;

/** What is wanted without sizes and colours. */
export const shapesAlone = (task: string): string =>
  (wantedIn(task) ?? []).map(({ shape }) => shape).join(', ');

const THING = new RegExp(`^( [a-z ]+)${AT}([0-${SIDE - 1}]),([0-${SIDE - 1}])$`);

/** The canvas that a program paints; null where it is none, or paints a cell twice. The grain follows from the program. */
export function painted(program: string): Scene | null {
  const things: Thing[] = [];
  for (const each of program.split(NEXT)) {
    const [, said, row, column] = THING.exec(each) ?? [];
    const read = said === undefined ? null : readOne(said);
    if (!read?.size || !read.colour || !read.shape) return null;
    things.push({ ...(read as Required<Description>), row: Number(row), column: Number(column) });
  }
  const cell = ({ row, column }: Thing) => SIDE * row + column;
  if (things.length > MOST_DRAWN || new Set(things.map(cell)).size < things.length) return null;
  return {
    rows: SIDE,
    columns: SIDE,
    noise: deriveId('drawing', program).slice(0, 8),
    things: things.toSorted((a, b) => cell(a) - cell(b)),
  };
}

/** The inverse of `painted`, in the order of the cells. */
export const programOf = ({ things }: Pick<Scene, 'things'>): string =>
  things.map(({ row, column, ...thing }) => `${one(thing)}${AT}${row},${column}`).join(NEXT);

/** A canvas of few shapes, no two of them alike. */
export function randomDrawing(random: Random): Scene {
  const { things } = drawUntil(
    () => randomScene(random),
    ({ things, rows, columns }) =>
      things.length <= MOST_WANTED &&
      rows <= SIDE &&
      columns <= SIDE &&
      new Set(things.map(bareText)).size === things.length,
  );
  return { rows: SIDE, columns: SIDE, noise: '00000000', things };
}

const bareText = ({ size, colour, shape }: Thing): string => one({ size, colour, shape }).trim();

/** A drawing that has nothing to do with what was wanted, which follows from a key. */
export const otherDrawing = (key: string): Scene => randomDrawing(new Random(`drawing/other/${key}`));

/** "big red circle": the shapes of a canvas, row by row. */
export const shapesIn = ({ things }: Pick<Scene, 'things'>): string[] => things.map(bareText);

/** What a canvas shows, as a task. */
export const taskOf = (scene: Pick<Scene, 'things'>): string => shapesIn(scene).join(`${BETWEEN} `);

export const isHeldOutDrawing = (task: string): boolean => isHeldOutKey(NAME, task);

const randomTask = (random: Random, forMeasurement = false): string =>
  drawUntil(
    () => taskOf(randomDrawing(random)),
    (task) => isHeldOutDrawing(task) === forMeasurement,
  );

export const drawPrompt = (task: string): string => `${DRAW}${captionOf(task)}${END}`;

/** The same after a look at a first drawing. */
export const redrawPrompt = (task: string, first: Scene): string =>
  imageText(drawScene(first)) + drawPrompt(task);

/** A painted canvas beside the question what is on it. */
export const readPrompt = (scene: Scene): string => imageText(drawScene(scene)) + DESCRIBE;

function parse(text: string): ParseResult<Solution> {
  const program = withoutStop(text);
  return program !== null && painted(program) ? ok({ steps: [], answer: program }) : invalid('off-grammar');
}

/** Are the shapes of a program those that are wanted, no more and no fewer? */
export function isWanted(task: string, program: string): boolean {
  const [wanted, scene] = [wantedIn(task), painted(program)];
  if (!wanted || !scene) return false;
  const [asked, drawn] = [wanted.map(one), shapesIn(scene).map((shape) => ` ${shape}`)];
  return asked.toSorted().join() === drawn.toSorted().join();
}

export const drawings: TaskFamily = {
  ...canvas,
  name: NAME,
  maxNew: { proposer: 1, solver: 24, judge: 1 },
  random: (random) => randomTask(random),
  heldOut: heldOutTasks(NAME, HELD_OUT, randomTask, isHeldOutDrawing),
  isHeldOut: isHeldOutDrawing,
  difficulty: (task) => wantedIn(task)?.length ?? 0,
  isUnlabelled: () => false,
  solverPrompt: (task) => (wantedIn(task) ? drawPrompt(task) : ''),
  parseSolution: (_task, text) => parse(text),
  answerIsExact: (task, { answer }) => isWanted(task, answer),
  exactJudgment: (task, { answer }) => ({ steps: [], right: isWanted(task, answer) }),
};

/** Questions about single properties of a drawing, each with the answer that is wanted. */
export function askedOf(task: string, scene: Scene): { readonly prompt: string; readonly answer: string }[] {
  const wanted = wantedIn(task) ?? [];
  const picture = imageText(drawScene(scene));
  const isThereA = (described: Description) => ({
    prompt: `${picture}Is there a${one(described)}? `,
    answer: 'yes',
  });
  return [
    ...wanted.flatMap(({ size, colour, shape }) => [
      isThereA({ colour: colour!, shape: shape! }),
      isThereA({ size: size!, shape: shape! }),
    ]),
    { prompt: `${picture}How many shapes are there? `, answer: String(wanted.length) },
  ];
}

/** What is wanted, for a reader. */
export const drawingTitle = (task: string): Part[] => [{ kind: 'text', text: `Draw: ${task}` }];
