/** Random programs and inputs of a wanted difficulty, and which programs are held out. */
import type { Random } from '../../core/random.ts';
import { drawUntil, isHeldOutKey } from '../../core/recipe/split.ts';
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
  /** Digits of instructions are 1 to this. */
  readonly digits: number;
  /** Most elements of an input, and their largest magnitude. */
  readonly elements: number;
  readonly magnitude: number;
}

/** Small enough that a policy of 0.2 M parameters solves some questions of each kind. */
export const DEFAULT_PROGRAMS: ProgramSettings = {
  instructions: [1, 3],
  loops: 0.03,
  digits: 4,
  elements: 3,
  magnitude: 5,
};

export const randomWord = (random: Random, { digits }: ProgramSettings = DEFAULT_PROGRAMS): string =>
  random.bool() ? `${random.pick(WITH_DIGIT)}${1 + random.int(digits)}` : random.pick(PLAIN);

/** A list of one element or more. */
export const randomList = (
  random: Random,
  { elements, magnitude }: ProgramSettings = DEFAULT_PROGRAMS,
): List => Array.from({ length: 1 + random.int(elements) }, () => random.int(2 * magnitude + 1) - magnitude);

function drawText(random: Random, settings: ProgramSettings): string {
  const {
    instructions: [least, most],
    loops,
    digits,
  } = settings;
  const length = least + random.int(most - least + 1);
  const words = Array.from({ length }, () => randomWord(random, settings));
  if (length < 2 || !random.bool(loops)) return words.join(' ');
  // One instruction makes room for the loop, which counts as an instruction; a body that lowers the top element tends to end.
  const from = random.int(length - 1);
  const body = random.bool(0.7) ? [`-${1 + random.int(digits)}`] : words.slice(from + 1, from + 3);
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
      const parsed = parseProgram(text);
      const program = parsed.ok ? parsed.value : [];
      const inputs = new Map<string, List>();
      // A few more attempts than inputs: programs that are rarely defined are left out.
      for (let i = 0; i < 3 * count && inputs.size < count; i++) {
        const input = randomList(random, settings);
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

/** The number of instructions, where a loop counts as three. */
export const programDifficulty = (program: Program): number =>
  countInstructions(program) + 2 * countLoops(program);
