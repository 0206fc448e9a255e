/** A gateway's environments without a mesh, and the same tasks played in this process. */
import { vi } from 'vitest';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { type Registry, registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import type { PolicyText } from '../../core/renderer/policy-text.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { shipped } from '../../recipes/index.ts';
import type { Said } from '../../workers/api/environment/hold-episode.ts';
import { EnvironmentClient } from '../../workers/api/environment-client.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';

const ragen = shipped.find('ragen');
const ssp = shipped.find('ssp');

const URL_OF_MESH = 'http://mesh/environments';
const QUICK = { attempts: 2, firstMs: 1, longestMs: 2 };

/** What the routes use of R2, with its conditions. */
function bucketOf(clock: { now: number }) {
  const objects = new Map<string, { text: string; etag: string; uploaded: Date }>();
  let writes = 0;
  const meta = (key: string) => ({ key, ...objects.get(key)! });
  return {
    objects,
    head: async (key: string) => (objects.has(key) ? meta(key) : null),
    get: async (key: string) =>
      objects.has(key) ? { ...meta(key), text: async () => objects.get(key)!.text } : null,
    put: async (
      key: string,
      text: string,
      { onlyIf }: { onlyIf: { etagMatches?: string; etagDoesNotMatch?: string } },
    ) => {
      const etag = objects.get(key)?.etag;
      if (onlyIf.etagDoesNotMatch === '*' ? etag !== undefined : etag !== onlyIf.etagMatches) return null;
      objects.set(key, { text, etag: `e${writes++}`, uploaded: new Date(clock.now) });
      return meta(key);
    },
    delete: async (keys: string | string[]) => {
      for (const key of [keys].flat()) objects.delete(key);
    },
    list: async ({ prefix, limit }: { prefix: string; limit: number }) => ({
      objects: [...objects.keys()]
        .filter((key) => key.startsWith(prefix))
        .slice(0, limit)
        .map(meta),
    }),
  };
}

/** A mesh with these secrets. */
export async function served({
  local = true,
  read,
  recipes = registry([ragen, ssp]),
}: {
  local?: boolean;
  read?: string;
  recipes?: Registry;
} = {}) {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const path: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(path)) as {
    gatewayApp: (services: object) => { fetch: (request: Request) => Promise<Response> };
  };
  const clock = { now: Date.UTC(2026, 0, 1) };
  const bucket = bucketOf(clock);
  const free = { limit: async () => ({ success: true }) };
  const isolate = () =>
    gatewayApp({
      bucket,
      recipes,
      settings: { local, pages: [] },
      secrets: { read: [read], learner: ['the-learners-token'.padEnd(64, '0')] },
      limits: { reads: free, hooks: free },
      now: () => clock.now,
    });
  // No request meets the isolate of the one before it: nothing may be kept in one.
  const isolates = [isolate(), isolate()];
  let asked = 0;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) =>
    isolates[asked++ % 2]!.fetch(new Request(url, init)),
  );
  const client = new EnvironmentClient({ url: URL_OF_MESH, key: read, backOff: QUICK });
  const send = (method: string, to: string, session: string, body?: object) =>
    fetch(`${URL_OF_MESH}${to}`, {
      method,
      headers: { 'x-session-id': session },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  return { client, bucket, clock, send };
}
export const called = (id: string, name: string, input: object): Said => {
  const call = { id, name, arguments: JSON.stringify(input) };
  return { id, message: { role: 'assistant', tool_calls: [call] }, content: '', calls: [call] };
};

export function inProcess(
  recipe: Recipe,
  roles: Record<string, object>,
  write: (prompt: string) => string,
  { tokenizer, renderer }: Pick<PolicyText, 'tokenizer'> & Partial<PolicyText> = {
    tokenizer: textTokenizer(),
  },
) {
  const policy = scriptedPolicy(tokenizer, write);
  const rewardFunction = Object.keys(recipe.rewards)[0]!;
  const settings = { recipe: recipe.name, seed: 0, policy: 'p', rewardFunction, freeze: [], tasks: 1 };
  const context = openRoundContext({
    recipe,
    round: roundOf({ ...settings, groupSize: 1 }, roles, 1, 3),
    tokenizer,
    renderer,
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(policy),
  });
  return async (task: string): Promise<{ text: string; turns: readonly Sample[] }> => {
    const admitted = { group: '0'.repeat(32), index: 0, task, proposal: null };
    const [group] = await recipe.judge(context, await recipe.rollOut(context, [admitted]));
    const [turns] = episodesOf(group!.samples);
    const { prompt, ids } = turns!.at(-1)!;
    return { text: tokenizer.decode([...prompt, ...ids]), turns: turns! };
  };
}
