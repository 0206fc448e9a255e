/** The pull API's stand-in as the client sees it: leases, attempts, delays, refusals, and dead letters in the end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ pullDeliveries: 3 });
});
afterAll(() => scene.stop());

const push = async (body: unknown, queue = 'rollmesh-scored') =>
  fetch(`${scene.mesh.pullUrl}/accounts/local/queues/${queue}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`, ...ALONE },
    body: JSON.stringify({ body, content_type: 'json' }),
  });

test('a leased message is hidden, comes again when the lease ends, and is gone once acknowledged', async () => {
  await push({ n: 'häß' });
  const [first] = (await scene.queue.pull(400)).messages;
  expect(first).toMatchObject({ body: { n: 'häß' }, attempts: 1 });
  expect((await scene.queue.pull(400)).messages).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 450));
  const [second] = (await scene.queue.pull(60_000)).messages;
  expect(second).toMatchObject({ id: first!.id, attempts: 2 });
  // Late, by the lease that ran out: taken, as the real queue takes it.
  await scene.queue.ack([first!.lease]);
  await scene.queue.retry([second!.lease]);
  expect((await scene.queue.pull(400)).messages).toEqual([]);
});

test('leases of a dead learner are taken back at once', async () => {
  await push({ n: 'held' });
  expect((await scene.queue.pull(600_000)).messages).toHaveLength(1);
  expect((await scene.queue.pull(600_000)).messages).toEqual([]);
  const release = `${scene.mesh.pullUrl}/accounts/local/queues/rollmesh-scored/messages/release`;
  const ask = (token: string) =>
    fetch(release, { method: 'POST', body: '{}', headers: { authorization: `Bearer ${token}`, ...ALONE } });
  expect((await ask('someone-else')).status).toBe(401);
  expect(await (await ask(scene.mesh.secrets.LEARNER_TOKEN)).json()).toMatchObject({
    result: { released: 1 },
  });
  const [again] = (await scene.queue.pull(600_000)).messages;
  expect(again).toMatchObject({ body: { n: 'held' }, attempts: 2 });
  await scene.queue.ack([again!.lease]);
});

test('a message given back is there at once, and after its last delivery it is a dead letter', async () => {
  await push({ poison: true, to: 'scored' });
  for (let attempt = 1; attempt <= 3; attempt++) {
    const [message] = (await scene.queue.pull(60_000)).messages;
    expect(message?.attempts).toBe(attempt);
    await scene.queue.retry([message!.lease]);
  }
  expect((await scene.queue.pull(60_000)).messages).toEqual([]);
  await expect
    .poll(
      async () =>
        (await (await fetch(`${scene.mesh.url}/api/dead-letters`, { headers: ALONE })).json()) as object,
    )
    .toMatchObject({ deadLetters: [{ queue: 'scored', code: 'queue.exhausted', kind: 'give-up' }] });
});

test('a hundred come at a time, each once', async () => {
  await Promise.all(Array.from({ length: 130 }, (_, n) => push({ n })));
  const { messages, backlog } = await scene.queue.pull(60_000);
  expect(messages).toHaveLength(100);
  expect(backlog).toBe(130);
  const rest = (await scene.queue.pull(60_000)).messages;
  expect(new Set([...messages, ...rest].map(({ id }) => id)).size).toBe(130);
  await scene.queue.ack([...messages, ...rest].map(({ lease }) => lease));
  expect((await scene.queue.pull(60_000)).backlog).toBe(0);
});

test('a wrong token is refused for good, a queue that is not there is worth another try', async () => {
  const options = {
    accountId: 'local',
    queueId: 'rollmesh-scored',
    backOff: { attempts: 2, firstMs: 1, longestMs: 1 },
  };
  const kindOf = (queue: PullQueue) =>
    queue.pull(1000).then(
      () => 'pulled',
      (error: unknown) => (error instanceof RollmeshError ? `${error.kind} ${error.code}` : String(error)),
    );
  expect(await kindOf(new PullQueue({ ...options, baseUrl: scene.mesh.pullUrl, token: 'wrong' }))).toBe(
    'wrong-input queue.refused',
  );
  expect(await kindOf(new PullQueue({ ...options, baseUrl: 'http://127.0.0.1:9', token: 'x' }))).toBe(
    'retry queue.unreachable',
  );
});
