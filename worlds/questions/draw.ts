/**
 * A round's questions. They are drawn from the files, and a question is left out where it does not fit into the policy's context together with an
 * answer. What is left out is recorded with the round's proposals, and another question is drawn in its place.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { Fitting } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { admitTasks, withLeftOut } from '../drawn-tasks.ts';
import { drawFileTasks } from '../file/sampler.ts';
import type { GivenTasks } from '../file/stored-set.ts';
import type { PlacedTask } from '../file/task.ts';
import { writeTask } from './task-text.ts';

type Reader = Pick<RoundContext, 'tokenizer' | 'contextLength'>;

/** A prompt that a question leads to, and the largest number of tokens that are written into it and after it. */
export interface Room {
  readonly prompt: string;
  readonly tokens: number;
}

/** `rooms`: the prompts that a question, as the text of a task, leads to; all have to fit. */
export function fittingIn(
  { tokenizer, contextLength }: Reader,
  rooms: (task: string) => readonly Room[],
): Fitting {
  const leftOut: Fitting['leftOut'] = [];
  return {
    leftOut,
    fits: (task) => {
      // Without a bound everything fits.
      if (!Number.isFinite(contextLength)) return true;
      const tokens = Math.max(
        ...rooms(task).map(({ prompt, tokens: more }) => tokenizer.encode(prompt).length + more),
      );
      if (tokens > contextLength) leftOut.push({ task, tokens });
      return tokens <= contextLength;
    },
  };
}

export interface DrawnQuestions {
  readonly sources: GivenTasks['sources'];
  /** What a question has to fit into the context with. */
  readonly rooms: (task: string) => readonly Room[];
  readonly count: number;
  /** How often a question is drawn relative to the others of its file, by its key; by default all are equal. */
  readonly weightOf?: ((key: string) => number) | undefined;
}

/** Throws `questions.alike` where two different questions become the same prompt: the policy would answer what it is not shown. */
function expectShown(
  { renderer }: Pick<RoundContext, 'renderer'>,
  [one, other]: readonly PlacedTask[],
): void {
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
export async function drawQuestions(
  context: Pick<RoundContext, 'round' | 'renderer' | 'readStored'> & Reader,
  { sources, rooms, count, weightOf }: DrawnQuestions,
): Promise<Proposals> {
  const { round, readStored } = context;
  const { fits, leftOut } = fittingIn(context, rooms);
  const accepts = (task: PlacedTask) => fits(writeTask(task));
  const random = new Random(`${round.id}/tasks`);
  const drawn = await drawFileTasks(readStored, random, sources, count, { accepts, weightOf });
  expectShown(context, drawn);
  return withLeftOut(context, admitTasks(round, drawn.map(writeTask)), leftOut);
}
