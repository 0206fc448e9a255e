/** Opens a version's stored files as a live policy: verifies the bytes, checks the tensors, and keeps one session per isolate. */
import type { PolicyRef } from '../../core/policy.ts';
import { type PolicyText, TEXT_FILES, textOf } from '../../core/renderer/policy-text.ts';
import {
  adapterFile,
  deltasOf,
  MAIN_SET,
  setFiles,
  type VersionFile,
  weightsFile,
} from '../../core/schema/policy.ts';
import { type OpenPolicy, openStreamed, openVersion } from '../../infer/open-version.ts';
import { workerdEngines } from '../../infer/workerd-engines.ts';
import { parseConfig } from '../../model/config.ts';
import { missingVersion } from '../../store/versions.ts';
import { loadCommitted, manifestOf, streamCommitted, type VersionStore } from './committed.ts';
import { expectRoom } from './isolate-size.ts';
import { log } from './log.ts';
import { PolicySession } from './policy-session.ts';

async function open(store: VersionStore, ref: PolicyRef): Promise<OpenPolicy> {
  const started = Date.now();
  const policy = await (ref.engine ? openFromStream(store, ref) : openFromFiles(store, ref));
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

/** The version's config.json. Throws `policy.isolate` where the model is too large to be opened here. */
async function configOf(store: VersionStore, ref: PolicyRef): Promise<Uint8Array> {
  const { 'config.json': config } = await loadCommitted(store, ref, ['config.json']);
  if (!config) throw missingVersion(ref, 'it lacks config.json');
  const own = await manifestOf(store, ref);
  const weights = own.files[weightsFile(ref.set)];
  const deltas = weights ? deltasOf(weightsFile(ref.set), weights, ref.version) : [];
  const bytes = deltas.reduce((sum, delta) => sum + delta.bytes, 0);
  expectRoom(parseConfig(JSON.parse(new TextDecoder().decode(config))), ref, bytes);
  return config;
}

/** Files of version 0: a set that no round has trained yet is its main set, and adapters without weights are trained on it. */
const loadStart = (store: VersionStore, ref: PolicyRef, files: readonly VersionFile[]) =>
  loadCommitted(store, { ...ref, version: 0 }, files);

async function openFromFiles(store: VersionStore, ref: PolicyRef): Promise<OpenPolicy> {
  const config = await configOf(store, ref);
  const own = await loadCommitted(store, ref, [weightsFile(ref.set), adapterFile(ref.set)]);
  const start = own[weightsFile(ref.set)] ? {} : await loadStart(store, ref, [weightsFile(), adapterFile()]);
  return openVersion(workerdEngines, ref, { 'config.json': config, ...start, ...own });
}

/** Opens a policy and lays its weights out while they arrive, so that they are in memory only once. */
async function openFromStream(store: VersionStore, ref: PolicyRef): Promise<OpenPolicy> {
  const [config, own, adapters] = await Promise.all([
    configOf(store, ref),
    streamCommitted(store, ref, weightsFile(ref.set)),
    loadCommitted(store, ref, [adapterFile(ref.set)]),
  ]);
  const weights = own ?? (await streamCommitted(store, { ...ref, version: 0 }, weightsFile()));
  if (!weights) throw missingVersion(ref, 'it lacks weights');
  const start = own ? {} : await loadStart(store, ref, [adapterFile()]);
  const { adapter } = setFiles(adapters, ref.set, start);
  return openStreamed(workerdEngines, ref, config, weights, adapter);
}

let session: PolicySession | undefined;

/** The isolate's one session. */
export function sessionOf(store: VersionStore): PolicySession {
  session ??= new PolicySession((ref) => open(store, ref));
  return session;
}

/** By policy. */
const texts = new Map<string, PolicyText>();
/** A round's own policy and a judge of it. */
const KEPT_TEXTS = 2;

/** Reads the policy's tokenizer and chat template, once for all its versions, which share them. */
export async function loadText(store: VersionStore, ref: PolicyRef): Promise<PolicyText> {
  const known = texts.get(ref.name);
  if (known) return known;
  const read = textOf(await loadCommitted(store, ref, TEXT_FILES), ref.name);
  if (texts.size >= KEPT_TEXTS) texts.clear();
  texts.set(ref.name, read);
  return read;
}
