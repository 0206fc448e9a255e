/**
 * Bounds the attempts at a round. What fails again and again, such as a version whose files are damaged, must not be tried for ever: the
 * round is then given up with its reason, and can be replayed once the cause is mended.
 */
import { RollmeshError } from '../../core/errors.ts';
import { UNREADABLE } from './load-version.ts';

/** Attempts at a round before it is given up. */
const MOST = 5;
/** The same where the mesh says that a later attempt may succeed: an outage of some minutes must not cost a round. */
const MOST_OF_MESH = 10;

/** The learner's own settings are wrong, so no round can be trained. */
const SETTINGS = [
  'token.wrong',
  'queue.refused',
  'recipe.unknown',
  'tinker.key',
  'tinker.base',
  'tinker.model',
  'tinker.release',
];
/** Nothing answers. */
const AWAY = ['gateway.unreachable', 'queue.unreachable', 'tinker.unreachable', 'tinker.billing'];

/** The mesh has begun to sample the round again, without the node that was shut out. */
const MENDED = ['node.shut-out'];

const hasCode = (error: unknown, codes: readonly string[]) =>
  error instanceof RollmeshError && codes.includes(error.code);

/** Must the learner end, because a person has to change its settings? */
export const endsLearner = (error: unknown): boolean => hasCode(error, SETTINGS);

/** Does the error concern the round that was being trained, rather than every round? */
export const concernsRound = (error: unknown): boolean => !hasCode(error, [...SETTINGS, ...AWAY, ...MENDED]);

export class Attempts {
  readonly #failed = new Map<string, number>();

  /** Counts a failed attempt. @returns true if it was the round's last */
  failed(round: string, error: unknown): boolean {
    const failed = (this.#failed.get(round) ?? 0) + 1;
    this.#failed.set(round, failed);
    const ofMesh = error instanceof RollmeshError && error.kind === 'retry' && error.code !== UNREADABLE;
    return failed >= (ofMesh ? MOST_OF_MESH : MOST);
  }

  /** How often the round's training has failed. */
  of(round: string): number {
    return this.#failed.get(round) ?? 0;
  }

  /** The round has ended. */
  forget(round: string): void {
    this.#failed.delete(round);
  }
}
