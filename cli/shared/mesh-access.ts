/** Opens the mesh that a command means: one at an address, the one that the environment names, or that of the state folder. */

import { wrongInput } from '../../core/errors.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { type OpenStore, openStore } from './state-access.ts';
import { findStateFolder } from './state-folder.ts';

const HERE = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The address of a gateway without its last slash. The token goes with every request, so it must travel encrypted, or not at all. */
export function gatewayAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === 'https:' || (url.protocol === 'http:' && HERE.has(url.hostname))))
    return (url.origin + url.pathname).replace(/\/$/, '');
  throw wrongInput('url.invalid', `${JSON.stringify(text)} is not the address of a mesh.`, {
    expected: 'https://…, or http:// on this machine',
    next: 'Take the address that `npx rollmesh deploy` prints, without the path of the hook.',
  });
}

/** Opens a mesh elsewhere with a token from the environment, since everybody on a machine can see its command lines. */
function meshElsewhere(url: string, variable: string, whose: string, next: string): OpenStore {
  const token = process.env[variable];
  if (!token)
    throw wrongInput('environment.missing', `The variable ${variable} is not set.`, {
      expected: `${whose} token of ${url}`,
      next,
    });
  return { gateway: new GatewayClient({ url: gatewayAddress(url), token }), close: async () => {} };
}

/** Opens a mesh elsewhere with the learner's token. Throws `environment.missing` and `url.invalid`. */
export const remoteMesh = (url: string): OpenStore =>
  meshElsewhere(
    url,
    'LEARNER_TOKEN',
    'the learner’s',
    'For a mesh that was deployed from this folder: set -a; . .deploy/learner.env; set +a',
  );

/** Opens a mesh elsewhere for reading alone, with the token of a verifier. Throws `environment.missing` and `url.invalid`. */
export const verifiersMesh = (url: string): OpenStore =>
  meshElsewhere(
    url,
    'ROLLMESH_NODE_TOKEN',
    'a verifier’s',
    'Have one made where the mesh is: `npx rollmesh node-token create NAME --verifier`.',
  );

export async function openMesh(state: string): Promise<OpenStore> {
  const { ROLLMESH_URL: url, LEARNER_TOKEN: token } = process.env;
  if (url && token) return remoteMesh(url);
  const folder = findStateFolder(state);
  // Runs are shown with the texts of the recipes that `start` wrote there.
  return openStore(folder, async () => {
    const { openRecipes, withStateRecipes } = await import('../recipe-modules.ts');
    const { modules } = await withStateRecipes(await openRecipes([]), folder);
    return modules.map(({ file }) => file);
  });
}
