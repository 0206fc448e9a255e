/**
 * A warm start for a proposer and a solver of programs with a narrow range: without references the proposer asks about a dozen programs of one
 * instruction, and with references it replaces a word and seldom adds one; the solver’s errors grow with the length of a program. So references widen
 * what is asked, and long programs, which a proposer asks for only if it is rewarded for them, leave something to learn.
 */
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP, writeSolution } from '../worked.ts';
import { programSolution } from './demonstrations.ts';
import { KINDS, programs, taskOf } from './family.ts';
import {
  DEFAULT_PROGRAMS,
  drawProgram,
  isDefined,
  isHeldOutProgram,
  randomList,
  randomWord,
} from './generate.ts';
import { parseProgram, writeList } from './language.ts';
import { MAX_REFERENCES, proposerPromptWith, type QuestionKind, randomQuestion } from './questions.ts';
import { edited } from './slips.ts';

const PROPOSER_SHARE = 0.25;
/** Probability of an error, for programs of one, two and three instructions; a loop counts as three. */
const SLIPS: Readonly<Record<QuestionKind, readonly number[]>> = {
  deduction: [0.04, 0.4, 0.6],
  abduction: [0.04, 0.4, 0.6],
  induction: [0.3, 0.5, 0.6],
};
/** Share of proposals without references. */
const ALONE_SHARE = 0.25;
/** Share of variations that may add or leave out a word. */
const RESIZED_SHARE = 0.12;
const STOCK_SIZE = 12;

let drawnStock: readonly string[] | undefined;
/** The programs that are asked about where no references are shown: the same in every process. */
export function stock(): readonly string[] {
  if (drawnStock) return drawnStock;
  const random = new Random('programs/narrow/stock');
  const texts = new Set<string>();
  while (texts.size < STOCK_SIZE)
    texts.add(drawProgram(random, 1, false, { ...DEFAULT_PROGRAMS, instructions: [1, 1] }).text);
  drawnStock = [...texts];
  return drawnStock;
}

/** The program with one word replaced by another. */
function exchanged(random: Random, text: string): string {
  const words = text.split(' ');
  words[random.int(words.length)] = randomWord(random);
  return words.join(' ');
}

/** A drawn text with an input, on the training side of the split. */
const questionOf = (random: Random, text: () => string): string => {
  const { drawn, input } = drawUntil(
    () => ({ drawn: text(), input: randomList(random) }),
    ({ drawn, input }) => {
      const program = parseProgram(drawn);
      return program.ok && isDefined(program.value, input) && !isHeldOutProgram(program.value);
    },
  );
  return `${drawn};${writeList(input)}`;
};

function propose(random: Random, kind: QuestionKind): Demonstration {
  const role = 'proposer';
  if (kind === 'induction') {
    const [text = '', ...inputs] = randomQuestion(kind, random).split(';');
    return { role, prompt: proposerPromptWith(kind, [text]), completion: inputs.join(';') + STOP };
  }
  if (random.bool(ALONE_SHARE))
    return {
      role,
      prompt: proposerPromptWith(kind, []),
      completion: questionOf(random, () => random.pick(stock())) + STOP,
    };
  const references = Array.from(
    { length: 1 + random.int(MAX_REFERENCES) },
    () => drawProgram(random, 1, false).text,
  );
  const change = random.bool(RESIZED_SHARE) ? edited : exchanged;
  const completion = questionOf(random, () => change(random, random.pick(references))) + STOP;
  return { role, prompt: proposerPromptWith(kind, references), completion };
}

function solve(random: Random, kind: QuestionKind): Demonstration {
  const task = randomQuestion(kind, random);
  const asked = taskOf(kind, task);
  const slips = SLIPS[kind];
  const slip = slips[Math.min(programs.difficulty(asked), slips.length) - 1];
  const completion = writeSolution(programSolution(random, kind, task, slip)) + STOP;
  return { role: 'solver', prompt: programs.solverPrompt(asked), completion };
}

export function demonstrateOneInstruction(random: Random): Demonstration {
  const kind = random.pick(KINDS);
  return random.bool(PROPOSER_SHARE) ? propose(random, kind) : solve(random, kind);
}
