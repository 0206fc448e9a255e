/** A policy's tokenizer with the texts of images: their patches take a position each. A policy that does not see refuses them. */
import { wrongInput } from '../errors.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { imagesIn, isPatch, piecesOf, textOfShown } from './patches.ts';

/** `sees`: the policy has a projection of patches. Throws `policy.blind` for the text of an image where it has none. */
export function withImages(tokenizer: Tokenizer, sees: boolean): Tokenizer {
  const encode = (text: string): number[] => {
    const [only, ...more] = piecesOf(text);
    if (!more.length) return tokenizer.encode(only as string);
    if (!sees)
      throw wrongInput('policy.blind', 'A prompt shows an image, and the policy does not see.', {
        expected: 'a policy whose config.json has `vision`',
        next: 'Choose one that sees, such as the start policy canvas.',
      });
    return [only!, ...more].flatMap((piece) => (typeof piece === 'string' ? tokenizer.encode(piece) : piece));
  };
  return {
    ...tokenizer,
    encode,
    encodeWhole: (text) => (piecesOf(text).length > 1 ? encode(text) : tokenizer.encodeWhole(text)),
    decode: (ids) => {
      if (!ids.some(isPatch)) return tokenizer.decode(ids);
      let [text, at] = ['', 0];
      for (const shown of imagesIn(ids)) {
        text += tokenizer.decode(ids.slice(at, shown.at)) + textOfShown(shown);
        at = shown.at + shown.rows * shown.columns;
      }
      return text + tokenizer.decode(ids.slice(at));
    },
  };
}
