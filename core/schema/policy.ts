/** A stored policy version: its files, and the manifest that commits them. */
import * as v from 'valibot';
import { id, name } from './sample.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** Files a version may hold. model.safetensors is in the Hugging Face layout; optimizer.safetensors makes the learner stateless. */
export const versionFile = v.picklist([
  'config.json',
  'tokenizer.json',
  'model.safetensors',
  'optimizer.safetensors',
]);
export type VersionFile = v.InferOutput<typeof versionFile>;

/** Written last: a version without a manifest does not exist. */
export const manifest = v.object({
  policy: name,
  version: count,
  /** The version it was trained from; null for an imported one. */
  parent: v.nullable(count),
  files: v.record(v.string(), v.object({ sha256: hash, bytes: count })),
  /** Ids of the groups it was trained on in this step; with the chain of parents this says what it contains. */
  groups: v.array(id),
  /** The round that made it; null for an imported one. */
  round: v.nullable(id),
  /** Training settings and, for an imported version, where it came from. */
  settings: v.record(v.string(), v.unknown()),
});
export type Manifest = v.InferOutput<typeof manifest>;

/** The bytes of a version's files by name. */
export type VersionFiles = Partial<Record<VersionFile, Uint8Array>>;
