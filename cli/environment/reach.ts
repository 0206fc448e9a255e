/** How commands reach an environment: from this machine. */
import type { Host } from '../../api/environment/host.ts';
import { openHost } from '../../api/environment/open-host.ts';
import { nodeSocket } from '../../api/node-socket.ts';
import { environmentKey } from './options.ts';

export const hostOf = (url: string): Promise<Host> =>
  openHost(url, { key: environmentKey(), connect: nodeSocket });
