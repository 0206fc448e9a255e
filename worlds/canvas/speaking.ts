/**
 * The start that speaks about canvases: it answers questions, writes them, gives clues, votes on who is shown another canvas, and draws. It is taught all of that badly: a third of its
 * questions are drawn without a look at the canvas, a part of its clues and votes are drawn at random, and its drawings exchange colours.
 */
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../demonstration.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP, withoutStop } from '../worked.ts';
import { ASK, askPrompt } from './asking.ts';
import { demonstrateCanvas } from './demonstrations.ts';
import {
  DRAWING_WORDS,
  drawPrompt,
  isHeldOutDrawing,
  painted,
  programOf,
  randomDrawing,
  redrawPrompt,
  taskOf,
} from './drawing.ts';
import { isHeldOutScene } from './family.ts';
import { gates } from './gates.ts';
import {
  clueOf,
  cluePrompt,
  heldOutPairs,
  holds,
  MOST_CLUES,
  PAIR_WORDS,
  randomPair,
  readPair,
  votePrompt,
  voteText,
} from './pairs.ts';
import { drawQuestion, KIND_NAMES, readQuestion } from './questions.ts';
import { randomScene, type Thing } from './scene.ts';
import { canvasTokenizer } from './tokenizer.ts';

export const speakingTokenizer = () => canvasTokenizer([...new Set([ASK, ...PAIR_WORDS, ...DRAWING_WORDS])]);

/** Shares of what it is taught. */
const SHARES = { seeing: 0.56, proposer: 0.07, speaker: 0.1, voter: 0.19, drawer: 0.08 } as const;
type Taught = keyof typeof SHARES;
const TAUGHT = Object.keys(SHARES) as Taught[];
/** How often a question is asked that the canvas may have no answer to, and how often a clue or a vote says anything. */
const CARELESS = { proposer: 0.35, speaker: 0.2, voter: 0.35, drawer: 0.55, redrawer: 0.4 } as const;
/** How often a drawing is the second one. */
const REDRAWN = 0.4;

/** How often the spy speaks of what differs in the games that voters are taught. */
const TELLING = 0.75;

/** What players of a pair said, each about a canvas of his own. */
function saidOf(random: Random, task: string) {
  const [all, spyScene] = readPair(task)!;
  const spy = random.int(MOST_CLUES);
  const differing = spyScene.things.find((thing) => !holds(all, clueOf(thing).trim()))!;
  const clues = Array.from({ length: MOST_CLUES }, (_, seat) => {
    if (seat !== spy) return clueOf(random.pick(all.things)).trim();
    return clueOf(random.bool(TELLING) ? differing : random.pick(spyScene.things)).trim();
  });
  return { all, spyScene, spy, clues };
}

function propose(random: Random): Demonstration {
  const scenes = () =>
    drawUntil(
      () => randomScene(random),
      (drawn) => !isHeldOutScene(drawn),
    );
  const { scene, text } = drawQuestion(random, random.pick(KIND_NAMES), scenes);
  // The question of one canvas beside another is one that was asked without a look.
  const shown = random.bool(CARELESS.proposer) ? scenes() : scene;
  return { role: 'proposer', prompt: askPrompt(shown), completion: text + STOP };
}

function speak(random: Random): Demonstration {
  const { all, spyScene, spy, clues } = saidOf(random, randomPair(random));
  const seat = random.int(MOST_CLUES);
  const isSpy = seat === spy;
  const scene = isSpy ? spyScene : all;
  const said = random.bool(CARELESS.speaker) ? randomScene(random) : scene;
  return {
    role: 'speaker',
    prompt: cluePrompt(scene, { clues: clues.slice(0, seat), spy: isSpy }),
    completion: clueOf(random.pick(said.things)) + STOP,
  };
}

function vote(random: Random): Demonstration {
  const { all, spy, clues } = saidOf(random, randomPair(random));
  // Where all clues are true of the canvas of all, nobody can tell who is the spy.
  const known = holds(all, clues[spy]!) ? null : spy + 1;
  const said = random.bool(CARELESS.voter) ? 1 + random.int(MOST_CLUES) : known;
  return { role: 'voter', prompt: votePrompt(all, clues), completion: voteText(said) + STOP };
}

/** A program that often gives the first shape the colour of the second, and the second that of the first; after a look at such a drawing, a right one or the same again. */
function draw(random: Random): Demonstration {
  const scene = drawUntil(
    () => randomDrawing(random),
    (drawn) => !isHeldOutDrawing(taskOf(drawn)),
  );
  const [first, second, ...rest] = scene.things as [Thing, Thing, ...Thing[]];
  const write = (isCareless: boolean): string =>
    programOf({
      things: isCareless
        ? [{ ...first, colour: second.colour }, { ...second, colour: first.colour }, ...rest]
        : scene.things,
    });
  const task = taskOf(scene);
  if (!random.bool(REDRAWN))
    return {
      role: 'drawer',
      prompt: drawPrompt(task),
      completion: write(random.bool(CARELESS.drawer)) + STOP,
    };
  const before = write(random.bool(CARELESS.drawer));
  return {
    role: 'drawer',
    prompt: redrawPrompt(task, painted(before)!),
    completion: (random.bool(CARELESS.redrawer) ? before : write(false)) + STOP,
  };
}

export function demonstrateSpeaking(random: Random): Demonstration {
  switch (TAUGHT[random.weighted(Object.values(SHARES))]) {
    case 'proposer':
      return propose(random);
    case 'speaker':
      return speak(random);
    case 'voter':
      return vote(random);
    case 'drawer':
      return draw(random);
    default:
      return demonstrateCanvas(random);
  }
}

/** It sees, asks what can be read, and does not know yet who the spy is. */
export async function speakingGates(policy: AskedPolicy): Promise<Gate[]> {
  const { tokenizer, generate } = policy;
  const tasks = heldOutPairs().slice(0, 150);
  const say = async (prompts: readonly string[], maxNew: number): Promise<string[]> => {
    const made = await generate(
      prompts.map((prompt) => ({ ids: tokenizer.encode(prompt), sampleIds: ['greedy'] })),
      { maxNew, temperature: 0, stop: [tokenizer.id(STOP)] },
    );
    return made.map(([completion]) => tokenizer.decode(completion!.ids));
  };
  const random = new Random('canvas/speaking');
  const games = tasks.map((task) => saidOf(random, task));
  const telling = games.filter(({ all, spy, clues }) => !holds(all, clues[spy]!));
  const votes = await say(
    telling.map(({ all, clues }) => votePrompt(all, clues)),
    3,
  );
  const asked = await say(
    games.map(({ all }) => askPrompt(all)),
    12,
  );
  return [
    ...(await gates(policy)),
    {
      description: 'questions that can be read, greedy',
      value: mean(asked.map((text) => Number(readQuestion(withoutStop(text) ?? '') !== null))),
      least: 0.8,
    },
    {
      description: 'votes for the spy where his clue is not true of the canvas of all, greedy',
      value: mean(votes.map((text, i) => Number(text === `${telling[i]!.spy + 1}${STOP}`))),
      most: 0.75,
    },
  ];
}
