/** How commands reach an environment: from this machine. */
import type { Host } from '../../workers/api/environment/host.ts';
import { openHost } from '../../workers/api/environment/open-host.ts';
import { nodeSocket } from '../../workers/api/node-socket.ts';
import { environmentKey } from './options.ts';

export const hostOf = (url: string): Promise<Host> =>
  openHost(url, { key: environmentKey(), connect: nodeSocket });
