/**
 * Requests for drawings in which one shape is called a mark. What the mark is differs from request to request; a tool shows its picture.
 *
 *     task     red circle: big mark, small blue cross
 *     drawer   Draw: big mark, small blue cross.                                   ->  Look at the mark.
 *     tool     <image:…>Now draw.                                                  ->  big red circle at 0,2; small blue cross at 3,1
 *
 * Who draws without a look has to guess. A teacher reads a lesson before the request: what the best attempt at it did and had, and what the worst had.
 */
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, ok, type TaskFamily } from '../../core/recipe/task-family.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import { STOP, withoutStop } from '../worked.ts';
import { drawings, isWanted, painted, randomDrawing, shapesIn, wantedIn } from './drawing.ts';
import { one, readOne } from './questions.ts';
import { COLOURS, drawScene, type Scene, SHAPES } from './scene.ts';

const NAME = 'canvas requests';
const HELD_OUT = 150;
const BORDER = ': ';
const MARK = ' mark';
export const LOOK = 'Look at the mark.';
const NOW = 'Now draw. ';
/** Rows and columns of the tool's picture. */
export const MARK_GRID = { rows: 3, columns: 3 } as const;
/** A trajectory is one look at most, and then a drawing. */
export const MOST_TURNS = 2;

const LESSON = 'Lesson:';
const LOOK_FIRST = ' look first';
const WITH = ' with';
const WITHOUT = ' without';
/** The words that its texts have beside those of drawings. */
export const REQUEST_WORDS: readonly string[] = [MARK, LOOK, NOW, LESSON, LOOK_FIRST, WITH, WITHOUT];

interface Request {
  /** What the mark is: " red circle". */
  readonly mark: string;
  /** What is asked for, in words: "big mark, small blue cross". */
  readonly asked: string;
  /** What is wanted, as a task of drawings: "big red circle, small blue cross". */
  readonly wanted: string;
}

/** The inverse of writing a request; null where the text is none. */
export function readRequest(task: string): Request | null {
  const [said = '', asked = '', ...more] = task.split(BORDER);
  const mark = ` ${said}`;
  const read = readOne(mark);
  const parts = ` ${asked}`.split(MARK);
  if (more.length || parts.length !== 2 || !read?.colour || !read.shape || read.size) return null;
  const wanted = parts.join(mark).trim();
  return wantedIn(wanted) ? { mark, asked, wanted } : null;
}

/** A request for a drawing, in which one of its shapes is the mark. */
function requestFor({ things }: Pick<Scene, 'things'>, at: number): string {
  const { size, colour, shape } = things[at]!;
  const asked = shapesIn({ things }).map((each, i) => (i === at ? size + MARK : each));
  return `${one({ colour, shape }).trim()}${BORDER}${asked.join(', ')}`;
}

const isHeldOut = (task: string): boolean => {
  const read = readRequest(task);
  return read !== null && isHeldOutKey(NAME, read.wanted);
};

const randomRequest = (random: Random, forMeasurement = false): string =>
  drawUntil(
    () => {
      const scene = randomDrawing(random);
      return requestFor(scene, random.int(scene.things.length));
    },
    (task) => isHeldOut(task) === forMeasurement,
  );

export const requestPrompt = (task: string): string => {
  const read = readRequest(task);
  return read ? `Draw: ${read.asked}. ` : '';
};

/** What the tool answers: the mark on a small canvas, whose noise follows from the request. */
export function markPicture(task: string): string {
  const random = new Random(`mark/${task}`);
  const { colour, shape } = readOne(readRequest(task)!.mark)!;
  const [row, column] = [random.int(MARK_GRID.rows), random.int(MARK_GRID.columns)];
  const thing = { size: 'big', colour: colour!, shape: shape!, row, column } as const;
  const noise = random.uint32().toString(16).padStart(8, '0');
  return imageText(drawScene({ ...MARK_GRID, noise, things: [thing] })) + NOW;
}

