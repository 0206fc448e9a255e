/** Asks a reward service over HTTP: signed as webhooks are, bounded in time and size, repeated where that may help, and never redirected. */
import { type AskService, parseAnswer, questionBody, type Score } from '../../core/net/reward-service.ts';
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import type { MissingReward } from '../../core/schema/missing-reward.ts';

export interface HttpServiceSettings {
  /** Signs every request, by Standard Webhooks. */
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** For one attempt. */
  readonly timeoutMs?: number;
  /** Waits before the second, third, … attempt. */
  readonly waitsMs?: readonly number[];
}

const TIMEOUT_MS = 10_000;
const WAITS_MS = [500, 2_000];
const LONGEST_ANSWER = 1024 * 1024;

/** What one attempt came to. */
type Attempt = { readonly body: string } | { readonly missing: MissingReward; readonly again: boolean };

/** The text of an answer; null where it is longer than is read. */
async function readBody(response: Response): Promise<string | null> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > LONGEST_ANSWER) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

async function attempt(
  url: string,
  /** The same for every attempt. */
  id: string,
  body: string,
  { secret, now, timeoutMs = TIMEOUT_MS }: HttpServiceSettings,
): Promise<Attempt> {
  const seconds = Math.floor(now() / 1000);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...standardHeaders(secret, id, seconds, body) },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return { missing: 'refused', again: response.status === 429 || response.status >= 500 };
    }
    const text = await readBody(response);
    return text === null ? { missing: 'too-large', again: false } : { body: text };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { missing: isLate ? 'timed-out' : 'unreachable', again: true };
  }
}

/** A port to reward services. What a service does wrong is the kind of every rollout's missing reward, and no exception. */
export const httpService =
  (settings: HttpServiceSettings): AskService =>
  async (question) => {
    const { waitsMs = WAITS_MS } = settings;
    const body = questionBody(question);
    for (let tried = 0; ; tried++) {
      const result = await attempt(question.url, `${question.group}-${question.reward}`, body, settings);
      const count = question.rollouts.length;
      if ('body' in result) return parseAnswer(result.body, count);
      const wait = waitsMs[tried];
      if (!result.again || wait === undefined) return new Array<Score>(count).fill(result.missing);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
