/**
 * Self-distillation: the policy itself, after a prompt that tells more, teaches the policy that is asked without it. Each recipe decides what the
 * teacher reads (context), how much each token counts (mask), how the two distributions are compared (divergence), and whose weights teach.
 */
import type { DistillationPart, LearnTools, SetSettings } from '../core/plan/training-plan.ts';
import type { TokenIds } from '../core/policy/policy.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { Sample } from '../core/schema/sample.ts';
import { SOLVER } from './solver.ts';

/** The parameter set of a teacher that follows the policy slowly. */
export const TEACHER_SET = 'teacher';

/** A set that moves by `rate` of its distance to the main set after every round. */
export const slowTeacher = (rate: number): SetSettings => ({
  optimizer: null,
  average: { of: MAIN_SET, decay: 1 - rate },
});

/** How far SDPO’s teacher moves in a round of four optimiser steps: a twentieth of its distance to the policy for each (arXiv:2601.20802). */
export const TEACHER_RATE = 1 - 0.95 ** 4;

/** A sample with what its teacher reads in place of the sample's own prompt. */
export interface TaughtSample {
  readonly sample: Pick<Sample, 'prompt' | 'ids'>;
  readonly context: TokenIds;
  /** Weight of each token's divergence [ids]; absent = 1 for all. */
  readonly weights?: readonly number[];
}

/** `set`: whose weights teach, as they are at the version that the round trains from. `role`: who wrote what is taught, by default the solver. */
export const teacherPass = (
  taught: readonly TaughtSample[],
  {
    set,
    version,
    role = SOLVER,
    ...how
  }: { readonly set: string; readonly version: number; readonly role?: string } & Pick<
    DistillationPart,
    'divergence' | 'weight' | 'entropyBeta'
  >,
): DistillationPart => ({
  kind: 'distillation',
  role,
  items: taught.map(({ sample: { prompt, ids }, context, weights }) => ({
    prompt,
    ids,
    teacherPrompt: context,
    ...(weights ? { weights } : {}),
  })),
  teacher: { set, version },
  ...how,
});

/**
 * log π(token | own prompt) − log π_teacher(token | context), nats [taught][ids]. Over tokens that the policy samples its mean is the reverse KL, and
 * it is large where the teacher would not have written the token. The teacher is the set at a version, by default the parent.
 */
export async function surprise(
  { score }: Pick<LearnTools, 'score'>,
  taught: readonly TaughtSample[],
  set: string,
  version?: number,
): Promise<number[][]> {
  const own = await score(
    MAIN_SET,
    taught.map(({ sample: { prompt, ids } }) => ({ prompt, ids })),
  );
  const theirs = await score(
    set,
    taught.map(({ sample: { ids }, context }) => ({ prompt: context, ids })),
    version,
  );
  return own.map((row, i) => Array.from(row, (logprob, t) => logprob - theirs[i]![t]!));
}
