/**
 * Pairs of canvases that differ in one shape, for a game in which one player is shown the other canvas: players say what is on theirs, and vote on who sees another one.
 *
 *     task      4x3 7f3a01c2: big red circle at 1,2; … ~ 4x3 90ab12fe: big blue circle at 1,2; … | What colour is the circle?
 *     clue      <image:…>Clue 1: small blue cross. Give a clue.                           ->   big red circle
 *     vote      <image:…>Clue 1: small blue cross. Clue 2: big blue circle. Who is the spy?   ->  2
 *
 * The question is about the first canvas. It is not a part of the game: evaluations ask it.
 */
import type { Game, Wordings } from '../../core/game/game.ts';
import type { AboutOf } from '../../core/game/verbs.ts';
import { imageText } from '../../core/images/patches.ts';
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import { invalid, ok, type TaskFamily } from '../../core/recipe/task-family.ts';
import { familyGame } from '../family-game.ts';
import { withoutStop } from '../worked.ts';
import { otherScene } from './asking.ts';
import { canvas, isHeldOutScene, questionOf, readAsked, writeTask } from './family.ts';
import { isThere, KIND_NAMES, one, randomQuestion, readOne } from './questions.ts';
import { COLOURS, drawScene, randomScene, readScene, type Scene, SHAPES, writeScene } from './scene.ts';

const NAME = 'canvas pairs';
const TWIN = ' ~ ';
const HELD_OUT = 252;
/** Shapes on a canvas of a pair, at most. */
const MOST_THINGS = 3;
/** Alterations of a canvas that are tried. */
const ALTERATIONS = 12;
/** The most clues that a policy has words for. */
export const MOST_CLUES = 4;

const SPY = 'You are the spy. ';
const GIVE = 'Give a clue. ';
const WHO = 'Who is the spy? ';
const END = '. ';
const UNSURE = 'unsure';
const clueNumber = (seat: number): string => `Clue ${seat}:`;

/** The words that its texts have beside those of the questions. */
export const PAIR_WORDS: readonly string[] = [
  SPY,
  GIVE,
  WHO,
  END,
  UNSURE,
  ...Array.from({ length: MOST_CLUES }, (_, i) => clueNumber(i + 1)),
];

/** The canvas of all, and that of the spy; null where the text is no pair. */
export function readPair(task: string): readonly [Scene, Scene] | null {
  const [all, spy, ...more] = task.split(' | ')[0]!.split(TWIN).map(readScene);
  return all && spy && !more.length ? [all, spy] : null;
}

/** The question about the first canvas as a task of canvases; empty where the text is no pair. */
const alone = (task: string): string => {
  const pair = readPair(task);
  return pair ? writeTask(pair[0], questionOf(task)) : '';
};

/** A canvas on which one shape has another colour or is another shape, so that what is said of it on the one is not true of the other; the shapes are distinct. */
export function altered(random: Random, scene: Scene): Scene {
  const noise = random.uint32().toString(16).padStart(8, '0');
  return drawUntil(
    () => {
      const at = random.int(scene.things.length);
      const change = random.bool(0.5) ? { colour: random.pick(COLOURS) } : { shape: random.pick(SHAPES) };
      const things = scene.things.map((thing, i) => (i === at ? { ...thing, ...change } : thing));
      return { ...scene, noise, things };
    },
    (other) => {
      const at = scene.things.findIndex((thing, i) => one(thing) !== one(other.things[i]!));
      return at >= 0 && !isThere(scene, bare(other.things[at]!)) && !isThere(other, bare(scene.things[at]!));
    },
  );
}

/** What a thing is, without its place. */
const bare = ({ size, colour, shape }: Scene['things'][number]) => ({ size, colour, shape });

const areDistinct = ({ things }: Scene): boolean => new Set(things.map(clueOf)).size === things.length;

