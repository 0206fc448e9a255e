/**
 * Holds the episode that a message asks for, as `rollmesh environment play` does. Whoever opens an episode holds it, and nobody else: what a
 * message finds open already is another delivery's, and the mesh's clock gives it up where that one was cut off.
 */

import type { EnvironmentOrder, EpisodeMessage } from '../../core/schema/agent.ts';
import type { Host } from '../api/environment/host.ts';
import { endEpisode, type Held, openEpisode, playEpisode, type Send } from '../api/environment/mesh-side.ts';
import { within } from '../api/environment-http.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';

/** How long a message is worked on, ms: the platform ends an invocation of a queue after 15 minutes. */
export const LONGEST_MS = 14 * 60_000;

export interface Holding {
  /** Asks the gateway. */
  readonly send: Send;
  /** Opens episodes of every run. */
  readonly token: string;
  /** The environment's server; rejects where it cannot be told. */
  readonly host: (environment: EnvironmentOrder) => Promise<Host>;
  readonly longestMs: number;
}

/** An address that only the binding to the gateway knows. */
const GATEWAY = 'https://gateway';

/** Ends an episode that came to nothing. */
async function giveUp(episode: Held, send: Send, score: 'abandoned' | 'timed-out', error?: unknown) {
  await endEpisode(episode, { score }, send);
  log('error', 'episode.missing', {
    episode: episode.episode,
    missing: score,
    ...(error === undefined ? {} : failureOf(error)),
  });
}

/** Throws what kept it from opening the episode, for which another delivery of the message may try again. */
export async function holdMessage(
  { send, token, host, longestMs }: Holding,
  { run, key, environment }: EpisodeMessage,
): Promise<void> {
  const until = Date.now() + longestMs;
  const server = await host(environment);
  // An environment that is down has no part in any episode: nothing is opened until it answers.
  await server.check();
  const episode = await openEpisode({ url: `${GATEWAY}/agents/runs/${run}`, token }, key, send);
  // Another delivery, or a copy of the message that was sent when the round stood still, may be playing what was opened before.
  if (episode.state !== 'open' || episode.again) return;
  try {
    const playing = playEpisode(server, episode, environment, send);
    // Where it is too late, nobody hears what becomes of it.
    playing.catch(() => undefined);
    const played = await within(playing, until - Date.now());
    if (!played) await giveUp(episode, send, 'timed-out');
    else if (played.error)
      log('warn', 'episode.unpaid', { episode: episode.episode, ...failureOf(played.error) });
  } catch (error) {
    // Nothing that was done in the environment can be taken up again.
    await giveUp(episode, send, 'abandoned', error);
  }
}
