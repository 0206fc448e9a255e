/**
 * The start that draws what is requested. It is taught to badly: it often draws without a look at the mark, and then guesses, and often it gives shapes the
 * colours of others. Where it reads a lesson it heeds it.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../demonstration.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { DRAWING_WORDS, programOf, wantedIn } from './drawing.ts';
import {
  attemptOf,
  drawnRequest,
  LOOK,
  lessonOf,
  markPicture,
  otherMark,
  REQUEST_WORDS,
  readRequest,
  requestPrompt,
  requests,
  shownAfter,
} from './requests.ts';
import { COLOURS, SHAPES, type Thing } from './scene.ts';
import { canvasTokenizer } from './tokenizer.ts';

export const requestingTokenizer = () => canvasTokenizer([...DRAWING_WORDS, ...REQUEST_WORDS]);

/** How often it looks, how often it exchanges colours, and how often it reads a lesson. */
const LOOKS = 0.45;
const CARELESS = 0.4;
const TAUGHT = 0.35;

/** The things of a drawing with the mark as a guess, where nobody looked, and with the colours of two exchanged, where it is careless. */
function attempted(random: Random, things: readonly Thing[], at: number, looked: boolean, careless: boolean) {
  const guessed = things.map((thing, i) =>
    i === at && !looked ? { ...thing, colour: random.pick(COLOURS), shape: random.pick(SHAPES) } : thing,
  );
  const [first, second, ...rest] = guessed as [Thing, Thing, ...Thing[]];
  return careless
    ? [{ ...first, colour: second.colour }, { ...second, colour: first.colour }, ...rest]
    : guessed;
}

export function demonstrateRequest(random: Random): Demonstration {
  const { task, scene, at } = drawnRequest(random);
  const write = (looked: boolean, careless: boolean) =>
    programOf({ things: attempted(random, scene.things, at, looked, careless) }) + STOP;
  const isTaught = random.bool(TAUGHT);
  const looks = random.bool(isTaught ? 0.8 : LOOKS);
  const after = (lesson: string, asksToLook: boolean, last: () => string): Demonstration => {
    // The first turn and the second are shown equally often.
    const isSecond = asksToLook && random.bool();
    return {
      role: 'drawer',
      prompt: lesson + (isSecond ? shownAfter(task) : requestPrompt(task)),
      completion: asksToLook && !isSecond ? LOOK + STOP : last(),
    };
  };
  if (!isTaught) return after('', looks, () => write(looks, random.bool(CARELESS)));
  // The best attempt has everything that is wanted; the worst guessed, or exchanged colours.
  const best = { looked: looks, program: programOf(scene) };
  const worst = drawUntil(
    () => {
      const looked = looks && random.bool(0.4);
      return attemptOf([...(looked ? [LOOK + STOP] : []), write(looked, random.bool(CARELESS))]);
    },
    (attempt) => lessonOf(best, attempt) !== '',
  );
  // Where the lesson does not say to look, the best one may have looked as the worst did.
  return after(lessonOf(best, worst), looks, () => programOf(scene) + STOP);
}

/** A program of all that is wanted, a shape in each row. */
const programFor = (task: string): string =>
  programOf({
    things: wantedIn(readRequest(task)!.wanted)!.map((thing, row) => ({ ...thing, row, column: 0 }) as Thing),
  });

const EXAMINED = 100;

/** It draws what is requested after some looks, and better where it reads what was better. */
export async function requestingGates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const tasks = requests.heldOut().slice(0, EXAMINED);
  const say = async (prompts: readonly string[], temperature = 0): Promise<string[]> => {
    const made = await generate(
      prompts.map((prompt, i) => ({
        ids: tokenizer.encode(prompt),
        sampleIds: [temperature ? `gate/${i}` : 'greedy'],
      })),
      { maxNew: requests.maxNew.solver, temperature, stop: [tokenizer.id(STOP)] },
    );
    return made.map(([one]) => tokenizer.decode(one!.ids));
  };
  const exact = (texts: readonly string[]) =>
    mean(
      texts.map((text, i) => {
        const read = requests.parseSolution(tasks[i]!, text);
        return Number(read.ok && requests.answerIsExact(tasks[i]!, read.value));
      }),
    );
  const seen = (pictureOf: (task: string) => string) =>
    say(tasks.map((task) => requestPrompt(task) + LOOK + STOP + pictureOf(task)));
  const lessons = tasks.map((task) =>
    lessonOf(
      { looked: true, program: programFor(task) },
      { looked: false, program: programFor(otherMark(task, 'gates')) },
    ),
  );
  const first = await say(tasks.map(requestPrompt), 1);
  return [
    {
      description: 'held-out requests drawn as wanted after a look, greedy',
      value: exact(await seen(markPicture)),
      least: 0.25,
      most: 0.9,
    },
    {
      description: 'the same where the tool shows another mark, greedy',
      value: exact(await seen((task) => markPicture(otherMark(task, task)))),
      most: 0.1,
    },
    {
      description: 'looks at the mark, sampled',
      value: mean(first.map((text) => Number(text === LOOK + STOP))),
      least: 0.2,
      most: 0.7,
    },
    {
      description: 'drawn as wanted after a lesson and a look, greedy',
      value: exact(await say(tasks.map((task, i) => lessons[i]! + shownAfter(task)))),
      least: 0.5,
    },
  ];
}
