/** Opens the exact versions that a round names, in the runtime that the Workers use. Files are checked against their manifests. */

import type { Policy, PolicyRef } from '../../core/policy/policy.ts';
import type { RoundContextParts } from '../../core/recipe/round-context.ts';
import { TEXT_FILES, textOf } from '../../core/renderer/policy-text.ts';
import type { VersionFile, VersionFiles } from '../../core/schema/policy.ts';
import { manifestKey, newestOf } from '../../core/schema/round.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { filesOf, keyOf, OpenPolicies } from '../../infer/open-policies.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { RoundState } from './ports.ts';
import { isForApart, type SampleApart } from './sample-apart.ts';

export type RoundTools = Pick<
  RoundContextParts,
  'tokenizer' | 'renderer' | 'contextLength' | 'textOf' | 'recipeState' | 'readStored'
> &
  Pick<OpenPolicies, 'use'>;
export type Versions = Pick<GatewayClient, 'getVersion' | 'getTasks'>;

/** Where completions are sampled apart, and the gateway that says of which versions they may be. */
export interface Apart {
  readonly sample: SampleApart;
  readonly gateway: Pick<GatewayClient, 'getManifest'>;
}

/**
 * Runs `work` with the policies of a round, whose files must match the manifests that the round's seal covers, and then disposes them. With `apart`
 * completions are sampled there, where the version is for it.
 */
export async function withRoundPolicies<T>(
  gateway: Versions,
  { spec, manifests = {} }: Pick<RoundState, 'spec' | 'manifests'>,
  work: (tools: RoundTools) => Promise<T>,
  apart?: Apart,
): Promise<T> {
  const load = (ref: PolicyRef, files: readonly VersionFile[]) =>
    gateway.getVersion(ref, files, manifests[manifestKey(spec, ref)]);
  const policies = new OpenPolicies(nodeEngines, (ref) => load(ref, filesOf(ref)));
  const { policy: name } = spec.settings;
  try {
    return await work({
      ...textOf(await load({ name, version: 0 }, TEXT_FILES), name),
      textOf: async (ref) => textOf(await load(ref, TEXT_FILES), ref.name),
      use: apart ? usedApart(policies, apart) : policies.use,
      recipeState: async () => recipeStateOf(await load(newestOf(spec), ['memory.json'])),
      readStored: (sha256) => gateway.getTasks(sha256),
    });
  } finally {
    await policies.dispose();
  }
}

/** Policies whose completions are sampled apart; their scores are computed here. */
function usedApart(policies: OpenPolicies, { sample, gateway }: Apart): OpenPolicies['use'] {
  const known = new Map<string, Promise<VersionFiles | null>>();
  const filesOfSet = async (ref: PolicyRef) =>
    (await isForApart(gateway, ref)) ? policies.files(ref) : null;
  return async (ref, work) => {
    const files = known.get(keyOf(ref)) ?? filesOfSet(ref);
    known.set(keyOf(ref), files);
    const loaded = await files;
    if (!loaded) return policies.use(ref, work);
    const policy: Policy = {
      ref,
      generate: (prompts, settings) => sample(ref, loaded, prompts, settings),
      score: (...asked) => policies.use(ref, (own) => own.score(...asked)),
      dispose: async () => {},
    };
    return work(policy);
  };
}
