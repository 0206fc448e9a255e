/**
 * What an episode needs of the mesh: it is opened, asked in, and ended. Each request may be sent again and counts once. The command sends them over
 * HTTP, a Worker of the mesh to the gateway by its binding.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../../core/errors.ts';
import { type AgentAccess, type EpisodeAnswer, episodeAnswer } from '../../../core/schema/agent.ts';
import { fetchPatiently } from '../back-off.ts';
import { type Ask, type Ended, type HoldOptions, holdEpisode } from './hold-episode.ts';
import type { Host } from './host.ts';

export type Held = Extract<EpisodeAnswer, { state: 'open' }>;

/** Sends a request to the mesh. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

const overHttp: Send = (url, init) => fetch(url, init);

const refusal = v.object({ error: v.object({ message: v.string(), code: v.nullable(v.string()) }) });

const answer = v.object({
  id: v.string(),
  choices: v.tuple([
    v.object({
      message: v.looseObject({
        content: v.nullable(v.string()),
        tool_calls: v.optional(
          v.array(
            v.object({ id: v.string(), function: v.object({ name: v.string(), arguments: v.string() }) }),
          ),
          [],
        ),
      }),
    }),
  ]),
});

async function post(
  send: Send,
  url: string,
  token: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly body: unknown; readonly code: string | null }> {
  const response = await fetchPatiently(() =>
    send(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    }),
  ).catch((cause: unknown) => {
    throw new RollmeshError(
      'retry',
      'gateway.unreachable',
      `The mesh ${new URL(url).origin} does not answer.`,
      {
        next: 'A local mesh stops when its run is over: then nothing is left to do. Otherwise see that the mesh is up, and start this command again.',
        cause,
      },
    );
  });
  const said: unknown = await response.json().catch(() => null);
  if (response.ok) return { body: said, code: null };
  const { error } = v.safeParse(refusal, said).success
    ? v.parse(refusal, said)
    : { error: { message: `The mesh answers ${response.status}.`, code: null } };
  throw new RollmeshError('give-up', error.code ?? 'gateway.failed', error.message);
}

/** Opens an episode of a run. Under one key, an opening whose answer was lost is the same one. */
export async function openEpisode(
  { url, token }: Pick<AgentAccess, 'url' | 'token'>,
  key: string = crypto.randomUUID(),
  send: Send = overHttp,
): Promise<EpisodeAnswer> {
  const { body } = await post(send, `${url}/episodes`, token, { key });
  return v.parse(episodeAnswer, body);
}

/** Throws `run.seats` where an episode of the run has several: in a session of an environment one policy acts. */
export function expectOneSeat({ seats }: Pick<AgentAccess, 'seats'>): void {
  if (seats.length < 2) return;
  throw wrongInput('run.seats', `An episode of this run has the seats ${seats.join(', ')}.`, {
    expected: 'a run with one seat, as in a session of an environment one policy acts',
    next: 'Order the run without --seats, or hold its episodes by a program of your own (docs/agents.md).',
  });
}

/** Asks in an episode; the requests of one conversation come one after the other. */
function askIn({ baseURL, apiKey, model }: Held, send: Send = overHttp): Ask {
  let asked = 0;
  return async (messages, tools) => {
    const headers = { 'idempotency-key': `answer-${asked++}` };
    const order = { model, messages, ...(tools.length ? { tools } : {}) };
    try {
      const { body } = await post(send, `${baseURL}/chat/completions`, apiKey, order, headers);
      const {
        id,
        choices: [{ message }],
      } = v.parse(answer, body);
      const calls = message.tool_calls.map((call) => ({ id: call.id, ...call.function }));
      return { id, message, content: message.content ?? '', calls };
    } catch (error) {
      if (error instanceof RollmeshError && error.code === 'policy.too-long') return null;
      throw error;
    }
  };
}

/** @returns false where the episode has ended already */
export async function endEpisode(
  { rewardURL, apiKey }: Held,
  { score, turns = {} }: Pick<Ended, 'score' | 'turns'>,
  send: Send = overHttp,
): Promise<boolean> {
  try {
    await post(
      send,
      rewardURL,
      apiKey,
      typeof score === 'number' ? { reward: score, turns } : { missing: score },
    );
    return true;
  } catch (error) {
    if (hasEnded(error)) return false;
    throw error;
  }
}

/** Does an error say that the mesh takes nothing more for an episode? */
const hasEnded = (error: unknown): error is RollmeshError =>
  error instanceof RollmeshError &&
  ['episode.rewarded', 'episode.given-up', 'episode.round-closed'].includes(error.code);

export interface Played {
  /** Whether the mesh took what the episode is worth. */
  readonly counts: boolean;
  /** What went wrong with the environment, or that the episode had ended before. */
  readonly error?: Error;
}

/** Plays an opened episode in an environment and ends it. Throws what is the fault of neither the environment nor the policy. */
export async function playEpisode(
  host: Pick<Host, 'open'>,
  episode: Held,
  options: HoldOptions,
  send: Send = overHttp,
): Promise<Played> {
  try {
    const session = `rollmesh-${episode.episode}`;
    const { error, ...ended } = await holdEpisode(host, episode.task, session, askIn(episode, send), options);
    return { counts: await endEpisode(episode, ended, send), ...(error ? { error } : {}) };
  } catch (error) {
    if (!hasEnded(error)) throw error;
    return { counts: false, error };
  }
}
