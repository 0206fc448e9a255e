/** The images that rows show, as files beside them: PNGs that any program reads, and `--tasks` again. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { encode } from 'fast-png';
import { keptImage } from '../../core/images/image.ts';
import { imagesNamed, withPlaces } from '../../core/images/patches.ts';
import { keepRead } from '../../core/images/shown.ts';
import type { Message } from '../../core/renderer/message.ts';

/** What of a row may show images: the messages of a question, or the prompts of a rollout. */
interface Showing {
  readonly messages?: readonly Message[];
  readonly turns?: readonly { readonly prompt: string | null }[];
}

/** A row that lists the files of its images. Where its texts are read again they say `<image>` in place of each. */
function listed(row: Showing, fileOf: (sha256: string) => string): Showing {
  const texts =
    row.messages?.map(({ content }) => content) ?? row.turns?.map(({ prompt }) => prompt ?? '') ?? [];
  const shown = texts.flatMap((text) => imagesNamed(text).map(({ image }) => fileOf(image)));
  if (!shown.length) return row;
  if (!row.messages) return { ...row, images: [...new Set(shown)] } as Showing;
  const messages = row.messages.map((message) => ({ ...message, content: withPlaces(message.content) }));
  return { ...row, messages, images: shown } as Showing;
}

/**
 * Writes the images of rows into the folder `NAME.images` beside their file, each as the sha256 of its pixels says, and returns the rows with their
 * paths. `read` reads a pixmap. Throws `image.damaged`.
 */
export async function withImageFiles(
  rows: readonly object[],
  out: string,
  read: (sha256: string) => Promise<Uint8Array>,
): Promise<object[]> {
  const folder = `${basename(out, extname(out))}.images`;
  const shown = new Set<string>();
  const made = rows.map((row) =>
    listed(row, (sha256) => {
      shown.add(sha256);
      return `${folder}/${sha256}.png`;
    }),
  );
  const into = join(dirname(out), folder);
  if (shown.size) mkdirSync(into, { recursive: true });
  for (const sha256 of shown) {
    keepRead(sha256, await read(sha256));
    const { width, height, pixels } = keptImage(sha256);
    writeFileSync(
      join(into, `${sha256}.png`),
      encode({ width, height, data: pixels, channels: 3, depth: 8 }),
    );
  }
  return made;
}
