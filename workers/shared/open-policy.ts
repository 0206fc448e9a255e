/** From a version's stored files to a live policy: verified bytes, checked tensors, one ONNX session an isolate. */
import type { R2Bucket } from '@cloudflare/workers-types';
import type { PolicyRef } from '../../core/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import { loadVersion } from '../../store/versions.ts';
import { log } from './log.ts';
import { type OpenPolicy, PolicySession } from './policy-session.ts';

async function open(bucket: R2Bucket, ref: PolicyRef): Promise<OpenPolicy> {
  const started = Date.now();
  const files = await loadVersion(bucket, ref, ['config.json', 'tokenizer.json', 'model.safetensors']);
  const tokenizer = tokenizerOf(files, ref.name);
  const runtime = await loadOrt();
  const policy = await openVersion(runtime, ref, files);
  log('info', 'policy.opened', {
    policy: ref.name,
    version: ref.version,
    ms: Date.now() - started,
    heapBytes: runtime.heapBytes(),
  });
  return { policy, tokenizer };
}

let session: PolicySession | undefined;

/** The isolate's one session. */
export function sessionOf(bucket: R2Bucket): PolicySession {
  session ??= new PolicySession((ref) => open(bucket, ref));
  return session;
}
