/** From a version's stored files to a live policy: verified bytes, checked tensors, one ONNX session an isolate. */
import type { R2Bucket } from '@cloudflare/workers-types';
import type { Policy, PolicyRef } from '../../core/policy.ts';
import { MAIN_SET, type VersionFile, type VersionFiles, weightsFile } from '../../core/schema/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import type { Database } from '../../store/database.ts';
import { getVersion } from '../../store/policies.ts';
import { loadVersion } from '../../store/versions.ts';
import { log } from './log.ts';
import { PolicySession } from './policy-session.ts';

export interface VersionStore {
  readonly db: Database;
  readonly bucket: R2Bucket;
}

/** A version's files as they were committed: the database says by which manifest. */
export async function loadCommitted(
  { db, bucket }: VersionStore,
  ref: PolicyRef,
  files: readonly VersionFile[],
): Promise<VersionFiles> {
  const noted = (await getVersion(db, ref))?.manifestSha256 ?? null;
  return loadVersion(bucket, ref, files, noted);
}

async function open(store: VersionStore, ref: PolicyRef): Promise<Policy> {
  const started = Date.now();
  const wanted = weightsFile(ref.set);
  let files = await loadCommitted(store, ref, ['config.json', wanted]);
  // A set that no round has trained yet is what the policy began with: version 0's main set.
  if (!files[wanted])
    files = await loadCommitted(store, { ...ref, version: 0 }, ['config.json', weightsFile()]);
  const runtime = await loadOrt();
  const policy = await openVersion(runtime, ref, files);
  log('info', 'policy.opened', {
    policy: ref.name,
    version: ref.version,
    set: ref.set ?? MAIN_SET,
    weights: ref.weights ?? 'float32',
    ms: Date.now() - started,
    heapBytes: runtime.heapBytes(),
  });
  return policy;
}

let session: PolicySession | undefined;

/** The isolate's one session. */
export function sessionOf(store: VersionStore): PolicySession {
  session ??= new PolicySession((ref) => open(store, ref));
  return session;
}

let tokenizer: { readonly policy: string; readonly of: Tokenizer } | undefined;

/** All versions of a policy have one tokenizer: it is read once. */
export async function loadTokenizer(store: VersionStore, ref: PolicyRef): Promise<Tokenizer> {
  if (tokenizer?.policy !== ref.name) {
    const files = await loadCommitted(store, ref, ['tokenizer.json']);
    tokenizer = { policy: ref.name, of: tokenizerOf(files, ref.name) };
  }
  return tokenizer.of;
}
