/**
 * Three questions about programs, as in Absolute Zero (Zhao et al., 2025): what comes out (deduction), what went in
 * (abduction; any input with that output is right), and which program it was (induction; judged on hidden examples too).
 *
 *     task       program;input            deduction and abduction
 *                program;input;…;input    induction: eight inputs, four shown as examples and four hidden
 *     solver     <solve>d:rev +3;1 2 3<sep>       ->  <step>3 2 1<step>6 5 4<answer>6 5 4<eos>, or the answer alone
 *                <solve>a:rev +3;6 5 4<sep>       ->  <answer>1 2 3<eos>
 *                <solve>i:1 2=5 4;…;0=3<sep>      ->  <answer>rev +3<eos>
 *
 * The task contains what the solver must not see; `solverPrompt` shows the question alone.
 */
import type { Random } from '../../core/random.ts';
import { heldOutTasks } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { parseJudgment, parseWorked, STOP, withoutStop, writeSolution } from '../worked.ts';
import {
  DEFAULT_PROGRAMS,
  drawProgram,
  isDefined,
  isHeldOutProgram,
  type ProgramSettings,
  programDifficulty,
} from './generate.ts';
import { execute, outputOf, sameList } from './interpreter.ts';
import { type List, type Program, parseList, parseProgram, writeList } from './language.ts';

export type QuestionKind = 'deduction' | 'abduction' | 'induction';

/** Examples an induction question shows, and as many that it hides. */
export const SHOWN = 4;
/** Longest trace that is asked for as steps; a longer one is solved without. */
const MAX_STEPS = 10;
const HELD_OUT_COUNT = 200;

interface Question {
  readonly program: Program;
  readonly text: string;
  readonly inputs: readonly List[];
}

/** A task's text, validated: the program parses and is defined on every input, and inputs differ. */
export function parseQuestion(kind: QuestionKind, task: string): ParseResult<Question> {
  const [text = '', ...rest] = task.split(';');
  const program = parseProgram(text);
  if (!program.ok) return program;
  if (rest.length !== (kind === 'induction' ? 2 * SHOWN : 1)) return invalid('input-count');
  if (new Set(rest).size !== rest.length) return invalid('repeated-input');
  const inputs: List[] = [];
  for (const part of rest) {
    const input = parseList(part);
    if (!input.ok) return input;
    if (!isDefined(program.value, input.value)) return invalid('undefined');
    inputs.push(input.value);
  }
  return ok({ program: program.value, text, inputs });
}

const outputText = (program: Program, input: List) => writeList(outputOf(program, input) ?? []);

/** The part of a task that its solver sees; empty for text that is no task. */
function questionText(kind: QuestionKind, task: string): string {
  const question = parseQuestion(kind, task);
  if (!question.ok) return '';
  const { program, text, inputs } = question.value;
  if (kind === 'deduction') return `d:${text};${writeList(inputs[0]!)}`;
  if (kind === 'abduction') return `a:${text};${outputText(program, inputs[0]!)}`;
  return `i:${inputs
    .slice(0, SHOWN)
    .map((input) => `${writeList(input)}=${outputText(program, input)}`)
    .join(';')}`;
}

/** Decides an answer by running programs. */
function isRight(kind: QuestionKind, task: string, answer: string): boolean {
  const question = parseQuestion(kind, task);
  if (!question.ok) return false;
  const { program, inputs } = question.value;
  const agree = (other: Program, input: List) => {
    const [own, others] = [outputOf(program, input), outputOf(other, input)];
    return own !== null && others !== null && sameList(own, others);
  };
  if (kind === 'induction') {
    const other = parseProgram(answer);
    return other.ok && inputs.every((input) => agree(other.value, input));
  }
  const list = parseList(answer);
  if (!list.ok) return false;
  const given = kind === 'deduction' ? list.value : outputOf(program, list.value);
  return given !== null && sameList(given, outputOf(program, inputs[0]!) ?? []);
}

/** The lists a deduction's steps must show; none for other questions and for long runs. */
export function expectedSteps(kind: QuestionKind, task: string): readonly string[] {
  const question = parseQuestion(kind, task);
  if (kind !== 'deduction' || !question.ok) return [];
  const run = execute(question.value.program, question.value.inputs[0]!);
  return run.ok && run.value.trace.length <= MAX_STEPS ? run.value.trace.map(writeList) : [];
}

