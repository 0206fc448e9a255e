/**
 * Demonstrations of a coder and a tester on statements (statements.ts), for a warm start that goes on from `programs`. Both err, and not alike: the
 * coder most often misreads one kind of statement in the same way, so that the majority of its programs is wrong there; the tester's wrong outputs
 * are slips, and no two are the same.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP, writeSolution } from '../worked.ts';
import { isDefined, randomList } from './generate.ts';
import { outputOf } from './interpreter.ts';
import { parseProgram } from './language.ts';
import { edited, slippedList } from './slips.ts';
import {
  parseProblem,
  passes,
  randomProblem,
  repairPrompt,
  statements,
  testerPrompt,
  writeTest,
} from './statements.ts';

/** How often it is the part of coder, tester and repairer. */
const SHARES = [0.35, 0.4, 0.25] as const;
/** How often the coder misreads a statement that names `over` or `under`, and how often it slips in any. */
const MISREADS = 0.6;
const SLIPS = 0.2;
/** How often a test asks for a wrong output, and how often a repair is wrong again. */
const TEST_SLIPS = 0.25;
const REPAIR_SLIPS = 0.25;

const isProgram = (text: string): boolean => parseProgram(text).ok;

/** The program of a statement in which `over` and `under` are taken for each other; null where it names neither. */
export function misread(program: string): string | null {
  const words = program
    .split(' ')
    .map((word) => (word[0] === '<' ? `>${word[1]}` : word[0] === '>' ? `<${word[1]}` : word));
  const wrong = words.join(' ');
  return wrong === program ? null : wrong;
}

const slipped = (random: Random, program: string): string =>
  drawUntil(() => edited(random, program), isProgram);

function attempted(random: Random, program: string): string {
  const wrong = misread(program);
  if (wrong !== null && random.bool(MISREADS)) return wrong;
  return random.bool(SLIPS) ? slipped(random, program) : program;
}

const coded = (prompt: string, answer: string): Demonstration => ({
  role: 'solver',
  prompt,
  completion: writeSolution({ steps: [], answer }) + STOP,
});

export function demonstrateStatements(random: Random): Demonstration {
  const part = (['code', 'test', 'repair'] as const)[random.weighted([...SHARES])]!;
  const task = randomProblem(random);
  const problem = parseProblem(task);
  if (!problem.ok) throw new Error(`internal: ${task} is no problem: ${problem.reason}`);
  const { text, program } = problem.value;
  if (part === 'code') return coded(statements.solverPrompt(task), attempted(random, text));
  const input = drawUntil(
    () => randomList(random),
    (list) => isDefined(program, list),
  );
  const test = { input, output: outputOf(program, input)! };
  if (part === 'test') {
    const output = random.bool(TEST_SLIPS) ? slippedList(random, test.output) : test.output;
    return {
      role: 'tester',
      prompt: testerPrompt(task),
      completion: writeTest({ input, output }) + STOP,
    };
  }
  // A program that fails a test: misread, or slipped. Where no slip fails it the problem is drawn again.
  const wrong = misread(text);
  const failing = wrong !== null && random.bool() ? wrong : slipped(random, text);
  if (passes(failing, test)) return demonstrateStatements(random);
  return coded(repairPrompt(task, failing, test), random.bool(REPAIR_SLIPS) ? slipped(random, text) : text);
}
