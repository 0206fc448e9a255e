/** Brings the images that ids show: into the process from where they are stored, and into a store from the process that drew them. */
import { RollmeshError } from '../errors.ts';
import type { TokenIds } from '../policy/policy.ts';
import { isKept, keepImage, keptImage, pixmap, readPixmap } from './image.ts';
import { imagesIn, isPatch } from './patches.ts';

/** Where images lie, each as a pixmap under its sha256. */
export interface ImageStore {
  /** Reads an object; who reads it here checks what it is. */
  readonly read: (sha256: string) => Promise<Uint8Array>;
  /** Stores an image that was drawn in this process; absent = nobody else has to see it. */
  readonly put?: ((sha256: string, bytes: Uint8Array<ArrayBuffer>) => Promise<void>) | undefined;
}

/** Images that are read or stored at once. */
const AT_ONCE = 8;

/** The hashes of the images that lists of ids show, each once. Throws as `imagesIn`. */
export function imagesShown(lists: Iterable<TokenIds>): string[] {
  const shown = new Set<string>();
  for (const ids of lists) if (ids.some(isPatch)) for (const { image } of imagesIn(ids)) shown.add(image);
  return [...shown];
}

/** Reads a pixmap and keeps its image. Throws `image.damaged` where the bytes are those of another image, or of none. */
export function keepRead(sha256: string, bytes: Uint8Array): void {
  const image = readPixmap(bytes);
  if (image && keepImage(image) === sha256) return;
  throw new RollmeshError('give-up', 'image.damaged', `The object of the image ${sha256} has other bytes.`, {
    expected: 'the pixmap of that sha256',
    next: 'Remove it, then start the run again: it is stored anew.',
  });
}

/** Has the process keep the images of these ids, and the store those that the process drew. Throws as `imagesIn` and `keepRead`, and what the store throws. */
export async function bringImages(lists: Iterable<TokenIds>, { read, put }: ImageStore): Promise<void> {
  const left = imagesShown(lists);
  // What is kept is used first, so that nothing that is read meanwhile makes it be forgotten.
  for (const sha256 of left) if (isKept(sha256)) keptImage(sha256);
  const next = async () => {
    for (let sha256 = left.pop(); sha256 !== undefined; sha256 = left.pop())
      if (!isKept(sha256)) keepRead(sha256, await read(sha256));
      else await put?.(sha256, pixmap(keptImage(sha256)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
