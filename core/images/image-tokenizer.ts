/** A policy's tokenizer with the texts of images: their patches take a position each. A policy that does not see refuses images. */
import { wrongInput } from '../errors.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { imagesIn, isPatch, piecesOf, showsKept, textOfShown } from './patches.ts';

/**
 * To a policy that does not see, what only looks like the text of an image is a text as any other: a user may have written it. Throws `policy.blind` for
 * an image that this process has.
 */
function withoutImages(tokenizer: Tokenizer): Tokenizer {
  const read = (text: string): string => {
    if (!showsKept(text)) return text;
    throw wrongInput('policy.blind', 'A prompt shows an image, and the policy does not see.', {
      expected: 'a policy whose config.json has `vision`',
      next: 'Choose one that sees, such as the start policy canvas.',
    });
  };
  return {
    ...tokenizer,
    encode: (text) => tokenizer.encode(read(text)),
    encodeWhole: (text) => tokenizer.encodeWhole(read(text)),
  };
}

/** `sees`: the policy has a projection of patches. `encode` throws as `piecesOf` where it has, and as `withoutImages` where not. */
export function withImages(tokenizer: Tokenizer, sees: boolean): Tokenizer {
  if (!sees) return withoutImages(tokenizer);
  const encode = (text: string): number[] => {
    const [only, ...more] = piecesOf(text);
    if (!more.length) return tokenizer.encode(only as string);
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
