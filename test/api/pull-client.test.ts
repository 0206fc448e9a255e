/** The client of the pull queue, by Cloudflare's REST client and as a local mesh is asked: what it sends, and how it tells refusals from trouble. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';

afterEach(() => vi.unstubAllEnvs());

const ACCOUNT = 'a'.repeat(32);
const QUEUE = 'b'.repeat(32);

const HOSTS = ['https://api.example', 'http://127.0.0.1:8788'] as const;
describe.each(HOSTS)('at %s', (host) => {
  /** A queue that answers by a list, the last one for ever, and the requests that it was sent. */
  function answering(...answers: (() => Response)[]) {
    const asked: { url: string; method: string | undefined; headers: Headers; body: unknown }[] = [];
    const queue = new PullQueue({
      baseUrl: `${host}/client/v4/`,
      accountId: ACCOUNT,
      queueId: QUEUE,
      token: 'the-token',
      backOff: { attempts: 3, firstMs: 1, longestMs: 1 },
      fetch: async (url, { method, headers, body } = {}) => {
        asked.push({
          url: String(url),
          method,
          headers: new Headers(headers),
          body: JSON.parse(String(body)),
        });
        return answers[Math.min(asked.length, answers.length) - 1]!();
      },
    });
    return { queue, asked };
  }
  const good = (result: object) => () => Response.json({ success: true, errors: [], messages: [], result });
  const bad =
    (status: number, ...errors: object[]) =>
    () =>
      Response.json({ success: false, errors, messages: [], result: null }, { status });
  const told = (work: Promise<unknown>) =>
    work.then(
      () => 'taken',
      (error: unknown) =>
        error instanceof RollmeshError ? `${error.kind} ${error.code}: ${error.what}` : String(error),
    );

  /** The requests are those of Cloudflare's documentation: developers.cloudflare.com/queues/configuration/pull-consumers. */
  test('pulls, acknowledges and gives back as the API wants it, a hundred leases at a time', async () => {
    const { queue, asked } = answering(
      good({
        message_backlog_count: 7,
        messages: [
          {
            id: 'm1',
            body: Buffer.from('{"n":"häß"}').toString('base64'),
            timestamp_ms: 1_760_000_000_000,
            attempts: 2,
            lease_id: 'l1',
            metadata: { 'CF-Content-Type': 'json' },
          },
        ],
      }),
      good({ ackCount: 1, retryCount: 0, warnings: {} }),
    );
    expect(await queue.pull(6000, 500)).toEqual({
      backlog: 7,
      messages: [
        { id: 'm1', body: { n: 'häß' }, sentAt: new Date(1_760_000_000_000), attempts: 2, lease: 'l1' },
      ],
    });
    const leases = Array.from({ length: 101 }, (_, i) => `l${i}`);
    await queue.ack(leases);
    await queue.retry(['l1'], 30);
    const at = `${host}/client/v4/accounts/${ACCOUNT}/queues/${QUEUE}/messages`;
    expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', `${at}/pull`, { batch_size: 100, visibility_timeout_ms: 6000 }],
      ['POST', `${at}/ack`, { acks: leases.slice(0, 100).map((lease_id) => ({ lease_id })), retries: [] }],
      ['POST', `${at}/ack`, { acks: [{ lease_id: 'l100' }], retries: [] }],
      ['POST', `${at}/ack`, { acks: [], retries: [{ lease_id: 'l1', delay_seconds: 30 }] }],
    ]);
  });

  test('sends its token and no other credentials that stand in the environment', async () => {
    for (const name of ['API_KEY', 'EMAIL', 'API_USER_SERVICE_KEY', 'API_TOKEN'])
      vi.stubEnv(`CLOUDFLARE_${name}`, 'of-somebody-else');
    vi.stubEnv('CLOUDFLARE_BASE_URL', 'https://elsewhere.example');
    const { queue, asked } = answering(good({ messages: [] }));
    await queue.pull(1000);
    expect(asked[0]!.headers.get('authorization')).toBe('Bearer the-token');
    expect([...asked[0]!.headers.values()].join('\n')).not.toContain('of-somebody-else');
    expect(asked[0]!.url.startsWith(`${host}/`)).toBe(true);
  });

  test('trouble is tried again and then told; a refused token is final', async () => {
    const trouble = answering(
      bad(503),
      () => Promise.reject(new TypeError('fetch failed')) as never,
      good({}),
    );
    await trouble.queue.pull(1000);
    expect(trouble.asked).toHaveLength(3);

    const down = answering(bad(500, { code: 1, message: 'Down.' }, { code: 2, message: 'Far down.' }));
    expect(await told(down.queue.ack(['l']))).toBe(
      'retry queue.unreachable: The queue did not take messages/ack: 500 Down.; Far down..',
    );
    expect(down.asked).toHaveLength(3);

    const refused = answering(bad(403, { code: 10_000, message: 'Authentication error' }));
    expect(await told(refused.queue.pull(1000))).toBe(
      'wrong-input queue.refused: The queue refused the token: 403 Authentication error.',
    );
    expect(refused.asked).toHaveLength(1);
  });

  test.each<[string, () => Response]>([
    ['a page of a proxy', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['a refusal of a proxy', () => Response.json({ errors: 'no' }, { status: 418 })],
    ['an answer that reports a failure', bad(200, { code: 1, message: 'No.' })],
  ])('%s is no empty queue', async (_, answer) => {
    expect(await told(answering(answer).queue.pull(1000))).toMatch(/^retry queue\.unreachable: /);
  });
});
