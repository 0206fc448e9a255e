/** Rows to train on, from trajectories: the questions again, the better answer beside a worse one, and answers to imitate. */
import { wrongInput } from '../../core/errors.ts';
import type { Message } from '../../core/renderer/message.ts';
import type { Trajectory, Turn } from '../../core/runs/trajectories.ts';
import type { FileTask } from '../../worlds/file/task.ts';
import { readTask } from '../../worlds/questions/task-text.ts';

export const KINDS = ['rollouts', 'tasks', 'pairs', 'conversations'] as const;
export type Kind = (typeof KINDS)[number];

/** The text of an answer without what ended it, as its policy's renderer reads it. */
export type ReadAnswer = (turn: Turn) => string;

/** The question of a file that a trajectory answers. Throws `trajectories.questions` where the recipe made its tasks itself. */
function questionOf({ task }: Trajectory): FileTask {
  try {
    return readTask(task);
  } catch (cause) {
    throw wrongInput('trajectories.questions', 'The tasks of this run are not questions of a file.', {
      expected: 'a run with --tasks for tasks, pairs and conversations',
      next: 'Write the rollouts themselves: leave --as out.',
      cause,
    });
  }
}

/** The questions of these episodes, each once, as `--tasks` reads them. */
export function taskRows(episodes: readonly Trajectory[]): object[] {
  const distinct = new Map(episodes.map((episode) => [episode.task, questionOf(episode)]));
  return [...distinct.values()].map(({ messages, answer, metadata, difficulty }) => ({
    messages,
    answer,
    ...(Object.keys(metadata).length ? { metadata } : {}),
    ...(difficulty === null ? {} : { difficulty }),
  }));
}

const right = (episode: Trajectory) => episode.answerExact === true;
const single = ({ turns }: Trajectory) => turns.length === 1;

/** A right answer beside a wrong one to the same question, as `--recipe dpo` reads them; every right answer once at most. */
export function pairRows(episodes: readonly Trajectory[], read: ReadAnswer): object[] {
  const byGroup = new Map<string, Trajectory[]>();
  for (const episode of episodes.filter(single))
    byGroup.set(episode.group, [...(byGroup.get(episode.group) ?? []), episode]);
  return [...byGroup.values()].flatMap((group) => {
    const wrong = group.filter(({ answerExact }) => answerExact === false);
    return group.filter(right).flatMap((better, i) => {
      const worse = wrong[i];
      if (!worse) return [];
      const { messages } = questionOf(better);
      const [chosen, rejected] = [read(better.turns[0]!), read(worse.turns[0]!)];
      return chosen.trim() === '' || rejected.trim() === '' ? [] : [{ messages, chosen, rejected }];
    });
  });
}

/** The right answers, each once a question, as `--recipe sft` reads them: rejection sampling. */
export function conversationRows(episodes: readonly Trajectory[], read: ReadAnswer): object[] {
  const rows = episodes
    .filter((episode) => single(episode) && right(episode))
    .map((episode) => {
      const content = read(episode.turns[0]!);
      const messages: Message[] = [...questionOf(episode).messages, { role: 'assistant', content }];
      return { messages };
    });
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}
