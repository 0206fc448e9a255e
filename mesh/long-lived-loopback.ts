/**
 * Keeps Miniflare's queues alive on a busy machine. Its queue broker reports every batch to an HTTP server in this
 * process; Node closes idle connections after 5 s, and a report that is sent in that very moment fails. The broker takes
 * the failure for its own and never delivers another message. So that server must not close idle connections.
 */
import http from 'node:http';

/** Runs `start` with servers that keep idle connections open; those created later are as ever. */
export async function withLongLivedServers<T>(start: () => Promise<T>): Promise<T> {
  const { createServer } = http;
  http.createServer = ((...options: Parameters<typeof createServer>) => {
    const server = createServer(...options);
    server.keepAliveTimeout = 0;
    return server;
  }) as typeof createServer;
  try {
    return await start();
  } finally {
    http.createServer = createServer;
  }
}
