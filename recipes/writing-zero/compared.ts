/** Rewards by comparison (BRPO): 1 for a response that is better than the reference response and -1 for a worse one, whatever the difference. */
import { Random } from '../../core/random.ts';

/** The index of the reference response of a group, which is drawn at random for each group. */
export const referenceOf = (group: string, responses: number): number =>
  new Random(`reference/${group}`).int(responses);

/** null for a response that is as good as the reference, and where the worth of either is missing. worths [n] -> [n] */
export const against = (worths: readonly (number | null)[], reference: number | null): (number | null)[] =>
  worths.map((worth) =>
    worth === null || reference === null || worth === reference ? null : Math.sign(worth - reference),
  );
