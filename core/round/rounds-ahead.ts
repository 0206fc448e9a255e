/**
 * Which rounds of a run may begin, and which version each samples with. Round r of a run that is k rounds ahead samples with the
 * version that lies k versions before the one that it will be trained from. What a round samples with therefore depends only on
 * the rounds before it, and not on how fast anything is done.
 */
import { admissionCapacity } from '../rl/corrections/index.ts';
import { type RoleBinding, type RoundSpec, type RunSettings, roundOf } from '../schema/round.ts';

/** What decides which rounds of a run are due. */
export interface RunProgress {
  readonly settings: RunSettings;
  readonly roles: Readonly<Record<string, RoleBinding>>;
  /** Index of the last round that is wanted. */
  readonly target: number;
  /** Index of the last round that has begun; 0 = none. */
  readonly last: number;
  /** How many of its rounds have begun and not ended. */
  readonly open: number;
}

export const aheadOf = ({ ahead = 0 }: Pick<RunSettings, 'ahead'>): number => ahead;

/**
 * How many rounds may begin now. This is the bound on staleness at admission: a round that begins will be trained after all that are
 * open, and its samples must then be at most `ahead` versions old.
 */
export const roundsDue = ({ settings, target, last, open }: RunProgress): number => {
  const maxBehind = aheadOf(settings);
  // In units of rounds, and counted from the current version on, of which nothing is accepted yet.
  const capacity = admissionCapacity({
    maxConcurrent: maxBehind + 1,
    running: open,
    accepted: 0,
    version: 0,
    maxBehind,
    batch: 1,
  });
  return Math.max(0, Math.min(capacity, target - last));
};

/** How many versions before the current one the first due round samples with: `nextRounds` needs so many ancestors. */
export const versionsBack = ({ settings, open }: Pick<RunProgress, 'settings' | 'open'>): number =>
  Math.max(0, aheadOf(settings) - open);

/**
 * The rounds that are due. `chain`: the policy's current version, its parent, and so on, as far back as `versionsBack` says; shorter
 * where the policy has no older version.
 */
export const nextRounds = (run: RunProgress, chain: readonly number[]): RoundSpec[] =>
  Array.from({ length: roundsDue(run) }, (_, i) => {
    const back = versionsBack({ settings: run.settings, open: run.open + i });
    return roundOf(run.settings, run.roles, run.last + 1 + i, chain[Math.min(back, chain.length - 1)]!);
  });
