/**
 * Moves Miniflare's own two ports to private Unix sockets. On one port workerd calls back into this process; whoever reaches it can
 * write files, open browsers and end the process. The other is in front of all Workers; whoever reaches it can read every bucket and
 * choose a Worker by a header. The sockets are in a folder that only this user may enter, so that no other account of the machine
 * and no web page reaches them. Miniflare itself speaks to workerd over TCP: entry-proxy.mjs passes on requests that carry
 * Miniflare's secret, and refuses everything else.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Runtime } from 'miniflare';
import { withGuardedChildren } from './kill-workerd-with-parent.ts';

interface Sockets {
  /** The path of the socket on which workerd reaches this process. */
  readonly loopback: string;
  /** The path of the socket on which workerd is reached. */
  readonly entry: string;
  /** The TCP port of the proxy in front of `entry`. */
  readonly port: number;
}

export interface PrivateSockets {
  /** Runs `start`. Each Miniflare that it makes uses these sockets, also when it restarts workerd. */
  within<T>(start: () => Promise<T>): Promise<T>;
  /** Removes the sockets. Call it after Miniflare has been disposed of. */
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
    // Remove the socket file that an earlier workerd left: nothing can listen where a file exists.
    rmSync(sockets.entry, { force: true });
    const addresses = { loopbackAddress: `unix:${sockets.loopback}`, entryAddress: `unix:${sockets.entry}` };
    const ports = await withGuardedChildren(() =>
      updateConfig.call(this, configuration, { ...options, ...addresses }, ...rest),
    );
    return ports?.set('entry', sockets.port);
  };
}

/** Makes the server listen on a socket file. Miniflare asks for its port but does not use it. */
function listeningAt(server: http.Server, path: string): http.Server {
  const listen = server.listen.bind(server);
  return Object.assign(server, {
    listen: (_port: number, _host: string, listening: () => void) => listen(path, listening),
    address: () => ({ address: path, family: 'unix', port: 0 }),
  });
}

/** On Windows, which has no Unix sockets, Miniflare is left as it is; docs/security.md says what that means. */
const unprotected: PrivateSockets = {
  within: (start) => withGuardedChildren(start),
  close: async () => undefined,
};

export async function openPrivateSockets(): Promise<PrivateSockets> {
  if (process.platform === 'win32') return unprotected;
  install();
  // mkdtemp creates the folder with mode 700.
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
