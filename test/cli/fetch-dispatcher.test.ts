/**
 * A server that closes in the middle of an answer. On Node 24 without the dispatcher, several of these requests end the process by an
 * assertion that no caller can catch, and others never end.
 */
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import '../../cli/shared/fetch-dispatcher.ts';

test('an answer that is read late is whole, or an error where the server closed before its end', async () => {
  for (const kilobytes of [64, 100, 300])
    for (const missing of [0, 1000])
      for (const waitMs of [0, 20]) {
        const body = Buffer.alloc(kilobytes * 1024, 97);
        const server = createServer((socket) => {
          socket.on('error', () => {});
          socket.once('data', () => {
            socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`);
            socket.end(body.subarray(missing));
          });
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        const read = response.arrayBuffer();
        if (missing) await expect(read).rejects.toThrow();
        else expect((await read).byteLength).toBe(body.length);
        server.close();
      }
});
