/**
 * Bugs in programs and their repair (Self-play SWE-RL). A repository is a program with tests. The injector writes the program with a bug, and the
 * input of a test that fails because of it; this test is taken out of the suite and specifies the repair. The repairer sees the program with the bug,
 * the test that has to pass, and two tests of the suite; two further tests, which it does not see, decide with them.
 *
 *     repository  program;input;…;input                    four inputs
 *     injector    <propose>d:rev +3<sep>                   ->  rev -3;1 2<eos>        as proposers of programs write
 *     task        program;bug;asked;input;…;input
 *     solver      <solve>r:rev -3;1 2!5 4;0=3;7 1=4 10<sep>  ->  <answer>rev +3<eos>
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { ParseResult, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { STOP, withoutStop } from '../worked.ts';
import { answeredByPrograms } from './answered-by-programs.ts';
import { drawProgram, isDefined, randomList } from './generate.ts';
import { outputOf, sameList } from './interpreter.ts';
import { type List, type Program, parseList, parseProgram, writeList } from './language.ts';
import { proposerPromptWith } from './questions.ts';
import { edited } from './slips.ts';

const NAME = 'repair';
/** Tests of a repository, and how many of them the repairer is shown. */
const TESTS = 4;
const SHOWN = 2;
const HELD_OUT_COUNT = 150;

export interface Bug {
  readonly program: Program;
  readonly bug: Program;
  /** The input of the test that was taken out. */
  readonly asked: List;
  readonly tests: readonly List[];
}

const sameOutput = (a: Program, b: Program, input: List): boolean => {
  const [x, y] = [outputOf(a, input), outputOf(b, input)];
  return x !== null && y !== null && sameList(x, y);
};

/** A task's text, validated: both programs parse, and the right one has a result on every input. The bug may have none: that is a failing test. */
export function parseBug(task: string): ParseResult<Bug> {
  const [text = '', bugText = '', ...rest] = task.split(';');
  const [program, bug] = [parseProgram(text), parseProgram(bugText)];
  if (!program.ok) return program;
  if (!bug.ok) return bug;
  if (rest.length !== 1 + TESTS) return invalid('input-count');
  if (new Set(rest).size !== rest.length) return invalid('repeated-input');
  const inputs: List[] = [];
  for (const part of rest) {
    const input = parseList(part);
    if (!input.ok) return input;
    if (!isDefined(program.value, input.value)) return invalid('undefined');
    inputs.push(input.value);
  }
  const [asked, ...tests] = inputs;
  return ok({ program: program.value, bug: bug.value, asked: asked!, tests });
}

/** The bug that an injector’s text states for this repository; `gate` decides whether it is admitted. */
export function parseInjection(repository: string, text: string): ParseResult<string> {
  const body = withoutStop(text);
  if (body === null) return invalid('off-grammar');
  const [program, ...tests] = repository.split(';');
  const [bug, asked, ...rest] = body.split(';');
  if (asked === undefined || rest.length > 0) return invalid('off-grammar');
  const task = [program, bug, asked, ...tests].join(';');
  const parsed = parseBug(task);
  return parsed.ok ? ok(task) : parsed;
}

/**
 * Why an injected bug is refused: no-failing-test, where the test that specifies the repair passes; idle-edit, where one of several replaced words
 * can be put back without repairing a test (the inverse mutation). null = it is admitted. Words are compared where both programs have the same number
 * of them.
 */
export function gate(task: string): 'no-failing-test' | 'idle-edit' | null {
  const parsed = parseBug(task);
  if (!parsed.ok) throw new Error(`internal: ${task} is no bug: ${parsed.reason}`);
  const { program, bug, asked, tests } = parsed.value;
  if (sameOutput(program, bug, asked)) return 'no-failing-test';
  const [words, wrong] = task.split(';', 2).map((text) => text.split(' ')) as [string[], string[]];
  const changed = words.flatMap((word, i) => (word === wrong[i] ? [] : [i]));
  if (words.length !== wrong.length || changed.length < 2) return null;
  const failing = [asked, ...tests].filter((input) => !sameOutput(program, bug, input));
  const repairs = (at: number): boolean => {
    const reverted = parseProgram(wrong.map((word, i) => (i === at ? words[i]! : word)).join(' '));
    return reverted.ok && failing.some((input) => sameOutput(program, reverted.value, input));
  };
  return changed.every(repairs) ? null : 'idle-edit';
}

/** The task with another bug in the same program, made from a failed repair. */
export const withBug = (task: string, bug: string): string => {
  const [program, , ...inputs] = task.split(';');
  return [program, bug, ...inputs].join(';');
};

const outputText = (program: Program, input: List) => writeList(outputOf(program, input) ?? []);

/** What the repairer sees; empty for text that is no task. */
function shown(task: string): string {
  const parsed = parseBug(task);
  if (!parsed.ok) return '';
  const { program, asked, tests } = parsed.value;
  const kept = tests.slice(0, SHOWN).map((input) => `${writeList(input)}=${outputText(program, input)}`);
  return [`r:${task.split(';')[1]}`, `${writeList(asked)}!${outputText(program, asked)}`, ...kept].join(';');
}

/** Whether a program passes all tests, hidden ones included. */
function isRepaired(task: string, answer: string): boolean {
  const parsed = parseBug(task);
  const repaired = parseProgram(answer);
  if (!parsed.ok || !repaired.ok) return false;
  const { program, asked, tests } = parsed.value;
  return [asked, ...tests].every((input) => sameOutput(program, repaired.value, input));
}

/** A repository on the wanted side of the split. */
export function randomRepository(random: Random, heldOut = false): string {
  const { text, inputs } = drawProgram(random, TESTS, heldOut);
  return [text, ...inputs.map(writeList)].join(';');
}

/** A bug that is made at random: a word that is replaced, added or left out, and an input on which the result changes. */
export function randomBug(random: Random, repository: string): string {
  return drawUntil(
    () => {
      const injected = `${edited(random, repository.split(';')[0]!)};${writeList(randomList(random))}${STOP}`;
      const parsed = parseInjection(repository, injected);
      return parsed.ok && gate(parsed.value) === null ? parsed.value : '';
    },
    (task) => task !== '',
  );
}

/** A repository of a single instruction may leave no bug that can be set; then another is drawn. */
const drawBug = (random: Random, heldOut: boolean): string =>
  randomBug(random, randomRepository(random, heldOut));

export const repair: TaskFamily = answeredByPrograms({
  name: NAME,
  maxNew: { proposer: 72, solver: 40, judge: 14 },
  workedPrefix: '<answer>',
  proposerPrompt: () => proposerPromptWith('deduction', []),
  draw: drawBug,
  heldOutCount: HELD_OUT_COUNT,
  parse: parseBug,
  shown,
  isRight: isRepaired,
});
