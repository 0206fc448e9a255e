/** Random programs and inputs of a wanted difficulty, and which programs are held out. */
import type { Random } from '../../random.ts';
import { drawUntil, isHeldOutKey } from '../split.ts';
import { behaviourOf, execute, outputOf, sameList } from './interpreter.ts';
import {
  countInstructions,
  countLoops,
  type List,
  MAX_SHOWN,
  PLAIN,
  type Program,
  parseProgram,
  WITH_DIGIT,
} from './language.ts';

export interface ProgramSettings {
  /** Least and most instructions, within 1 … 8. */
  readonly instructions: readonly [number, number];
  /** Probability of one loop. */
  readonly loops: number;
  /** Most elements of an input. */
  readonly elements: number;
}

/** Small enough that a policy of 0.2 M parameters solves some of each kind of question. */
export const DEFAULT_PROGRAMS: ProgramSettings = { instructions: [1, 4], loops: 0.05, elements: 3 };

export const randomWord = (random: Random): string =>
  random.bool() ? `${random.pick(WITH_DIGIT)}${1 + random.int(9)}` : random.pick(PLAIN);

/** A list of one to `elements` numbers from -9 to 9. */
export const randomList = (random: Random, elements: number): List =>
  Array.from({ length: 1 + random.int(elements) }, () => random.int(19) - 9);

function drawText(random: Random, { instructions: [least, most], loops }: ProgramSettings): string {
  const length = least + random.int(most - least + 1);
  const words = Array.from({ length }, () => randomWord(random));
  if (length < 2 || !random.bool(loops)) return words.join(' ');
  // One word makes room for the loop, which counts as an instruction; a body that lowers the top tends to end.
  const from = random.int(length - 1);
  const body = random.bool(0.7) ? [`-${1 + random.int(9)}`] : words.slice(from + 1, from + 3);
  return [...words.slice(0, from), '(', ...body, ')', ...words.slice(from + 1 + body.length)].join(' ');
}

/** Held out by behaviour, so that no rewriting of a held-out program is ever trained on. */
export const isHeldOutProgram = (program: Program): boolean => isHeldOutKey('programs', behaviourOf(program));

/** Whether a program yields a list that can be shown. */
export function isDefined(program: Program, input: List): boolean {
  const run = execute(program, input);
  return run.ok && run.value.output.length <= MAX_SHOWN;
}

/** A program on the wanted side of the split, and `count` different inputs on which it is defined; it changes at least one of them. */
export function drawProgram(
  random: Random,
  count: number,
  heldOut: boolean,
  settings: ProgramSettings = DEFAULT_PROGRAMS,
): { text: string; program: Program; inputs: List[] } {
  const [least, most] = settings.instructions;
  return drawUntil(
    () => {
      const text = drawText(random, settings);
      const reading = parseProgram(text);
      const program = reading.ok ? reading.value : [];
      const inputs = new Map<string, List>();
      // A few tries more than inputs: programs that are rarely defined are left out.
      for (let i = 0; i < 3 * count && inputs.size < count; i++) {
        const input = randomList(random, settings.elements);
        if (isDefined(program, input)) inputs.set(input.join(), input);
      }
      return { text, program, inputs: [...inputs.values()] };
    },
    ({ program, inputs }) =>
      inputs.length === count &&
      countInstructions(program) >= least &&
      countInstructions(program) <= most &&
      isHeldOutProgram(program) === heldOut &&
      inputs.some((input) => !sameList(outputOf(program, input) ?? input, input)),
  );
}

/** Instructions, loops weighing three. */
export const programDifficulty = (program: Program): number =>
  countInstructions(program) + 2 * countLoops(program);