function exactJudgmentOf(kind: QuestionKind, task: string, solution: Solution): Judgment {
  const exact = expectedSteps(kind, task);
  const steps = solution.steps.map((step, i) => step === exact[i]);
  return { steps, right: steps.every(Boolean) && isRight(kind, task, solution.answer) };
}

function parseSolution(kind: QuestionKind, task: string, text: string): ParseResult<Solution> {
  const answer = (given: string) => (kind === 'induction' ? parseProgram(given) : parseList(given)).ok;
  const parsed = parseWorked(text, {
    step: (step) => /^(?:_|[-\d ]{1,120})$/.test(step),
    answer,
    angles: true,
  });
  if (!parsed.ok || parsed.value.steps.length === 0) return parsed;
  return parsed.value.steps.length === expectedSteps(kind, task).length ? parsed : invalid('partial-steps');
}

/** How many references a proposer is shown: three of the longest programs and a proposal still fit 256 positions; six, as published, do not. */
export const MAX_REFERENCES = 3;

/**
 * What a proposer is shown besides its role. Deduction and abduction: programs from a buffer as references to differ from; a copy of one is valid,
 * too. Induction: the one program for which it writes inputs; without one it writes a program, too.
 */
export const proposerPromptWith = (kind: QuestionKind, references: readonly string[]): string =>
  `<propose>${kind[0]}:${references.join(';')}<sep>`;

/** The task that a proposal states, given the programs that its proposer was shown; an induction’s inputs belong to the program that was shown. */
export function parseProposalWith(
  kind: QuestionKind,
  references: readonly string[],
  text: string,
): ParseResult<string> {
  const body = withoutStop(text);
  if (body === null) return invalid('off-grammar');
  const [shown] = references;
  const task = kind === 'induction' && shown !== undefined ? `${shown};${body}` : body;
  const question = parseQuestion(kind, task);
  return question.ok ? ok(task) : question;
}

/** A random task of a kind on the training side of the split. */
export function randomQuestion(
  kind: QuestionKind,
  random: Random,
  settings: ProgramSettings = DEFAULT_PROGRAMS,
  heldOut = false,
): string {
  const { text, inputs } = drawProgram(random, kind === 'induction' ? 2 * SHOWN : 1, heldOut, settings);
  return [text, ...inputs.map(writeList)].join(';');
}

function programFamily(kind: QuestionKind): TaskFamily {
  const name = `programs-${kind}`;
  const isHeldOut = (task: string) => {
    const question = parseQuestion(kind, task);
    return question.ok && isHeldOutProgram(question.value.program);
  };
  return {
    name,
    maxNew: { proposer: kind === 'induction' ? 160 : 72, solver: kind === 'deduction' ? 160 : 60, judge: 14 },
    stop: STOP,
    workedPrefix: kind === 'deduction' ? '<step>' : '<answer>',
    random: (random) => randomQuestion(kind, random),
    heldOut: heldOutTasks(
      name,
      HELD_OUT_COUNT,
      (random, heldOut) => randomQuestion(kind, random, DEFAULT_PROGRAMS, heldOut),
      isHeldOut,
    ),
    isHeldOut,
    difficulty: (task) => {
      const question = parseQuestion(kind, task);
      return question.ok ? programDifficulty(question.value.program) : 0;
    },
    proposerPrompt: () => proposerPromptWith(kind, []),
    solverPrompt: (task) => `<solve>${questionText(kind, task)}<sep>`,
    judgePrompt: (task, solution) => `<judge>${questionText(kind, task)}<sep>${writeSolution(solution)}<sep>`,
    parseProposal: (text) => parseProposalWith(kind, [], text),
    parseSolution: (task, text) => parseSolution(kind, task, text),
    parseJudgment,
    answerIsExact: (task, solution) => isRight(kind, task, solution.answer),
    exactJudgment: (task, solution) => exactJudgmentOf(kind, task, solution),
  };
}

export const deduction = programFamily('deduction');
export const abduction = programFamily('abduction');
export const induction = programFamily('induction');
