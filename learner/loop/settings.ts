/** What the learner's loop goes by. */
import type { Registry } from '../../core/recipe/registry.ts';
import type { AuditSettings } from './auditor.ts';

export interface LearnerSettings {
  /** The recipes whose rounds the learner can train. */
  readonly recipes: Registry;
  /** The key that checks the mesh's seal on every group; without it only the hash is checked. */
  readonly meshKey?: string;
  /** Number of versions that a round's samples may be behind the current version, where its run and recipe ask for no more by design. */
  readonly maxStaleness: number;
  /** The audit of the records before they are trained on; absent = only hashes and seals are checked. */
  readonly audit?: AuditSettings;
  /** Lease of a pulled message, ms. It should exceed the training time of a round; if it runs out, the message is only delivered twice. */
  readonly leaseMs: number;
  /** Longest pause between two pulls while the queue is empty, ms; an empty pull is a billed read on the real service. */
  readonly longestIdleMs: number;
  /** Description of the device for the manifest. */
  readonly device: string;
}
