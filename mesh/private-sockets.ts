/**
 * Miniflare opens two ports of its own: one by which workerd calls back into this process, which writes files, opens
 * browsers and ends the process for whoever asks, and one before all Workers, which reads every bucket for whoever asks and
 * obeys headers that choose a Worker. Here both are Unix sockets in a folder that only this user may enter, so that no other
 * account of the machine and no web page reaches them. Miniflare itself speaks to workerd over TCP: entry-proxy.mjs passes
 * on those of its requests that carry Miniflare's secret, and refuses everything else.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Runtime } from 'miniflare';
import { withGuardedChildren } from './die-together.ts';

interface Sockets {
  /** Path of the socket on which workerd reaches this process. */
  readonly loopback: string;
  /** Path of the socket on which workerd is reached. */
  readonly entry: string;
  /** TCP port of the server before `entry`. */
  readonly port: number;
}

export interface PrivateSockets {
  /** Runs `start`; each Miniflare that it makes keeps to these sockets, also where it starts workerd again. */
  within<T>(start: () => Promise<T>): Promise<T>;
  /** Once Miniflare is disposed of. */
  close(): Promise<void>;
}

const scope = new AsyncLocalStorage<Sockets>();
const socketsOf = new WeakMap<Runtime, Sockets>();
let installed = false;

function install(): void {
  if (installed) return;
  installed = true;
  const { createServer } = http;
  http.createServer = ((...options: Parameters<typeof createServer>) => {
    const server = createServer(...options);
    const sockets = scope.getStore();
    return sockets ? listeningAt(server, sockets.loopback) : server;
  }) as typeof createServer;

  const { updateConfig } = Runtime.prototype;
  Runtime.prototype.updateConfig = async function (configuration, options, ...rest) {
    const sockets = socketsOf.get(this) ?? scope.getStore();
    if (!sockets) return updateConfig.call(this, configuration, options, ...rest);
    socketsOf.set(this, sockets);
    // What an earlier workerd left; nothing can listen where a file is.
    rmSync(sockets.entry, { force: true });
    const addresses = { loopbackAddress: `unix:${sockets.loopback}`, entryAddress: `unix:${sockets.entry}` };
    const ports = await withGuardedChildren(() =>
      updateConfig.call(this, configuration, { ...options, ...addresses }, ...rest),
    );
    return ports?.set('entry', sockets.port);
  };
}

/** The server with its `listen` turned to a socket file; Miniflare asks for the port, and has no use for it. */
function listeningAt(server: http.Server, path: string): http.Server {
  const listen = server.listen.bind(server);
  return Object.assign(server, {
    listen: (_port: number, _host: string, listening: () => void) => listen(path, listening),
    address: () => ({ address: path, family: 'unix', port: 0 }),
  });
}

/** Where there are no Unix sockets (Windows) Miniflare is left as it is: docs/security.md says what that means. */
const unprotected: PrivateSockets = {
  within: (start) => withGuardedChildren(start),
  close: async () => undefined,
};

export async function openPrivateSockets(): Promise<PrivateSockets> {
  if (process.platform === 'win32') return unprotected;
  install();
  // Made with mode 700.
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  const entry = join(folder, 'entry');
  const proxy = new Worker(new URL('./entry-proxy.mjs', import.meta.url), { workerData: entry });
  const [{ port }] = (await once(proxy, 'message')) as [{ port: number }];
  proxy.unref();
  const sockets = { loopback: join(folder, 'loopback'), entry, port };
  return {
    within: (start) => scope.run(sockets, start),
    close: async () => {
      await proxy.terminate();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