/** A pair with a question, both canvases on one side of the split. */
export function randomPair(random: Random, forMeasurement = false): string {
  const isOnSide = (scene: Scene) => isHeldOutScene(scene) === forMeasurement;
  const drawn = drawUntil(
    () => {
      const scene = drawUntil(
        () => randomScene(random),
        (each) => each.things.length <= MOST_THINGS && areDistinct(each) && isOnSide(each),
      );
      // Of few of its alterations one may be on the same side.
      const others = Array.from({ length: ALTERATIONS }, () => altered(random, scene));
      const text = randomQuestion(random, scene, random.pick(KIND_NAMES));
      return { scene, other: others.find(isOnSide), text };
    },
    ({ other, text }) => other !== undefined && text !== null,
  );
  return `${writeScene(drawn.scene)}${TWIN}${writeTask(drawn.other!, drawn.text!)}`;
}

const isHeldOut = (task: string): boolean => readPair(task)?.some(isHeldOutScene) ?? false;

export const heldOutPairs = heldOutTasks(NAME, HELD_OUT, randomPair, isHeldOut);

const pairs: TaskFamily = {
  ...canvas,
  name: NAME,
  random: (random) => randomPair(random),
  heldOut: heldOutPairs,
  isHeldOut,
  difficulty: (task) => canvas.difficulty(alone(task)),
  isUnlabelled: (task) => canvas.isUnlabelled!(alone(task)),
  solverPrompt: (task) => canvas.solverPrompt(alone(task)),
  answerIsExact: (task, solution) => canvas.answerIsExact(alone(task), solution),
  exactJudgment: (task, solution) => canvas.exactJudgment(alone(task), solution),
};

const saidBefore = (clues: readonly string[]): string =>
  clues.map((clue, i) => `${clueNumber(i + 1)}${clue === '' ? '' : ` ${clue}`}${END}`).join('');

/** What a clue says of a shape on a canvas: " big red circle". */
export const clueOf = (thing: Scene['things'][number]): string => one(bare(thing));

/** Is a clue true of a canvas? */
export function holds(scene: Scene, clue: string): boolean {
  const said = readOne(` ${clue}`);
  return said !== null && isThere(scene, said);
}

export const cluePrompt = (scene: Scene, { clues, spy }: Omit<AboutOf<'clue'>, 'task'>): string =>
  imageText(drawScene(scene)) + saidBefore(clues) + (spy ? SPY : '') + GIVE;

export const votePrompt = (scene: Scene, clues: readonly string[]): string =>
  imageText(drawScene(scene)) + saidBefore(clues) + WHO;

/** What a voter writes. */
export const voteText = (seat: number | null): string => (seat === null ? UNSURE : String(seat));

const words: Wordings<'clue' | 'vote'> = {
  clue: {
    maxNew: 5,
    ask: ({ task, ...about }) => {
      const pair = readPair(task);
      return pair ? cluePrompt(pair[about.spy ? 1 : 0], about) : '';
    },
    read: (text) => {
      const said = withoutStop(text);
      return said !== null && readOne(said) ? ok(said.trim()) : invalid('off-grammar');
    },
  },
  vote: {
    maxNew: 3,
    ask: ({ task, clues }) => {
      const pair = readPair(task);
      return pair ? votePrompt(pair[0], clues) : '';
    },
    read: (text, { clues }) => {
      const said = withoutStop(text);
      if (said === UNSURE) return ok(null);
      const seat = Number(said);
      return said !== null && /^[1-9]$/.test(said) && seat <= clues.length
        ? ok(seat)
        : invalid('off-grammar');
    },
  },
};

export const canvasPairs: Game<'solve' | 'verify' | 'clue' | 'vote'> = familyGame(pairs, {
  words,
  data: ['pictures'],
  question: questionOf,
  write: ({ answer }) => answer,
  otherPicture: (task, key) => {
    const [pair, asked] = [readPair(task), readAsked(alone(task))];
    if (!pair || !asked) return task;
    const [all, spy] = pair.map((scene, i) => otherScene(scene, `${key}/${i}`)) as [Scene, Scene];
    return `${writeScene(all)}${TWIN}${writeTask(spy, questionOf(task))}`;
  },
});
