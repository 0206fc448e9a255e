/** What a deployment asks of a deployed gateway: whether it answers, whether it has the start policy, and the upload of that policy. */

import { RollmeshError } from '../../core/errors.ts';
import { DEFAULT_START_POLICY, ensureShipped } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { RecipeModule } from '../recipe-modules.ts';
import { storeTasks } from '../shared/store-tasks.ts';

/** How long a new address may take until it answers, and how often it is tried, in ms. */
const PATIENCE_MS = 120_000;
const ASK_MS = 2_000;
const TIMEOUT_MS = 10_000;

const answers = async (url: string): Promise<boolean> => {
  const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => null,
  );
  return response?.ok ?? false;
};

/** Whether the gateway has the start policy; null where it does not answer or does not let us read. */
export async function hasStartPolicy(url: string, token: string | undefined): Promise<boolean | null> {
  if (!(await answers(url))) return null;
  try {
    return (await new GatewayClient({ url, token: token ?? '' }).getPolicy(DEFAULT_START_POLICY)) !== null;
  } catch (error) {
    if (error instanceof RollmeshError) return null;
    throw error;
  }
}

/** The deployed gateway, once it answers. Throws `deploy.silent` where it does not within two minutes. */
async function gatewayAt(url: string, token: string): Promise<GatewayClient> {
  const until = performance.now() + PATIENCE_MS;
  while (!(await answers(url))) {
    if (performance.now() > until)
      throw new RollmeshError('retry', 'deploy.silent', `${url}/healthz does not answer.`, {
        expected: 'the gateway that was deployed; a new address takes some minutes at times',
        next: 'Run `npx rollmesh deploy` again: it goes on here.',
      });
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
  return new GatewayClient({ url, token });
}

/** Uploads the start policy. Throws as `gatewayAt`. */
export async function uploadStartPolicy(url: string, token: string): Promise<void> {
  await ensureShipped(await gatewayAt(url, token));
}

/** Stores what the mesh lacks of the tasks of these modules' recipes. Throws as `gatewayAt`. */
export async function uploadTasks(
  modules: readonly RecipeModule[],
  url: string,
  token: string,
  say: (line: string) => void,
): Promise<void> {
  await storeTasks(await gatewayAt(url, token), modules, say);
}
