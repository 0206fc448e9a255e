/**
 * Demonstrations of an injector and a repairer of bugs, for a warm start that continues from `programs`. Four in ten repairs have an error, so that
 * there is something to learn; the injector varies the program that it is shown, and often writes no bug that its test reveals.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP, writeSolution } from '../worked.ts';
import { drawProgram, isDefined, randomList } from './generate.ts';
import { parseProgram, writeList } from './language.ts';
import { proposerPromptWith } from './questions.ts';
import { repair } from './repair.ts';
import { edited } from './slips.ts';

const INJECT = 0.25;
const SLIPS = 0.4;

const isProgram = (text: string): boolean => parseProgram(text).ok;

function inject(random: Random): Demonstration {
  const { text, program } = drawProgram(random, 1, false);
  const bug = drawUntil(() => edited(random, text), isProgram);
  const input = drawUntil(
    () => randomList(random),
    (list) => isDefined(program, list),
  );
  return {
    role: 'proposer',
    prompt: proposerPromptWith('deduction', [text]),
    completion: `${bug};${writeList(input)}${STOP}`,
  };
}

export function demonstrateRepair(random: Random): Demonstration {
  if (random.bool(INJECT)) return inject(random);
  const task = repair.random(random);
  const program = task.split(';')[0]!;
  const answer = random.bool(SLIPS) ? drawUntil(() => edited(random, program), isProgram) : program;
  return {
    role: 'solver',
    prompt: repair.solverPrompt(task),
    completion: writeSolution({ steps: [], answer }) + STOP,
  };
}
