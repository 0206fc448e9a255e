/**
 * Demonstrations of a proposer and a solver on the three kinds of questions about programs, for the warm start. They are imperfect on purpose: part
 * of the solutions have an error, so that sampled answers are worse than what the policy could do; and a proposer that is shown references mostly
 * varies one of them, so that its proposals depend on what it is shown. Held-out programs are never demonstrated.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP, writeSolution } from '../worked.ts';
import { drawProgram, isDefined, isHeldOutProgram, randomList } from './generate.ts';
import { execute } from './interpreter.ts';
import { parseProgram, writeList } from './language.ts';
import {
  abduction,
  deduction,
  expectedSteps,
  induction,
  MAX_REFERENCES,
  parseQuestion,
  proposerPromptWith,
  type QuestionKind,
  randomQuestion,
} from './questions.ts';
import { edited, slippedList, slippedRun } from './slips.ts';

const KINDS: readonly QuestionKind[] = ['deduction', 'abduction', 'induction'];
const FAMILIES = { deduction, abduction, induction } as const;

const PROPOSER_SHARE = 0.25;
/** Shares of the three kinds among a solver's questions. */
const SOLVER_SHARES = [0.35, 0.25, 0.4];
/** Share of solutions with an error. */
const SLIP_SHARE = 0.25;
/** Share of proposals that are made without references. */
const ALONE_SHARE = 0.2;
/** Share of referenced proposals that vary a reference; the others are new. */
const VARIED_SHARE = 0.7;

const isProgram = (text: string): boolean => parseProgram(text).ok;

/** A right solution, with steps where the question has steps, or one with an error. */
export function programSolution(
  random: Random,
  kind: QuestionKind,
  task: string,
  slipShare = SLIP_SHARE,
): Solution {
  const question = parseQuestion(kind, task);
  if (!question.ok) throw new Error(`internal: ${task} is no task: ${question.reason}`);
  const { program, text, inputs } = question.value;
  const input = inputs[0]!;
  const slips = random.bool(slipShare);
  if (kind === 'induction')
    return { steps: [], answer: slips ? drawUntil(() => edited(random, text), isProgram) : text };
  if (kind === 'abduction')
    return { steps: [], answer: writeList(slips ? slippedList(random, input) : input) };
  const run = execute(program, input);
  const { output, trace } = run.ok ? run.value : { output: [], trace: [] };
  const steps = expectedSteps(kind, task);
  return slips && steps.length > 0
    ? slippedRun(random, program, trace)
    : { steps, answer: writeList(output) };
}

/** A program close to one of the references, on the training side, with an input on which it is defined. */
function variation(random: Random, references: readonly string[]): string {
  const { text, input } = drawUntil(
    () => ({
      text: edited(random, random.pick(references)),
      input: randomList(random),
    }),
    ({ text, input }) => {
      const program = parseProgram(text);
      return (
        !references.includes(text) &&
        program.ok &&
        isDefined(program.value, input) &&
        !isHeldOutProgram(program.value)
      );
    },
  );
  return `${text};${writeList(input)}`;
}

function propose(random: Random, kind: QuestionKind): Demonstration {
  const role = 'proposer';
  const alone = random.bool(ALONE_SHARE);
  const task = randomQuestion(kind, random);
  if (alone) return { role, prompt: proposerPromptWith(kind, []), completion: task + STOP };
  if (kind === 'induction') {
    const at = task.indexOf(';');
    const prompt = proposerPromptWith(kind, [task.slice(0, at)]);
    return { role, prompt, completion: task.slice(at + 1) + STOP };
  }
  const references = Array.from(
    { length: 1 + random.int(MAX_REFERENCES) },
    () => drawProgram(random, 1, false).text,
  );
  const proposal = random.bool(VARIED_SHARE) ? variation(random, references) : task;
  return { role, prompt: proposerPromptWith(kind, references), completion: proposal + STOP };
}

function solve(random: Random, kind: QuestionKind): Demonstration {
  const task = randomQuestion(kind, random);
  const completion = writeSolution(programSolution(random, kind, task)) + STOP;
  return { role: 'solver', prompt: FAMILIES[kind].solverPrompt(task), completion };
}

export function demonstratePrograms(random: Random): Demonstration {
  return random.bool(PROPOSER_SHARE)
    ? propose(random, random.pick(KINDS))
    : solve(random, KINDS[random.weighted(SOLVER_SHARES)]!);
}
