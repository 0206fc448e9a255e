/** Finds out by which protocol a server of environments speaks. */
import { wrongInput } from '../../../core/errors.ts';
import { EnvironmentClient } from '../environment-client.ts';
import { EnvironmentHttp, missingBy } from '../environment-http.ts';
import { type Connect, OpenEnvClient } from '../openenv-client.ts';
import type { Host } from './host.ts';
import { openEnvHost } from './openenv-host.ts';
import { orsHost } from './ors-host.ts';

/** How a server of environments is reached. */
export interface HostAccess {
  /** Sent with every request. */
  readonly key: string | undefined;
  readonly connect: Connect;
}

/** Checks the address of a server. A key goes with every request, so it must travel encrypted, or not at all. Throws `environment.address`. */
function expectAddress(url: string, key: string | undefined): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'https:' || (protocol === 'http:' && (key === undefined || isHere))) return;
  throw wrongInput('environment.address', `${JSON.stringify(url)} is not the address of an environment.`, {
    expected: `https://… or http://…${key === undefined ? '' : '; with ORS_API_KEY, http:// on this machine alone'}`,
  });
}

/** A server without the first path of the Open Reward Standard may be one of OpenEnv: it has to tell the schema of its actions then. */
export async function openHost(url: string, { key, connect }: HostAccess): Promise<Host> {
  expectAddress(url, key);
  const options = { url, key };
  const http = new EnvironmentHttp(options);
  const listed = await http.send('GET', '/list_environments', {});
  if (listed.status !== 404) {
    await http.text(listed, 'GET /list_environments');
    return orsHost(new EnvironmentClient(options));
  }
  await listed.body?.cancel();
  const host = openEnvHost(new OpenEnvClient(options, connect));
  try {
    await host.check();
  } catch (error) {
    if (missingBy(error) === undefined) throw error;
    throw wrongInput('environment.protocol', `${url} is no server of environments that is known here.`, {
      expected: 'one of the Open Reward Standard (GET /list_environments) or of OpenEnv (GET /schema)',
      cause: error,
    });
  }
  return host;
}
