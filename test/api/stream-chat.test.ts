/** `streamChat` against servers that answer a chat as a mesh does, and as none should. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import '../../cli/shared/fetch-dispatcher.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What a client reads of a server that answers so. */
async function answered(answer: (response: ServerResponse) => void): Promise<string> {
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    answer(response);
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateway = new GatewayClient({ url, token: 'a' });
  let text = '';
  for await (const added of gateway.streamChat({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }))
    text += added;
  return text;
}

const word = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

test('words come until the last event, however they are cut', async () => {
  expect(
    await answered((response) => {
      const text = word('Good ') + word('dây.');
      response.write(text.slice(0, 20));
      setTimeout(() => response.end(`${text.slice(20)}data: [DONE]\n\n`), 20);
    }),
  ).toBe('Good dây.');
});

const half = 'gateway.broke-off';
const wrong = 'gateway.answer';
test.each<[string, string, (response: ServerResponse) => void]>([
  ['an answer without its last event', half, (response) => response.end(word('Good'))],
  [
    'a connection that breaks off',
    half,
    (response) => response.write(word('Good'), () => response.destroy()),
  ],
  ['an event without end', half, (response) => response.write(`data: ${'a'.repeat(3_000_000)}`)],
  ['what is no JSON', wrong, (response) => response.end('data: {"choices":[\n\n')],
  ['what is no word', wrong, (response) => response.end('data: {"choices":[{"delta":{"content":1}}]}\n\n')],
])('%s is an error that says so', async (_, code, answer) => {
  await expect(answered(answer)).rejects.toMatchObject({ code });
});

test('what the mesh says went wrong is said', async () => {
  const failed = (response: ServerResponse) =>
    response.end('data: {"error":{"message":"The policy is gone.","type":"x","code":"policy.missing"}}\n\n');
  await expect(answered(failed)).rejects.toMatchObject({
    code: 'gateway.failed',
    what: 'The policy is gone.',
  });
});
