/**
 * The three kinds of questions about programs as one family: a task states its kind, `d:program;input`. The kind’s own family decides what a task
 * means.
 */
import { drawUntil } from '../../core/recipe/split.ts';
import type { ParseResult, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { STOP } from '../worked.ts';
import { behaviourOf } from './interpreter.ts';
import { parseProgram } from './language.ts';
import { abduction, deduction, induction, parseProposalWith, type QuestionKind } from './questions.ts';

export const KINDS: readonly QuestionKind[] = ['deduction', 'abduction', 'induction'];
const FAMILIES = { deduction, abduction, induction } as const;
/** Held-out tasks of each kind. */
const HELD_OUT_EACH = 100;

export const taskOf = (kind: QuestionKind, task: string): string => `${kind[0]}:${task}`;

/** Kind and task without it; null for text that names no kind. */
export function splitTask(text: string): { kind: QuestionKind; task: string } | null {
  const kind = KINDS.find((name) => text.startsWith(`${name[0]}:`));
  return kind ? { kind, task: text.slice(2) } : null;
}

export const kindOf = (task: string): QuestionKind | null => splitTask(task)?.kind ?? null;

/** The program that a task is about; empty for text that is no task. */
export const programOf = (text: string): string => splitTask(text)?.task.split(';')[0] ?? '';

/** What the task's program does, as text: equal texts, equal behaviour on the probes. */
export function behaviourOfTask(text: string): string {
  const program = parseProgram(programOf(text));
  return program.ok ? behaviourOf(program.value) : program.reason;
}

/** Asks the kind's family; `none` for text that names no kind. */
function ask<T>(text: string, none: T, question: (family: TaskFamily, task: string) => T): T {
  const parts = splitTask(text);
  return parts ? question(FAMILIES[parts.kind], parts.task) : none;
}

/** A proposal of a kind beside the programs its proposer was shown, as a task of this family. */
export function parseProgramProposal(
  kind: QuestionKind,
  references: readonly string[],
  text: string,
): ParseResult<string> {
  const parsed = parseProposalWith(kind, references, text);
  return parsed.ok ? ok(taskOf(kind, parsed.value)) : parsed;
}

const most = (role: 'proposer' | 'solver' | 'judge') =>
  Math.max(...KINDS.map((kind) => FAMILIES[kind].maxNew[role]));

export const programs: TaskFamily = {
  name: 'programs',
  maxNew: { proposer: most('proposer'), solver: most('solver'), judge: most('judge') },
  stop: STOP,
  workedPrefix: '<step>',
  random: (random) => {
    const kind = random.pick(KINDS);
    return taskOf(
      kind,
      drawUntil(
        () => FAMILIES[kind].random(random),
        (task) => !FAMILIES[kind].isHeldOut(task),
      ),
    );
  },
  heldOut: (asked) =>
    KINDS.flatMap((kind) =>
      FAMILIES[kind]
        .heldOut(asked)
        .slice(0, HELD_OUT_EACH)
        .map((task) => taskOf(kind, task)),
    ),
  isHeldOut: (text) => ask(text, false, (family, task) => family.isHeldOut(task)),
  difficulty: (text) => ask(text, 0, (family, task) => family.difficulty(task)),
  proposerPrompt: () => deduction.proposerPrompt(),
  solverPrompt: (text) => ask(text, '', (family, task) => family.solverPrompt(task)),
  judgePrompt: (text, solution) => ask(text, '', (family, task) => family.judgePrompt(task, solution)),
  parseProposal: (text) => parseProgramProposal('deduction', [], text),
  parseSolution: (text, solution) =>
    ask<ParseResult<never> | ReturnType<TaskFamily['parseSolution']>>(
      text,
      invalid('no-kind'),
      (family, task) => family.parseSolution(task, solution),
    ),
  parseJudgment: deduction.parseJudgment,
  answerIsExact: (text, solution) => ask(text, false, (family, task) => family.answerIsExact(task, solution)),
  exactJudgment: (text, solution) =>
    ask(text, { steps: solution.steps.map(() => false), right: false }, (family, task) =>
      family.exactJudgment(task, solution),
    ),
};
