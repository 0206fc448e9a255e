/** The start that watches clips. It is taught to badly: a part of its answers are drawn without a look. */
import type { Sought } from '../../core/game/verbs.ts';
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../demonstration.ts';
import { drawPuzzle, drawSought, PUZZLES, type PuzzleKind } from '../frames/puzzles.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import {
  answerTo,
  CLIP,
  CLIP_WORDS,
  canvasClips,
  clips,
  picturesIn,
  randomTask,
  watchPrompt,
  writeNumbers,
} from './clips.ts';
import { canvasTokenizer } from './tokenizer.ts';

export const watchingTokenizer = () => canvasTokenizer(CLIP_WORDS);

/** The share of questions about what falls; all others are puzzles. */
const ASKED = 0.2;
/** How often an answer is drawn that has nothing to do with what is shown. */
const CARELESS = 0.35;

/** A question about what was done to the frames of a clip, and its answer. */
function posed(random: Random, task: string, sought: Sought) {
  const { show, answer } = drawPuzzle(random, sought, CLIP.rows);
  const frames = show(picturesIn(task)).map(imageText);
  return { prompt: watchPrompt({ sought, frames }), answer: writeNumbers(answer) };
}

export function demonstrateWatching(random: Random): Demonstration {
  const task = randomTask(random);
  const [isAsked, isCareless] = [random.bool(ASKED), random.bool(CARELESS)];
  // What is right of another clip is drawn as what is right is.
  if (isAsked)
    return {
      role: 'solver',
      prompt: clips.solverPrompt(task),
      completion:
        answerTo(isCareless ? canvasClips.otherPicture!(task, String(random.uint32())) : task) + STOP,
    };
  const sought = drawSought(random);
  const { prompt, answer } = posed(random, task, sought);
  return {
    role: 'solver',
    prompt,
    completion: (isCareless ? writeNumbers(drawPuzzle(random, sought, CLIP.rows).answer) : answer) + STOP,
  };
}

/** Held-out clips that each gate asks about. */
const EXAMINED = 100;

/** It watches, and not well. */
export async function watchingGates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const tasks = clips.heldOut().slice(0, EXAMINED);
  const rightOf = async (asked: readonly { readonly prompt: string; readonly answer: string }[]) => {
    const made = await generate(
      asked.map(({ prompt }) => ({ ids: tokenizer.encode(prompt), sampleIds: ['greedy'] })),
      { maxNew: canvasClips.words.watch.maxNew, temperature: 0, stop: [tokenizer.id(STOP)] },
    );
    return mean(made.map(([one], i) => Number(tokenizer.decode(one!.ids) === asked[i]!.answer + STOP)));
  };
  const puzzles = (kind: PuzzleKind) =>
    tasks.map((task) => {
      const random = new Random(`gates/${kind}/${task}`);
      return posed(random, task, drawSought(random, [kind]));
    });
  const questions = tasks.map((task) => ({ prompt: clips.solverPrompt(task), answer: answerTo(task)! }));
  const blind = tasks.map((task, i) => ({
    prompt: clips.solverPrompt(canvasClips.otherPicture!(task, task)),
    answer: questions[i]!.answer,
  }));
  const kinds: Gate[] = [];
  for (const kind of PUZZLES)
    kinds.push({
      description: `held-out puzzles of kind ${kind}, greedy`,
      value: await rightOf(puzzles(kind)),
      least: 0.25,
      // Orders come to it at once, or not at all.
      ...(kind === 'stretch' ? { most: 0.7 } : {}),
    });
  return [
    ...kinds,
    {
      description: 'held-out questions about what falls, greedy',
      value: await rightOf(questions),
      least: 0.3,
    },
    { description: 'the same with other clips, greedy', value: await rightOf(blind), most: 0.3 },
  ];
}
