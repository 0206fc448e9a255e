/** What an episode needs of the mesh: it is opened, asked in, and ended. Each request may be sent again and counts once. */
import * as v from 'valibot';
import { fetchPatiently } from '../../api/back-off.ts';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { type AgentAccess, type EpisodeAnswer, episodeAnswer } from '../../core/schema/agent.ts';
import type { Ask, Ended } from './hold-episode.ts';

export type Held = Extract<EpisodeAnswer, { state: 'open' }>;

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
  url: string,
  token: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly body: unknown; readonly code: string | null }> {
  const response = await fetchPatiently(() =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
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

export async function openEpisode({
  url,
  token,
}: Pick<AgentAccess, 'url' | 'token'>): Promise<EpisodeAnswer> {
  // Under one key, an opening whose answer was lost is the same one.
  const { body } = await post(`${url}/episodes`, token, { key: crypto.randomUUID() });
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
export function askIn({ baseURL, apiKey, model }: Held): Ask {
  let asked = 0;
  return async (messages, tools) => {
    const headers = { 'idempotency-key': `answer-${asked++}` };
    const order = { model, messages, ...(tools.length ? { tools } : {}) };
    try {
      const { body } = await post(`${baseURL}/chat/completions`, apiKey, order, headers);
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
): Promise<boolean> {
  try {
    await post(rewardURL, apiKey, typeof score === 'number' ? { reward: score, turns } : { missing: score });
    return true;
  } catch (error) {
    if (hasEnded(error)) return false;
    throw error;
  }
}

/** Does an error say that the mesh takes nothing more for an episode? */
export const hasEnded = (error: unknown): error is RollmeshError =>
  error instanceof RollmeshError &&
  ['episode.rewarded', 'episode.given-up', 'episode.round-closed'].includes(error.code);
