/** The start that erases marks from drawings, and chooses how they are marked: it restores clean drawings and such as have few marks, and knows no style from another. */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../demonstration.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { DRAWING_WORDS } from './drawing.ts';
import {
  beneath,
  cleanPrompt,
  erasePrompt,
  randomStyle,
  readStyle,
  STAMP_WORDS,
  stamps,
  stylePrompt,
  writeStyle,
} from './stamping.ts';
import { canvasTokenizer } from './tokenizer.ts';

export const erasingTokenizer = () => canvasTokenizer([...DRAWING_WORDS, ...STAMP_WORDS]);

/** How often it chooses a style, and how often a drawing has marks. */
const STYLED = 0.15;
const MARKED = 0.5;

export function demonstrateErasing(random: Random): Demonstration {
  const task = drawUntil(
    () => stamps.random(random),
    (drawn) => !stamps.isHeldOut(drawn),
  );
  if (random.bool(STYLED))
    return {
      role: 'stylist',
      prompt: stylePrompt(task),
      completion: writeStyle(randomStyle(random)) + STOP,
    };
  const style = { ...randomStyle(random), amount: 'few' } as const;
  return {
    role: 'eraser',
    prompt: random.bool(MARKED) ? erasePrompt(task, style, String(random.uint32())) : cleanPrompt(task),
    completion: beneath(task) + STOP,
  };
}

const EXAMINED = 100;

/** It sees what is drawn, worse under the marks of the world, and writes many styles. */
export async function erasingGates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const tasks = stamps.heldOut().slice(0, EXAMINED);
  const say = async (prompts: readonly string[], temperature = 0): Promise<string[]> => {
    const made = await generate(
      prompts.map((prompt, i) => ({
        ids: tokenizer.encode(prompt),
        sampleIds: [`gate/${temperature}/${i}`],
      })),
      { maxNew: stamps.maxNew.solver, temperature, stop: [tokenizer.id(STOP)] },
    );
    return made.map(([one]) => tokenizer.decode(one!.ids));
  };
  const right = (texts: readonly string[]) =>
    mean(texts.map((text, i) => Number(text === beneath(tasks[i]!) + STOP)));
  const styles = (await say(tasks.map(stylePrompt), 1)).filter((text) => readStyle(text).ok);
  return [
    {
      description: 'held-out drawings without marks, greedy',
      value: right(await say(tasks.map(cleanPrompt))),
      least: 0.4,
    },
    {
      description: 'held-out drawings under marks of the world, greedy',
      value: right(await say(tasks.map((task) => stamps.solverPrompt(task)))),
      least: 0.02,
      most: 0.6,
    },
    {
      description: 'different styles in a hundred, sampled',
      value: new Set(styles).size / EXAMINED,
      least: 0.25,
    },
  ];
}
