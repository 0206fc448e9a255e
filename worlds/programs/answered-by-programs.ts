/** A family whose tasks begin with a program, name no steps, and are answered by a program of the policy's. */
import type { Random } from '../../core/random.ts';
import { heldOutTasks } from '../../core/recipe/split.ts';
import { invalid, type ParseResult, type TaskFamily } from '../../core/recipe/task-family.ts';
import { parseJudgment, parseWorked, STOP, writeSolution } from '../worked.ts';
import { isHeldOutProgram, programDifficulty } from './generate.ts';
import { type Program, parseProgram } from './language.ts';

interface Answered extends Pick<TaskFamily, 'name' | 'maxNew' | 'workedPrefix' | 'proposerPrompt'> {
  readonly draw: (random: Random, heldOut: boolean) => string;
  /** Number of held-out tasks. */
  readonly heldOutCount: number;
  readonly parse: (task: string) => ParseResult<{ readonly program: Program }>;
  /** What of a task the policy reads. */
  readonly shown: (task: string) => string;
  readonly isRight: (task: string, answer: string) => boolean;
}

export function answeredByPrograms({
  draw,
  heldOutCount,
  parse,
  shown,
  isRight,
  ...family
}: Answered): TaskFamily {
  const isHeldOut = (task: string): boolean => {
    const program = parseProgram(task.split(';')[0]!);
    return program.ok && isHeldOutProgram(program.value);
  };
  return {
    ...family,
    stop: STOP,
    random: (random) => draw(random, false),
    heldOut: heldOutTasks(family.name, heldOutCount, draw, isHeldOut),
    isHeldOut,
    difficulty: (task) => {
      const parsed = parse(task);
      return parsed.ok ? programDifficulty(parsed.value.program) : 0;
    },
    solverPrompt: (task) => `<solve>${shown(task)}<sep>`,
    judgePrompt: (task, solution) => `<judge>${shown(task)}<sep>${writeSolution(solution)}<sep>`,
    parseProposal: () => invalid('off-grammar'),
    parseSolution: (_task, text) =>
      parseWorked(text, { step: () => false, answer: (answer) => parseProgram(answer).ok, angles: true }),
    parseJudgment,
    answerIsExact: (task, { answer }) => isRight(task, answer),
    exactJudgment: (task, { answer }) => ({ steps: [], right: isRight(task, answer) }),
  };
}
