/** The code of which a receipt was written, by hashes of its sources: whoever checks the receipt learns whether the code here is the same. */
import * as v from 'valibot';
import { hash } from '../../core/schema/numbers.ts';

export const code = v.object({
  /** By the recipe's name: of its module and of every module that it imports; null where the module was not at hand. */
  recipes: v.record(v.string(), v.nullable(hash)),
  /** Of the learner's modules and those of all shipped recipes. */
  release: hash,
});
export type Code = v.InferOutput<typeof code>;

/** Digits of a hash that are shown. */
const SHOWN = 12;

/** What a reader is told before versions are trained again: is the code `here` that of which the receipt was written? Undefined = the receipt does not say. */
export function comparedCode(wrote: Code | undefined, here: Code): string {
  if (!wrote) return 'The receipt names no code, as those of 0.1.0 do not.';
  const told = Object.entries(wrote.recipes).map(([name, sha256]) => {
    const own = here.recipes[name] ?? null;
    if (sha256 === null) return `The receipt does not say of which code its recipe ${name} is.`;
    const its = sha256.slice(0, SHOWN);
    return sha256 === own
      ? `The code of recipe ${name} is the same here (${its}).`
      : `The receipt is of another version of the code of recipe ${name} (${its}; here ${own?.slice(0, SHOWN) ?? 'none'}): other bytes may follow.`;
  });
  if (wrote.release !== here.release)
    told.push('The code of the release, with its learner, is another here: other bytes may follow.');
  return told.join(' ');
}
