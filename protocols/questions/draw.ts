/**
 * A round's questions. They are drawn from the files, and a question is left out where it does not fit into the policy's context together with an
 * answer. What is left out is recorded with the round's proposals, and another question is drawn in its place.
 */
import { RollmeshError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Message } from '../../core/renderer/message.ts';
import { verifierMessages } from '../../core/renderer/role-messages.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import type { TaskSource } from '../../worlds/file/task-set.ts';
import { admitTasks } from '../drawn-tasks.ts';
import { readTask, writeTask } from './task-text.ts';

type Room = Pick<RoundContext, 'renderer' | 'contextLength'>;
type LeftOut = NonNullable<Proposals['leftOut']>[number];

/** The messages of the longest prompt that a question leads to, and the largest number of tokens that are written or shown after them. */
export type Needs = (messages: readonly Message[]) => {
  readonly messages: readonly Message[];
  readonly tokens: number;
};

/** What a question needs where a verifier reads the solution: room for a solution and a verdict of at most `maxNew` tokens each. */
export const verified =
  (maxNew: number): Needs =>
  (messages) => ({ messages: verifierMessages(messages, ''), tokens: 2 * maxNew });

/** Leaves out questions that are too long; `tokens` counts the prompt with all that is written after it. */
export interface Fitting {
  readonly fits: (task: string) => boolean;
  readonly leftOut: readonly LeftOut[];
}

export function fittingIn({ renderer, contextLength }: Room, needs: Needs): Fitting {
  const leftOut: LeftOut[] = [];
  return {
    leftOut,
    fits: (task) => {
      // Without a bound everything fits.
      if (!Number.isFinite(contextLength)) return true;
      const { messages, tokens: after } = needs(readTask(task).messages);
      const tokens = renderer().begin(messages).ids.length + after;
      if (tokens > contextLength) leftOut.push({ task, tokens });
      return tokens <= contextLength;
    },
  };
}

/** The tasks, and a record of what was left out. Throws `questions.too-long` where no task is left. */
export function withLeftOut(
  { contextLength }: Pick<RoundContext, 'contextLength'>,
  proposals: Proposals,
  leftOut: readonly LeftOut[],
): Proposals {
  if (leftOut.length === 0) return proposals;
  if (proposals.tasks.length) return { ...proposals, leftOut: [...leftOut] };
  const shortest = Math.min(...leftOut.map(({ tokens }) => tokens));
  throw new RollmeshError(
    'give-up',
    'questions.too-long',
    `None of the ${leftOut.length} questions fits the policy: the shortest could reach ${shortest} tokens.`,
    {
      expected: `at most ${contextLength}, question and answer together`,
      next: 'Lower --set maxNew, shorten the questions, or train a policy with more positions.',
    },
  );
}

export interface DrawnQuestions {
  readonly sources: readonly TaskSource[];
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
  readonly count: number;
  readonly needs?: Needs;
  /** How often a question is drawn relative to the others of its file; by default all are equal. */
  readonly weightOf?: ((task: string) => number) | undefined;
}

/** Throws `questions.alike` where two different questions become the same prompt: the policy would answer what it is not shown. */
function expectShown({ renderer }: Pick<Room, 'renderer'>, [one, other]: readonly PlacedTask[]): void {
  if (!one || !other) return;
  const [first, second] = [one, other].map(({ messages }) => renderer().begin(messages).ids.join());
  if (first !== second) return;
  const [at, and] = [one, other].map(({ file, line }) => `${file}:${line}`);
  throw new RollmeshError(
    'give-up',
    'questions.alike',
    `The policy is shown the same prompt for two questions, ${at} and ${and}.`,
    {
      expected: 'a chat template that writes what the user says',
      next: 'Correct chat_template in the checkpoint and import it again under another name.',
    },
  );
}

/** `count` questions, none twice; fewer where the files have fewer that fit. Throws `questions.too-long` and `questions.alike`. */
export function drawQuestions(
  context: Pick<RoundContext, 'round' | 'renderer' | 'contextLength'>,
  { sources, maxNew, count, needs = (messages) => ({ messages, tokens: maxNew }), weightOf }: DrawnQuestions,
): Proposals {
  const { round } = context;
  const { fits, leftOut } = fittingIn(context, needs);
  const accepts = (task: PlacedTask) => fits(writeTask(task));
  const drawn = drawFileTasks(new Random(`${round.id}/tasks`), sources, count, {
    accepts,
    weightOf: weightOf && ((task) => weightOf(writeTask(task))),
  });
  expectShown(context, drawn);
  return withLeftOut(context, admitTasks(round, drawn.map(writeTask)), leftOut);
}
