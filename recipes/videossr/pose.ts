/** Poses the puzzle of a group on the frames of its task, and reads the answers. A puzzle follows from the id of its group and the number of frames. */
import type { Game, Speaker } from '../../core/game/game.ts';
import { type Image, keptImage } from '../../core/images/image.ts';
import { imagesNamed, imageText } from '../../core/images/patches.ts';
import { bringImages } from '../../core/images/shown.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, ok, rendered, type TaskFamily } from '../../core/recipe/task-family.ts';
import {
  canAnswer,
  drawPuzzle,
  drawSought,
  PUZZLES,
  type Puzzle,
  type PuzzleKind,
} from '../../worlds/frames/puzzles.ts';
import { saysExactly } from './scores.ts';

export type WatchedGame = Game<'solve' | 'watch'>;

/** The kinds of puzzles that a variant plays. */
export const KINDS_OF: Readonly<Record<string, readonly PuzzleKind[]>> = {
  'stretch-only': ['stretch'],
  'counts-only': ['counts'],
  'order-only': ['order'],
};

export interface Posed extends Puzzle {
  /** The puzzle whose frames are shown: this one, or another of its kind. */
  readonly shown: Puzzle;
  /** Reads an answer as a solution, whose answer is numbers with commas. */
  readonly family: TaskFamily;
}

export const numbersOf = (answer: string): number[] => answer.split(',').map(Number);

/** `blind`: another puzzle of the kind is shown. */
export function posedIn(
  game: WatchedGame,
  task: string,
  key: string,
  {
    kinds = PUZZLES,
    blind = false,
  }: { readonly kinds?: readonly PuzzleKind[]; readonly blind?: boolean } = {},
): Posed {
  const count = game.frames!(task).length;
  const random = new Random(`videossr/${key}`);
  const sought = drawSought(random, kinds);
  const puzzle = drawPuzzle(random, sought, count);
  const read = (text: string, speaker: Speaker): ReturnType<TaskFamily['parseSolution']> => {
    const said = game.words.watch.read(text, { task, sought, frames: null }, speaker);
    if (!said.ok) return said;
    return canAnswer(sought, said.value, count)
      ? ok({ steps: [text], answer: said.value.join(',') })
      : invalid('off-grammar');
  };
  const isRight = (answer: string) => saysExactly(numbersOf(answer), puzzle.answer);
  const known = {
    isUnlabelled: () => false,
    answerIsExact: (_, { answer }) => isRight(answer),
    exactJudgment: (_, { answer }) => ({ steps: [], right: isRight(answer) }),
  } satisfies Partial<TaskFamily>;
  return {
    ...puzzle,
    shown: blind ? drawPuzzle(new Random(`videossr/blind/${key}`), sought, count) : puzzle,
    family: {
      ...game.family,
      ...known,
      // A world in the notation of its policies needs nothing to read an answer.
      parseSolution: (_, text) => read(text, { renderer: neverRendered }),
      ...(game.family.renderedBy
        ? {
            renderedBy: (renderer) => ({
              ...rendered(game.family, { renderer: () => renderer }),
              ...known,
              parseSolution: (_, text) => read(text, { renderer: () => renderer }),
            }),
          }
        : {}),
    },
  };
}

function neverRendered(): never {
  throw new Error('internal: a world that asks in messages was read without a renderer');
}

/** The frames of a task, which may lie in the store of the run. */
async function imagesOf(
  { tokenizer, readStored }: Pick<RoundContext, 'tokenizer' | 'readStored'>,
  frames: readonly string[],
): Promise<Image[]> {
  await bringImages(
    frames.map((text) => tokenizer.encode(text)),
    { read: readStored },
  );
  return frames.map((text) => keptImage(imagesNamed(text)[0]!.image));
}

/** What is asked about a task: its frames as its puzzle shows them. */
export async function puzzlePrompt(
  game: WatchedGame,
  context: Pick<RoundContext, 'tokenizer' | 'readStored' | 'renderer'>,
  task: string,
  { sought, shown }: Posed,
): Promise<string> {
  const frames = shown.show(await imagesOf(context, game.frames!(task))).map(imageText);
  return game.words.watch.ask({ task, sought, frames }, context);
}
