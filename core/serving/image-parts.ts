/** The images of a request: parts of its messages that are data URLs are decoded, and texts that show them take their places. */
import { wrongInput } from '../errors.ts';
import { decodeImage, readDataUrl } from '../images/decode.ts';
import { imageAddress } from '../images/parts.ts';
import { imageText } from '../images/patches.ts';
import { isObject } from '../text/is-object.ts';

/** The most images of a request. */
const MOST_IMAGES = 16;

async function shownText(url: unknown): Promise<string> {
  const read = typeof url === 'string' ? readDataUrl(url) : null;
  if (read) return imageText(await decodeImage(read.bytes, read.kind));
  throw wrongInput('image.url', 'An image of the request is no data URL.', {
    expected: 'data:image/png;base64,… or data:image/jpeg;base64,…',
    next: 'Send the image itself: nothing is fetched from addresses.',
  });
}

/**
 * A body whose messages, or whose input, show their images as texts do. A body of another form stays as it is. Throws `image.url`, `image.count`, and as
 * `decodeImage` does.
 */
export async function withImageTexts(body: unknown): Promise<unknown> {
  if (!isObject(body)) return body;
  const field = Array.isArray(body.messages) ? 'messages' : 'input';
  const messages = body[field];
  if (!Array.isArray(messages)) return body;
  let images = 0;
  const shown: unknown[] = [];
  for (const message of messages) {
    const content = isObject(message) ? message.content : undefined;
    if (!Array.isArray(content) || !content.some((part) => imageAddress(part) !== undefined)) {
      shown.push(message);
      continue;
    }
    const parts: unknown[] = [];
    for (const part of content) {
      const url = imageAddress(part);
      if (url !== undefined && ++images > MOST_IMAGES)
        throw wrongInput('image.count', `The request shows more than ${MOST_IMAGES} images.`, {
          expected: `at most ${MOST_IMAGES}`,
        });
      parts.push(url === undefined ? part : { type: 'text', text: await shownText(url) });
    }
    shown.push({ ...(message as object), content: parts });
  }
  return { ...body, [field]: shown };
}