/** The same request where the mark is something else, which follows from a key. */
export function otherMark(task: string, key: string): string {
  const random = new Random(`mark/other/${key}`);
  const { mark, asked } = readRequest(task)!;
  const other = drawUntil(
    () => one({ colour: random.pick(COLOURS), shape: random.pick(SHAPES) }),
    (drawn) => drawn !== mark,
  );
  return `${other.trim()}${BORDER}${asked}`;
}

/** How far an attempt has come: whether its drawer has looked, and the program that was drawn; null = none. */
export interface Attempt {
  readonly looked: boolean;
  readonly program: string | null;
}
export const BEGUN: Attempt = { looked: false, program: null };

/** An attempt after a text. A second look ends it. */
export function attemptAfter(
  before: Attempt,
  text: string,
): { readonly attempt: Attempt; readonly ends: boolean; readonly outcome: Outcome } {
  const said = withoutStop(text);
  if (said === LOOK)
    return before.looked
      ? { attempt: before, ends: true, outcome: 'off-grammar' }
      : { attempt: { ...before, looked: true }, ends: false, outcome: 'ok' };
  return said !== null && painted(said)
    ? { attempt: { ...before, program: said }, ends: true, outcome: 'ok' }
    : { attempt: before, ends: true, outcome: 'off-grammar' };
}

export const attemptOf = (texts: readonly string[]): Attempt =>
  texts.reduce((attempt, text) => attemptAfter(attempt, text).attempt, BEGUN);

const drawnIn = ({ program }: Attempt): string[] => {
  const scene = program === null ? null : painted(program);
  return scene ? shapesIn(scene) : [];
};

/** What stands in the first list and not in the second, each as often as it does. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The shapes that are wanted and drawn, of as many as are wanted or drawn, whichever is more: 0 to 1. */
export function scoreOf(task: string, attempt: Attempt): number {
  const wanted = readRequest(task)!.wanted.split(', ');
  const drawn = drawnIn(attempt);
  return (wanted.length - without(wanted, drawn).length) / Math.max(wanted.length, drawn.length);
}

/** What the best attempt at a request has ahead of the worst, as a text; empty where that is nothing that can be told. */
export function lessonOf(best: Attempt, worst: Attempt): string {
  const [good, bad] = [drawnIn(best), drawnIn(worst)];
  const parts = [
    ...(best.looked && !worst.looked ? [LOOK_FIRST] : []),
    ...[
      [WITH, good.filter((thing) => !bad.includes(thing))] as const,
      [WITHOUT, bad.filter((thing) => !good.includes(thing))] as const,
    ].flatMap(([word, things]) =>
      things.length ? [word + things.map((thing) => ` ${thing}`).join(',')] : [],
    ),
  ];
  return parts.length ? `${LESSON}${parts.join(';')}. ` : '';
}

export const requests: TaskFamily = {
  ...drawings,
  name: NAME,
  random: (random) => randomRequest(random),
  heldOut: heldOutTasks(NAME, HELD_OUT, randomRequest, isHeldOut),
  isHeldOut,
  difficulty: (task) => readRequest(task)?.wanted.split(', ').length ?? 0,
  solverPrompt: requestPrompt,
  parseSolution: (_task, text) => {
    const { attempt, outcome } = attemptAfter(BEGUN, text);
    return attempt.program === null
      ? invalid(outcome === 'ok' ? 'no-question' : 'off-grammar')
      : ok({ steps: [], answer: attempt.program });
  },
  answerIsExact: (task, { answer }) => isExact(task, answer),
  exactJudgment: (task, { answer }) => ({ steps: [], right: isExact(task, answer) }),
};

const isExact = (task: string, program: string): boolean => {
  const read = readRequest(task);
  return read !== null && isWanted(read.wanted, program);
};

/** What a drawer reads after a look: its own words, and the picture. */
export const shownAfter = (task: string): string => requestPrompt(task) + LOOK + STOP + markPicture(task);

/** For demonstrations: a drawing, a request for it, and the shape that is the mark. */
export function drawnRequest(random: Random): { task: string; scene: Scene; at: number } {
  return drawUntil(
    () => {
      const scene = randomDrawing(random);
      const at = random.int(scene.things.length);
      return { task: requestFor(scene, at), scene, at };
    },
    ({ task }) => !isHeldOut(task),
  );
}
