/**
 * Programming problems without tests: a statement in words says what a program does, the last word first. Programs and tests are both written from
 * it, and a program that fails a test is written anew.
 *
 *     task      program;input;…;input                         the program that is meant, and four inputs that decide
 *     solver    <solve>s:back of plus 3<sep>                   ->  <answer>+3 rev<eos>
 *               <solve>s:back of plus 3;+3;1 2=5 4<sep>        ->  <answer>+3 rev<eos>       again, with a program and a test that it fails
 *     tester    <propose>s:back of plus 3<sep>                 ->  1 2=5 4<eos>              an input and what has to come out
 */
import type { Random } from '../../core/random.ts';
import type { ParseResult, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { answeredByPrograms } from './answered-by-programs.ts';
import { DEFAULT_PROGRAMS, drawProgram, isDefined, type ProgramSettings } from './generate.ts';
import { outputOf, sameList } from './interpreter.ts';
import {
  type List,
  PLAIN,
  type Program,
  parseList,
  parseProgram,
  WITH_DIGIT,
  writeList,
} from './language.ts';

const NAME = 'statements';
/** Inputs on which a program has to be right. */
const DECIDING = 4;
const HELD_OUT_COUNT = 400;
const SETTINGS: ProgramSettings = { ...DEFAULT_PROGRAMS, instructions: [2, 3], loops: 0 };

/** How a statement says each instruction; those with a digit say it after the word. */
const SAID: Readonly<Record<(typeof WITH_DIGIT)[number] | (typeof PLAIN)[number], string>> = {
  '+': 'plus',
  '-': 'minus',
  '*': 'times',
  '>': 'over',
  '<': 'under',
  rev: 'back',
  sort: 'order',
  dup: 'twice',
  drop: 'lose',
  swap: 'turn',
  add: 'join',
  sub: 'take',
  mul: 'by',
  sum: 'total',
  len: 'count',
};

const said = (word: string): string => {
  const withDigit = WITH_DIGIT.find((op) => word.length === 2 && word[0] === op);
  const plain = PLAIN.find((op) => op === word);
  if (withDigit) return `${SAID[withDigit]} ${word[1]}`;
  if (plain) return SAID[plain];
  throw new Error(`internal: no statement says ${word}`);
};

/** What a program without loops does, in words. */
export const statementOf = (program: string): string => program.split(' ').reverse().map(said).join(' of ');

interface Problem {
  readonly text: string;
  readonly program: Program;
  readonly inputs: readonly List[];
}

export function parseProblem(task: string): ParseResult<Problem> {
  const [text = '', ...rest] = task.split(';');
  const program = parseProgram(text);
  if (!program.ok) return program;
  if (program.value.some((instruction) => 'to' in instruction)) return invalid('off-grammar');
  if (rest.length !== DECIDING) return invalid('input-count');
  const inputs: List[] = [];
  for (const part of rest) {
    const input = parseList(part);
    if (!input.ok) return input;
    if (!isDefined(program.value, input.value)) return invalid('undefined');
    inputs.push(input.value);
  }
  return ok({ text, program: program.value, inputs });
}

/** A test that a policy writes: an input, and what has to come out of it. */
export interface ProgramTest {
  readonly input: List;
  readonly output: List;
}

export const writeTest = ({ input, output }: ProgramTest): string =>
  `${writeList(input)}=${writeList(output)}`;

/** A tester's text, with its stop token. */
export function parseTest(text: string): ParseResult<ProgramTest> {
  const body = withoutStop(text);
  const [left, right, ...rest] = (body ?? '').split('=');
  if (left === undefined || right === undefined || rest.length > 0) return invalid('off-grammar');
  const [input, output] = [parseList(left), parseList(right)];
  if (!input.ok) return input;
  return output.ok ? ok({ input: input.value, output: output.value }) : output;
}

/** Whether a program, which may be any text, passes a test; one that has no result on the input fails. */
export function passes(program: string, { input, output }: ProgramTest): boolean {
  const parsed = parseProgram(program);
  const run = parsed.ok ? outputOf(parsed.value, input) : null;
  return run !== null && sameList(run, output);
}

/** By the oracle: what the program that a problem means puts out on an input; null where it has no result. */
export function meantOutput(task: string, input: List): List | null {
  const problem = parseProblem(task);
  return problem.ok ? outputOf(problem.value.program, input) : null;
}

/** By the oracle: whether a test asks for what the problem means. */
export function testIsExact(task: string, { input, output }: ProgramTest): boolean {
  const meant = meantOutput(task, input);
  return meant !== null && sameList(meant, output);
}

const shown = (task: string): string => {
  const problem = parseProblem(task);
  return problem.ok ? `s:${statementOf(problem.value.text)}` : '';
};
export const testerPrompt = (task: string): string => `<propose>${shown(task)}<sep>`;
/** The problem again, with a program and a test that it fails. */
export const repairPrompt = (task: string, program: string, test: ProgramTest): string =>
  `<solve>${shown(task)};${program};${writeTest(test)}<sep>`;

function isRight(task: string, answer: string): boolean {
  const problem = parseProblem(task);
  return (
    problem.ok &&
    problem.value.inputs.every((input) => passes(answer, { input, output: meantOutput(task, input)! }))
  );
}

/** A problem on the wanted side of the split. */
export function randomProblem(random: Random, heldOut = false): string {
  const { text, inputs } = drawProgram(random, DECIDING, heldOut, SETTINGS);
  return [text, ...inputs.map(writeList)].join(';');
}

export const statements: TaskFamily = answeredByPrograms({
  name: NAME,
  maxNew: { proposer: 40, solver: 24, judge: 4 },
  workedPrefix: '',
  proposerPrompt: () => '<propose>s:<sep>',
  draw: randomProblem,
  heldOutCount: HELD_OUT_COUNT,
  parse: parseProblem,
  shown,
  isRight,
});
