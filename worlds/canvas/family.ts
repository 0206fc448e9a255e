/**
 * A world of pictures: a canvas of coloured shapes is shown, and a question asked about it in English. What is right is known from what was drawn.
 *
 *     task      4x3 7f3a01c2: big red circle at 1,2; small blue cross at 3,0 | What colour is the circle?
 *     solver    <image:…>What colour is the circle?    ->  red
 *
 * One content of a canvas in ten is held out, whatever is asked of it.
 */
import { imageText } from '../../core/images/patches.ts';
import type { Random } from '../../core/random.ts';
import { drawUntil, type EvaluationTasks, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { STOP, withoutStop } from '../worked.ts';
import {
  answerOf,
  drawQuestion,
  isAnswer,
  KIND_NAMES,
  type KindName,
  type Question,
  readQuestion,
} from './questions.ts';
import { contentOf, drawScene, randomScene, readScene, type Scene, writeScene } from './scene.ts';

const NAME = 'canvas';
/** Held-out tasks of each kind of question. */
const HELD_OUT_PER_KIND = 36;
const BORDER = ' | ';

export const isHeldOutScene = (scene: Scene): boolean => isHeldOutKey(NAME, contentOf(scene));

/** A task in parts; null where the text is none. */
export function readAsked(task: string): { readonly scene: Scene; readonly question: Question } | null {
  const [drawn = '', asked = ''] = task.split(BORDER);
  const [scene, question] = [readScene(drawn), readQuestion(`${asked} `)];
  return scene && question && { scene, question };
}

/** The same with its answer; null where the question has none. */
export function readTask(task: string) {
  const asked = readAsked(task);
  const answer = asked && answerOf(asked.scene, asked.question);
  return answer === null ? null : { ...asked!, answer };
}

/** A question about a canvas as a task. `text` as questions are written, with or without the space at its end. */
export const writeTask = (scene: Scene, text: string): string => writeScene(scene) + BORDER + text.trimEnd();

/** A task of one kind, on the side that is asked. */
export function randomTask(random: Random, kind: KindName, forMeasurement = false): string {
  const { scene, text } = drawQuestion(random, kind, () =>
    drawUntil(
      () => randomScene(random),
      (drawn) => isHeldOutScene(drawn) === forMeasurement,
    ),
  );
  return writeTask(scene, text);
}

export const kindOf = (task: string): KindName | undefined => readTask(task)?.question.kind;

function isHeldOut(task: string): boolean {
  const read = readAsked(task);
  return read !== null && isHeldOutScene(read.scene);
}

const heldOutOf = new Map(
  KIND_NAMES.map((kind) => [
    kind,
    heldOutTasks(
      `${NAME}/${kind}`,
      HELD_OUT_PER_KIND,
      (random, side) => randomTask(random, kind, side),
      isHeldOut,
    ),
  ]),
);

/** Tasks of every kind in turn. */
function heldOut(
  { heldOut: side, most }: EvaluationTasks = { heldOut: true, most: Number.POSITIVE_INFINITY },
) {
  const kinds = KIND_NAMES.length;
  const count = Math.min(HELD_OUT_PER_KIND * kinds, most);
  const byKind = KIND_NAMES.map((kind, i) =>
    heldOutOf.get(kind)!({ heldOut: side, most: Math.ceil((count - i) / kinds) }),
  );
  return Array.from({ length: count }, (_, i) => byKind[i % kinds]![Math.floor(i / kinds)]!);
}

/** What a task asks about its canvas. */
export const questionOf = (task: string): string => task.split(BORDER)[1] ?? '';

/** The prompt of a task; `shown`: the task whose canvas is shown in place of its own. */
export function promptOf(task: string, shown = task): string {
  const [asked, seen] = [readAsked(task), readAsked(shown)];
  return asked && seen ? `${imageText(drawScene(seen.scene))}${questionOf(task)} ` : '';
}

function parseSolution(text: string): ParseResult<Solution> {
  const answer = withoutStop(text);
  return answer !== null && isAnswer(answer) ? ok({ steps: [], answer }) : invalid('off-grammar');
}

const isRight = (task: string, { answer }: Solution): boolean => readTask(task)?.answer === answer;

export const canvas: TaskFamily = {
  name: NAME,
  maxNew: { proposer: 1, solver: 4, judge: 1 },
  stop: STOP,
  workedPrefix: '',
  random: (random) => randomTask(random, random.pick(KIND_NAMES)),
  heldOut,
  isHeldOut,
  difficulty: (task) => readAsked(task)?.scene.things.length ?? 0,
  isUnlabelled: (task) => readTask(task) === null,
  proposerPrompt: () => '',
  solverPrompt: (task) => promptOf(task),
  judgePrompt: () => '',
  parseProposal: () => invalid('off-grammar'),
  parseSolution: (_task, text) => parseSolution(text),
  parseJudgment: () => invalid('off-grammar'),
  answerIsExact: isRight,
  exactJudgment: (task, solution) => ({ steps: [], right: isRight(task, solution) }),
};
