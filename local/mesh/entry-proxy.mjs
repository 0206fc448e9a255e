/**
 * The thread beside private-sockets.ts: passes those of Miniflare's requests on to workerd that carry its secret. A thread of
 * its own, for Miniflare sometimes blocks its own until workerd has answered.
 */
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** The only path by which Miniflare speaks to workerd, and the header with its secret, which workerd compares. */
const PROXY_PATH = '/cdn-cgi/platform-proxy';
const SECRET_HEADER = 'mf-op-secret';

const server = http.createServer((request, response) => {
  if (request.url !== PROXY_PATH || request.headers[SECRET_HEADER] === undefined) {
    response.writeHead(403, { connection: 'close' }).end();
    return;
  }
  const { method, headers, url: path } = request;
  // A connection of its own for each request: workerd closes one that was idle for some seconds, and a request that is sent on it at
  // that moment is lost, of which nobody can say whether it was carried out. It is this side that closes it, once the answer is here.
  const connection = {
    socketPath: workerData,
    agent: false,
    headers: { ...headers, connection: 'keep-alive' },
  };
  const onward = http.request({ ...connection, method, path }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
// Miniflare's connections idle between two ticks of the clock; closing one under a request would fail it.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage(server.address()));
