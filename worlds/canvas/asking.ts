/** Canvases whose policies also write questions: a proposer is shown a canvas and asks something about it. Nobody sees to it that there is an answer. */

import type { Game } from '../../core/game/game.ts';
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { familyGame } from '../family-game.ts';
import { withoutStop } from '../worked.ts';
import { canvas, isHeldOutScene, questionOf, readAsked, writeTask } from './family.ts';
import { readQuestion } from './questions.ts';
import { drawScene, randomScene, type Scene } from './scene.ts';

/** What a proposer is told beside a canvas. */
export const ASK = 'Ask a question about this picture. ';

export const askPrompt = (scene: Scene): string => imageText(drawScene(scene)) + ASK;

/** A canvas of the same side of the split, which follows from a key. */
export function otherScene(scene: Scene, key: string): Scene {
  const random = new Random(`canvas/other/${key}`);
  return drawUntil(
    () => randomScene(random),
    (drawn) => isHeldOutScene(drawn) === isHeldOutScene(scene),
  );
}

export const askedCanvases: Game<'solve' | 'verify' | 'propose'> = {
  ...familyGame(canvas, {
    question: questionOf,
    write: ({ answer }) => answer,
    otherPicture: (task, key) => {
      const asked = readAsked(task);
      return asked ? writeTask(otherScene(asked.scene, key), questionOf(task)) : task;
    },
    words: {
      propose: {
        // The longest question has nine words and signs, and then its end.
        maxNew: 12,
        ask: ({ like }) => {
          const asked = like === null ? null : readAsked(like);
          return asked ? askPrompt(asked.scene) : '';
        },
        read: (text, { like }) => {
          const [asked, question] = [like === null ? null : readAsked(like), withoutStop(text)];
          return asked && question !== null && readQuestion(question)
            ? ok(writeTask(asked.scene, question))
            : invalid('off-grammar');
        },
      },
    },
  }),
  byExample: true,
};
