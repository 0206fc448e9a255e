/** Parts of a message's content that show an image, as OpenAI's protocols write them. */
import { isObject } from '../text/is-object.ts';

/** The address that an image part of a chat (`image_url`) or of a response (`input_image`) gives, null where it gives none; undefined for another part. */
export function imageAddress(part: unknown): unknown {
  if (!isObject(part) || (part.type !== 'image_url' && part.type !== 'input_image')) return undefined;
  const { image_url: image } = part;
  return (isObject(image) ? image.url : image) ?? null;
}
