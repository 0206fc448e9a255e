/** What responses earn by comparison (BRPO): 1 for more than a yardstick and -1 for less, however much it is. */
import { Random } from '../../core/random.ts';

/** The place of the response that the others of its group are compared with, drawn for each group. */
export const referenceOf = (group: string, responses: number): number =>
  new Random(`reference/${group}`).int(responses);

/** null for what is worth as much as the yardstick, and where either is missing. worths [n] -> [n] */
export const against = (worths: readonly (number | null)[], yardstick: number | null): (number | null)[] =>
  worths.map((worth) =>
    worth === null || yardstick === null || worth === yardstick ? null : Math.sign(worth - yardstick),
  );
