/** Two bounds on how many versions samples may be behind: one when rollouts are started, one when a batch is made. For asynchronous recipes of one's own: the shipped ones fix their lag by `ahead` and `lag`. */

export interface AdmissionState {
  /** Rollouts that may run at once. */
  readonly maxConcurrent: number;
  readonly running: number;
  /** Rollouts that finished and were accepted since version 0 (after a recovery: version·batch). */
  readonly accepted: number;
  /** The learner's current version. */
  readonly version: number;
  /** Versions that a sample may be behind when it is trained on. */
  readonly maxBehind: number;
  /** Rollouts a version consumes. */
  readonly batch: number;
}

/**
 * How many rollouts may be started now (AReaL, Fu et al. 2025): min(maxConcurrent − running,
 * (maxBehind + version + 1)·batch − (accepted + running)). Negative: wait until that many have gone.
 */
export const admissionCapacity = ({
  maxConcurrent,
  running,
  accepted,
  version,
  maxBehind,
  batch,
}: AdmissionState): number =>
  Math.min(maxConcurrent - running, (maxBehind + version + 1) * batch - (accepted + running));

/** True if a sample whose tokens come from these versions is too old to train on at `version` (prime-rl's hard drop: 8). */
export const isStale = (versions: readonly number[], version: number, maxBehind: number): boolean =>
  version - Math.min(...versions) > maxBehind;
