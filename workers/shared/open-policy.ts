/** From a version's stored files to a live policy: verified bytes, checked tensors, one session an isolate. */
import type { R2Bucket } from '@cloudflare/workers-types';
import type { PolicyRef } from '../../core/policy.ts';
import { MAIN_SET, weightsFile } from '../../core/schema/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { type OpenPolicy, openStreamed, openVersion } from '../../infer/open-version.ts';
import { workerdEngines } from '../../infer/workerd-engines.ts';
import { loadVersion, missingVersion, streamFile } from '../../store/versions.ts';
import { log } from './log.ts';
import { PolicySession } from './policy-session.ts';

async function open(bucket: R2Bucket, ref: PolicyRef): Promise<OpenPolicy> {
  const started = Date.now();
  const policy = await (ref.engine ? openFromStream(bucket, ref) : openFromFiles(bucket, ref));
  log('info', 'policy.opened', {
    policy: ref.name,
    version: ref.version,
    set: ref.set ?? MAIN_SET,
    engine: ref.engine ?? 'onnx',
    weights: ref.weights ?? 'float32',
    ms: Date.now() - started,
    heapBytes: policy.heapBytes,
  });
  return policy;
}

async function openFromFiles(bucket: R2Bucket, ref: PolicyRef): Promise<OpenPolicy> {
  const wanted = weightsFile(ref.set);
  let files = await loadVersion(bucket, ref, ['config.json', wanted]);
  // A set that no round has trained yet is what the policy began with: version 0's main set.
  if (!files[wanted])
    files = await loadVersion(bucket, { ...ref, version: 0 }, ['config.json', weightsFile()]);
  return openVersion(workerdEngines, ref, files);
}

/** The same with the weights laid out while they arrive, so that they are in memory once. */
async function openFromStream(bucket: R2Bucket, ref: PolicyRef): Promise<OpenPolicy> {
  const [{ 'config.json': config }, own] = await Promise.all([
    loadVersion(bucket, ref, ['config.json']),
    streamFile(bucket, ref, weightsFile(ref.set)),
  ]);
  const weights = own ?? (await streamFile(bucket, { ...ref, version: 0 }, weightsFile()));
  if (!config || !weights) throw missingVersion(ref, 'it lacks config.json or weights');
  return openStreamed(workerdEngines, ref, config, weights);
}

let session: PolicySession | undefined;

/** The isolate's one session. */
export function sessionOf(bucket: R2Bucket): PolicySession {
  session ??= new PolicySession((ref) => open(bucket, ref));
  return session;
}

let tokenizer: { readonly policy: string; readonly of: Tokenizer } | undefined;

/** All versions of a policy have one tokenizer: it is read once. */
export async function loadTokenizer(bucket: R2Bucket, ref: PolicyRef): Promise<Tokenizer> {
  if (tokenizer?.policy !== ref.name) {
    const files = await loadVersion(bucket, ref, ['tokenizer.json']);
    tokenizer = { policy: ref.name, of: tokenizerOf(files, ref.name) };
  }
  return tokenizer.of;
}
