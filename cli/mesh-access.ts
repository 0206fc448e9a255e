/** The mesh that a command means: the one that the environment names, or else that of the state folder. */
import { GatewayClient } from '../learner/transport/gateway-client.ts';
import { type OpenStore, openStore } from './state-access.ts';
import { openStateFolder } from './state-folder.ts';

export async function openMesh(state: string): Promise<OpenStore> {
  const { ROLLMESH_URL: url, LEARNER_TOKEN: token } = process.env;
  if (url && token) return { gateway: new GatewayClient({ url, token }), close: async () => {} };
  return openStore(openStateFolder(state, false));
}
