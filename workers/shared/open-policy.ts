/** The policies of an isolate: opens stored versions, one session for all uses, and reads their tokenizers. */
import type { PolicyRef } from '../../core/policy/policy.ts';
import { type OwnText, TEXT_FILES, textOf } from '../../core/renderer/policy-text.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { OpenPolicy } from '../../infer/open-version.ts';
import { workerdEngines } from '../../infer/workerd-engines.ts';
import { loadCommitted, type VersionStore } from './committed.ts';
import { log } from './log.ts';
import { openStored } from './open-stored.ts';
import { PolicySession } from './policy-session.ts';

async function open(store: VersionStore, ref: PolicyRef): Promise<OpenPolicy> {
  const started = Date.now();
  const policy = await openStored(workerdEngines, store, ref);
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

let session: PolicySession | undefined;

/** The isolate's one session. */
export function sessionOf(store: VersionStore): PolicySession {
  session ??= new PolicySession((ref) => open(store, ref));
  return session;
}

/** By policy. */
const texts = new Map<string, OwnText>();
/** A round's own policy and a judge of it. */
const KEPT_TEXTS = 2;

/** Reads the policy's tokenizer and chat template, once for all its versions, which share them. */
export async function loadText(store: VersionStore, ref: PolicyRef): Promise<OwnText> {
  const known = texts.get(ref.name);
  if (known) return known;
  const read = textOf(await loadCommitted(store, ref, TEXT_FILES), ref.name);
  if (texts.size >= KEPT_TEXTS) texts.clear();
  texts.set(ref.name, read);
  return read;
}
