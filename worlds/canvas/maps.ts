/**
 * Maps: canvases of 6 × 6 cells that are too large to be seen at once. A policy is shown the whole at half of its size, in which shapes are blurred, and may look at
 * its four parts as they are. It says what a part holds of what is asked for before it looks at the next one or answers.
 *
 *     task      6x6 7f3a01c2: big red circle at 1,2; small blue cross at 4,0 | Where is every red shape?
 *     solver    <image:…>Where is every red shape?                ->  Look 1
 *               <image:…>Seen:                                    ->  1,2;1,2. Look 3
 *
 * An answer to "where" is a box, by the row and column of its first cell and of its last; one to "which" the numbers of what is there, 0 where nothing is; one to "how
 * many" a number.
 */
import { imageText } from '../../core/images/patches.ts';
import type { Random } from '../../core/random.ts';
import type { Part } from '../../core/recipe/reading.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { STOP, withoutStop } from '../worked.ts';
import { canvas, isHeldOutScene, questionOf, writeTask } from './family.ts';
import { type Description, fits, KINDS, many, one, readOne, readQuestion } from './questions.ts';
import { COLOURS, drawScene, randomScene, readScene, type Scene, SHAPES, type Thing } from './scene.ts';
import { halved, quarter } from './views.ts';

const NAME = 'canvas maps';
const SIDE = 6;
const MOST_THINGS = 5;
export const PARTS = [1, 2, 3, 4] as const;
/** Rows and columns of patches of a view. */
export const VIEW = { rows: SIDE / 2, columns: SIDE / 2 } as const;
const CHOICES = 3;
/** Held-out tasks of each kind. */
const HELD_OUT = 90;

export const MAP_KINDS = ['where', 'which', 'count'] as const;
export type MapKind = (typeof MAP_KINDS)[number];

const WHERE = 'Where is every';
const WHICH = 'Which are there:';
const ASKS = '? ';
const NEXT = ';';
const LOOK = 'Look ';
const ANSWER = 'Answer:';
const END = '. ';
/** What is said of a part with nothing in it. */
const NOTHING = 'nothing';
const SAYS = ':';
const SEEN = 'Seen:';

/** The words that its texts have beside those of the questions about canvases. */
export const MAP_WORDS: readonly string[] = [
  WHERE,
  WHICH,
  ASKS,
  NEXT,
  LOOK,
  ANSWER,
  END,
  NOTHING,
  SAYS,
  SEEN,
];

/** What a task asks: the descriptions that it is about. */
export interface Asked {
  readonly kind: MapKind;
  readonly about: readonly Description[];
}

const write = ({ kind, about }: Asked): string => {
  if (kind === 'where') return `${WHERE}${one(about[0]!)}${ASKS}`;
  if (kind === 'which') return `${WHICH}${about.map((each, i) => `${i + 1}${one(each)}`).join(NEXT)}${ASKS}`;
  return KINDS.count.words.join(many(about[0]!));
};

/** The inverse of `write`; null where the text asks nothing of a map. */
function readAsked(text: string): Asked | null {
  const counted = readQuestion(text);
  if (counted?.kind === 'count') return { kind: 'count', about: counted.about };
  const kind: MapKind = text.startsWith(WHERE) ? 'where' : 'which';
  const told = text.slice(kind === 'where' ? WHERE.length : WHICH.length, -ASKS.length);
  const about = told.split(NEXT).map((each) => readOne(kind === 'where' ? each : each.slice(1)));
  if (!about.every((each) => each !== null)) return null;
  const asked = { kind, about };
  return write(asked) === text ? asked : null;
}

/** A task in parts; null where the text is none. */
export function readMap(task: string): (Asked & { readonly scene: Scene }) | null {
  const scene = readScene(task.split(' | ')[0]!);
  const asked = readAsked(`${questionOf(task)} `);
  return scene && asked && { scene, ...asked };
}

