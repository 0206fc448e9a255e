/** A server of the Open Reward Standard: a session of the server is the environment of an episode. */
import * as v from 'valibot';
import { wrongInput } from '../../../core/errors.ts';
import { type EnvironmentPlace, environmentPlace, textOf } from '../../../core/schema/environment.ts';
import type { EnvironmentClient } from '../environment-client.ts';
import type { Host, World } from './host.ts';
import { orsRows } from './ors-rows.ts';

const taskSchema = v.object({ metadata: environmentPlace });

/** Where a task stands in an environment. Throws `environment.task` where the task is not from one. */
export function placeOf(task: unknown): EnvironmentPlace {
  const result = v.safeParse(taskSchema, task);
  if (result.success) return result.output.metadata;
  throw wrongInput(
    'environment.task',
    'The tasks of this run are not from a server of the Open Reward Standard.',
    {
      expected: 'tasks whose metadata names environment, split and index',
      next: 'Write the file for --tasks with `rollmesh environment tasks URL`.',
    },
  );
}

async function open(client: EnvironmentClient, task: unknown, session: string): Promise<World> {
  const place = placeOf(task);
  const { environment } = place;
  try {
    await client.begin(place, session);
    const tools = await client.tools(environment, session);
    const prompt = textOf(await client.prompt(environment, session));
    return {
      prompt,
      tools,
      call: async (name, input) => {
        const answer = await client.call(environment, session, name, input);
        if (!answer.ok) return { text: answer.error, reward: null, finished: false };
        const { blocks, reward, finished } = answer.output;
        return { text: textOf(blocks), reward, finished };
      },
      // The answer to a call ends with its stream.
      settled: async () => undefined,
      end: () => client.end(session),
    };
  } catch (error) {
    await client.end(session);
    throw error;
  }
}

export const orsHost = (client: EnvironmentClient): Host => ({
  check: async () => {
    await client.environments();
  },
  rows: (wanted) => orsRows(client, wanted),
  open: (task, session) => open(client, task, session),
});
