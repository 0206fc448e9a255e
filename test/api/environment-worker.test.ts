/** The client of the Open Reward Standard in an isolate: a Worker holds episodes, and a broken stream is taken up again there as elsewhere. */
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorker } from '../infer/worker-bundle.ts';
import { orsServer } from '../ors-server.ts';
import type { WorkerEnded, WorkerEpisode } from './environment.worker.ts';

let worker: Miniflare;
let server: Awaited<ReturnType<typeof orsServer>>;
beforeAll(async () => {
  [worker, server] = await Promise.all([startWorker('test/api/environment.worker.ts'), orsServer()]);
});
afterAll(async () => {
  await worker.dispose();
  await server.stop();
});

async function holds(session: string, ...answers: string[]): Promise<WorkerEnded> {
  const task = { metadata: { environment: 'sums', split: 'train', index: 3 } };
  const episode: WorkerEpisode = { url: server.url, task, session, answers };
  const ended = await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    body: JSON.stringify(episode),
  });
  return (await ended.json()) as WorkerEnded;
}

test('a Worker hears prompt, tools and results, and is paid', async () => {
  // The sum of 3 and 7; a wrong result is paid -0.25.
  const ended = await holds('one', '9', '10');
  expect(ended).toMatchObject({ score: 0.75, turns: { 'call-0': -0.25, 'call-1': 1 } });
  expect(ended.heard).toMatchObject({ role: 'tool', content: 'Wrong.' });
  expect(server.begun).toEqual(['one']);
});

test('a stream that breaks is taken up again under its number, and what fails is missing data', async () => {
  const before = server.ran.length;
  server.faults.set('/sums/call', (_, response) => {
    server.faults.clear();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: task_id\ndata: call-${before}\n\nevent: chunk\ndata: {"ok"\n\n`);
    return true;
  });
  expect(await holds('two', '10')).toMatchObject({ score: 1 });
  expect(server.ran).toHaveLength(before + 1);
  server.faults.set('/create', (_, response) => {
    response.writeHead(401).end();
    return true;
  });
  expect(await holds('three', '10')).toMatchObject({ score: 'refused', error: expect.any(String) });
  server.faults.clear();
});