/** A cell box, all bounds within it. */
interface Box {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

const boxOf = (things: readonly Thing[]): Box => ({
  top: Math.min(...things.map(({ row }) => row)),
  left: Math.min(...things.map(({ column }) => column)),
  bottom: Math.max(...things.map(({ row }) => row)),
  right: Math.max(...things.map(({ column }) => column)),
});

const BOX = /^([0-5]),([0-5]);([0-5]),([0-5])$/;
function readBox(text: string): Box | null {
  const match = BOX.exec(text);
  if (!match) return null;
  const [top, left, bottom, right] = match.slice(1).map(Number) as [number, number, number, number];
  return top <= bottom && left <= right ? { top, left, bottom, right } : null;
}

/** Which choices an answer names [choices]; null where it is none. */
function readChosen(text: string): boolean[] | null {
  if (!/^(?:0|[1-3](?:,[1-3])*)$/.test(text)) return null;
  const said = text.split(',').map(Number);
  const isInOrder = said.every((each, i) => i === 0 || each > said[i - 1]!);
  return isInOrder ? Array.from({ length: CHOICES }, (_, i) => said.includes(i + 1)) : null;
}

/** The answer that follows from some shapes, of which a policy may have seen a part; null where they hold none. */
export function answerFrom({ kind, about }: Asked, things: readonly Thing[]): string | null {
  const found = about.map((each) => things.filter((thing) => fits(each, thing)));
  if (kind === 'count') return String(found[0]!.length);
  if (kind === 'which')
    return found.flatMap((each, i) => (each.length ? [String(i + 1)] : [])).join(',') || '0';
  if (!found[0]!.length) return null;
  const { top, left, bottom, right } = boxOf(found[0]!);
  return `${top},${left};${bottom},${right}`;
}

/** Intersection over union of two boxes of cells. */
export function boxOverlap(a: Box, b: Box): number {
  const along = (first: number, last: number) => Math.max(0, last - first + 1);
  const size = ({ top, left, bottom, right }: Box) => along(top, bottom) * along(left, right);
  const shared = size({
    top: Math.max(a.top, b.top),
    left: Math.max(a.left, b.left),
    bottom: Math.min(a.bottom, b.bottom),
    right: Math.min(a.right, b.right),
  });
  return shared / (size(a) + size(b) - shared);
}

/** Is an answer one to the kind of question that is asked? */
export function hasForm(task: string, answer: string): boolean {
  const kind = readMap(task)?.kind;
  if (kind === 'where') return readBox(answer) !== null;
  return kind === 'which' ? readChosen(answer) !== null : /^\d$/.test(answer);
}

/** By the oracle, how right an answer is, 0 to 1: IoU of boxes, the share of choices that are right, or whether a number is exact. */
export function rightnessOf(task: string, answer: string): number {
  const read = readMap(task);
  const right = read && answerFrom(read, read.scene.things);
  if (!read || right === null) return 0;
  if (read.kind === 'count') return Number(answer === right);
  if (read.kind === 'where') {
    const said = readBox(answer);
    return said ? boxOverlap(said, readBox(right)!) : 0;
  }
  const [said, there] = [readChosen(answer), readChosen(right)!];
  return said ? said.filter((each, i) => each === there[i]).length / CHOICES : 0;
}

const isIn =
  (part: number) =>
  ({ row, column }: Thing): boolean =>
    1 + 2 * Number(row >= SIDE / 2) + Number(column >= SIDE / 2) === part;

export const thingsIn = ({ things }: Scene, part: number): Thing[] => things.filter(isIn(part));

/** What a part holds of what is asked for, as a policy says it: the answer as it would be if the map had no other parts. */
export const sightOf = (asked: Asked, things: readonly Thing[]): string =>
  answerFrom(asked, things) ?? NOTHING;

/** The whole, blurred, and one of its parts, each as text. */
export const glanceAt = (scene: Scene): string => imageText(halved(drawScene(scene)));
export const lookAt = (scene: Scene, part: number): string => imageText(quarter(drawScene(scene), part));
/** What somebody reads who has looked at a part. */
export const lookReply = (scene: Scene, part: number): string => lookAt(scene, part) + SEEN;

/** The first prompt of a policy that looks. `shown`: the map that it sees, by default that of the task. */
export const mapPrompt = (task: string, shown = readMap(task)?.scene): string =>
  shown ? `${glanceAt(shown)}${questionOf(task)} ` : '';

/** A part that was looked at, and what was said of it. */
export interface Look {
  readonly part: number;
  readonly seen: string;
}
/** The prompt after some looks, at the view of another part. */
export const lookedPrompt = (task: string, shown: Scene, looks: readonly Look[], at: number): string => {
  const parts = [...looks.map(({ part }) => part), at];
  const turns = parts.map((part, t) => {
    const act = writeAct({ look: part });
    return (t === 0 ? act : looks[t - 1]!.seen + END + act) + STOP + lookReply(shown, part);
  });
  return mapPrompt(task, shown) + turns.join('');
};

const toldLook = ({ part, seen }: Look): string => `${LOOK}${part}${SAYS}${seen}${END}`;

/** Asks somebody who sees nothing: what was said of parts before is all he knows. */
export const reasonPrompt = (task: string, looks: readonly Look[]): string =>
  `${questionOf(task)} ${looks.map(toldLook).join('')}`;

/** Asks what a part holds of what is asked for. `shown`: the part as text, or nothing. */
export const sightPrompt = (task: string, shown: string, part: number): string =>
  `${shown}${questionOf(task)} ${LOOK}${part}${SAYS}`;

/** What a policy does next. */
export type Act = { readonly look: number } | { readonly answer: string };

export const writeAct = (act: Act): string =>
  'look' in act ? `${LOOK}${act.look}` : `${ANSWER}${act.answer}`;
/** What it says of a part, and then does. */
export const writeTurn = (seen: string, act: Act): string => seen + END + writeAct(act);
/** Stands between the two. */
export { END as BETWEEN };

const ACT = /^(?:Look ([1-4])|Answer:([0-5](?:[,;][0-5])*))$/;
function readAct(text: string): Act | null {
  const [, look, answer] = ACT.exec(text) ?? [];
  if (look !== undefined) return { look: Number(look) };
  return answer === undefined ? null : { answer };
}

const SIGHT = /^(?:nothing|[0-5](?:[,;][0-5])*)$/;
const invalidText = invalid('off-grammar');

/** What somebody said of a part. */
export function readSight(text: string): ParseResult<string> {
  const said = withoutStop(text);
  return said !== null && SIGHT.test(said) ? ok(said) : invalidText;
}

/** What somebody does who sees nothing, or has not looked yet. */
export function readFirst(text: string): ParseResult<Act> {
  const act = readAct(withoutStop(text) ?? '');
  return act ? ok(act) : invalidText;
}

/** A turn after a look. */
export function readNext(text: string): ParseResult<{ readonly seen: string; readonly act: Act }> {
  const [seen = '', said = '', ...more] = (withoutStop(text) ?? '').split(END);
  const act = readAct(said);
  return act && !more.length && SIGHT.test(seen) ? ok({ seen, act }) : invalidText;
}

/** A map with two to five shapes. */
export const randomMap = (random: Random, isHeldOut: boolean): Scene =>
  drawUntil(
    () => randomScene(random, () => SIDE),
    (scene) => scene.things.length <= MOST_THINGS && isHeldOutScene(scene) === isHeldOut,
  );

/** Another map on the same side of the split, which follows from the key of `random`. */
export const otherMap = (random: Random, task: string): Scene => randomMap(random, maps.isHeldOut(task));

/** A colour, or a shape: what takes one word is found by small policies. */
const anyWord = (random: Random): Description =>
  random.bool() ? { colour: random.pick(COLOURS) } : { shape: random.pick(SHAPES) };

/** A task about a map. Of "where" something is there; of "which" one or two of three are. */
export function randomMapTask(random: Random, kind: MapKind, isHeldOut = false): string {
  const scene = randomMap(random, isHeldOut);
  const draw = (): Asked => ({
    kind,
    about: Array.from({ length: kind === 'which' ? CHOICES : 1 }, () => anyWord(random)),
  });
  const asked = drawUntil(draw, ({ about }) => {
    const there = about.filter((each) => scene.things.some((thing) => fits(each, thing))).length;
    if (kind === 'count') return there > 0 || random.bool(0.3);
    if (kind === 'where') return there === 1;
    return there > 0 && there < CHOICES && new Set(about.map(one)).size === CHOICES;
  });
  return writeTask(scene, write(asked));
}

const isHeldOut = (task: string): boolean => {
  const scene = readScene(task.split(' | ')[0]!);
  return scene !== null && isHeldOutScene(scene);
};

const heldOutOf = new Map(
  MAP_KINDS.map((kind) => [
    kind,
    heldOutTasks(`${NAME}/${kind}`, HELD_OUT, (random, side) => randomMapTask(random, kind, side), isHeldOut),
  ]),
);

/** The held-out tasks of a kind. */
export const heldOutMaps = (kind: MapKind): TaskFamily['heldOut'] => heldOutOf.get(kind)!;

const isRight = (task: string, { answer }: Solution): boolean => rightnessOf(task, answer) === 1;

export const maps: TaskFamily = {
  ...canvas,
  name: NAME,
  maxNew: { proposer: 1, solver: 18, judge: 12 },
  random: (random) => randomMapTask(random, random.pick(MAP_KINDS)),
  heldOut: heldOutMaps('which'),
  isHeldOut,
  difficulty: (task) => readMap(task)?.scene.things.length ?? 0,
  isUnlabelled: () => false,
  solverPrompt: (task) => mapPrompt(task),
  parseSolution: (_, text) => {
    const [first, next] = [readFirst(text), readNext(text)];
    const act = first.ok ? first.value : next.ok ? next.value.act : null;
    return act && 'answer' in act ? ok({ steps: [], answer: act.answer }) : invalidText;
  },
  answerIsExact: isRight,
  exactJudgment: (task, solution) => ({ steps: [], right: isRight(task, solution) }),
};

/** What is asked, for a reader. */
export const mapTitle = (task: string): Part[] => [{ kind: 'text', text: questionOf(task) }];
