/** A Worker that holds an episode in an environment of the Open Reward Standard: its policy submits what it is told to, one after the other. */
import { EnvironmentClient } from '../../api/environment-client.ts';
import { type Ended, holdEpisode } from '../../api/environment/hold-episode.ts';
import { orsHost } from '../../api/environment/ors-host.ts';

export interface WorkerEpisode {
  readonly url: string;
  readonly task: unknown;
  readonly session: string;
  readonly answers: readonly string[];
}

/** What the policy heard last, and what the episode came to. */
export interface WorkerEnded extends Omit<Ended, 'error'> {
  readonly heard: unknown;
  readonly error?: string;
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { url, task, session, answers } = (await request.json()) as WorkerEpisode;
    const host = orsHost(new EnvironmentClient({ url, backOff: { attempts: 3, firstMs: 1, longestMs: 2 } }));
    let heard: unknown;
    let turn = 0;
    const { error, ...ended } = await holdEpisode(
      host,
      task,
      session,
      async (messages) => {
        heard = messages.at(-1);
        const call = {
          id: `call-${turn}`,
          name: 'submit',
          arguments: JSON.stringify({ answer: answers[turn++] }),
        };
        const message = { role: 'assistant', tool_calls: [call] };
        return { id: call.id, message, content: '', calls: [call] };
      },
      { turns: answers.length },
    );
    const told: WorkerEnded = { ...ended, heard, ...(error ? { error: error.message } : {}) };
    return Response.json(told);
  },
};
