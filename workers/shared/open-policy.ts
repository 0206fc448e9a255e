/** From a version's stored files to a live policy: verified bytes, checked tensors, one ONNX session. */
import type { PolicyRef } from '../../core/policy.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import { checkCheckpoint } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { loadVersion, missingVersion } from '../../store/versions.ts';
import { log } from './log.ts';
import { type OpenPolicy, PolicySession } from './policy-session.ts';

const parseText = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

async function openVersion(bucket: R2Bucket, ref: PolicyRef): Promise<OpenPolicy> {
  const started = Date.now();
  const files = await loadVersion(bucket, ref, ['config.json', 'tokenizer.json', 'model.safetensors']);
  const {
    'config.json': configBytes,
    'tokenizer.json': tokenizerBytes,
    'model.safetensors': weights,
  } = files;
  if (!configBytes || !weights)
    throw missingVersion(ref, 'config.json or model.safetensors is not in its manifest');
  if (!tokenizerBytes) throw missingVersion(ref, 'it has no tokenizer, and roles read and write text');
  const tokenizer = openTokenizer(parseText(tokenizerBytes));
  const config = parseConfig(parseText(configBytes));
  const tensors = readSafetensors(weights);
  checkCheckpoint(config, tensors, tokenizer.vocabSize);
  const runtime = await loadOrt();
  const policy = await createPolicy({ runtime, ref, config, weights: tensors });
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
  session ??= new PolicySession((ref) => openVersion(bucket, ref));
  return session;
}
