/**
 * Images of a row: in the fields `image` and `images`, and as parts of messages. Each is a file in the folder of the task file, a data URL, or the bytes
 * of a column. They are decoded as the row is read, and the row's texts show them from then on, so that what reads rows knows texts alone.
 */
import { RollmeshError } from '../../core/errors.ts';
import { decodeImage, readDataUrl } from '../../core/images/decode.ts';
import { imageAddress } from '../../core/images/parts.ts';
import { imagesNamed, imageText, IMAGE_PLACE as PLACE } from '../../core/images/patches.ts';
import { isObject } from '../../core/text/is-object.ts';
import { unpacked } from './messages.ts';
import { fieldAt, type Row } from './row.ts';
import type { FileTask } from './task.ts';

/** Reads a file by its path beside the task file. Throws RollmeshError where there is none. */
export type ReadBeside = (path: string) => Promise<Uint8Array>;

/** Where prompts and images stand in a row. */
export interface ImageFields {
  /** Fields of prompts that are texts, brackets or not. */
  readonly texts: readonly string[];
  /** Fields of prompts that may be conversations, too, in the order in which they are looked for; before `texts`. */
  readonly prompts: readonly string[];
  readonly image: string;
  readonly images: string;
}

/** What is wrong with the images of a row. */
export class ImageFault extends Error {}

/** How the text of an image begins, which no text of a row with images may hold. */
const NAMED = '<image:';

/** The kinds that endings say. */
const KINDS: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg' };

/** The bytes of an image, and the kind that its name or its address says. */
async function bytesOf(
  given: unknown,
  readBeside: ReadBeside | undefined,
): Promise<[bytes: Uint8Array, says?: string | undefined]> {
  for (const bytes of [given, isObject(given) ? given.bytes : undefined])
    if (bytes instanceof Uint8Array) return [bytes];
  const named = isObject(given) ? (given.url ?? given.path) : given;
  if (typeof named !== 'string' || named === '')
    throw new ImageFault('an image is neither the path of a file nor a data URL');
  const url = readDataUrl(named);
  if (url) return [url.bytes, url.kind];
  if (/^[a-z][a-z0-9+.-]+:/i.test(named))
    throw new ImageFault('it is at an address; expected a file beside the task file, or a data URL');
  if (!readBeside) throw new ImageFault('it is a file, and none is read here; expected a data URL');
  const ending = /\.([a-z]+)$/i.exec(named)?.[1]?.toLowerCase() ?? '';
  return [await readBeside(named), KINDS[ending]];
}

const calledOf = (given: unknown): string =>
  typeof given === 'string' && !given.startsWith('data:')
    ? `its image ${given.slice(0, 80)}: `
    : 'its image: ';

/** The text by which a prompt shows an image of a row. Throws ImageFault. */
async function shownText(given: unknown, readBeside: ReadBeside | undefined): Promise<string> {
  try {
    return imageText(await decodeImage(...(await bytesOf(given, readBeside))));
  } catch (error) {
    if (error instanceof ImageFault) throw new ImageFault(calledOf(given) + error.message);
    if (!(error instanceof RollmeshError)) throw error;
    const { what, expected } = error;
    const wanted = expected ? `; expected ${expected}` : '';
    throw new ImageFault(`${calledOf(given)}${what.replace(/\.$/, '')}${wanted}`);
  }
}

/** What a part of a content shows, as OpenAI and as files of Hugging Face write it; null for a part that shows an image of the row. */
function partShows(part: unknown): unknown {
  if (!isObject(part) || part.type !== 'image') return imageAddress(part);
  return part.image ?? part.url ?? part.path ?? null;
}

type Fields = Record<string, unknown>;

/** A message with each of its texts, and each of its parts, changed. */
async function changed(
  message: unknown,
  change: (text: string) => string,
  part: (part: unknown) => Promise<unknown> = (one) => Promise.resolve(one),
): Promise<unknown> {
  if (!isObject(message)) return message;
  const field = message.content === undefined || message.content === null ? 'value' : 'content';
  const content = message[field];
  if (typeof content === 'string') return { ...message, [field]: change(content) };
  if (!Array.isArray(content)) return message;
  const parts: unknown[] = [];
  for (const one of content) {
    const made = await part(one);
    if (typeof made === 'string') parts.push(change(made));
    else if (isObject(made) && typeof made.text === 'string')
      parts.push({ ...made, text: change(made.text) });
    else parts.push(made);
  }
  return { ...message, [field]: parts };
}

function showsImage(message: unknown): boolean {
  if (!isObject(message)) return false;
  const content = message.content ?? message.value;
  return Array.isArray(content) && content.some((part) => partShows(part) !== undefined);
}

const roleOf = (message: unknown): string =>
  isObject(message) ? String(message.role ?? message.from).toLowerCase() : '';
const isUsers = (message: unknown): boolean => ['user', 'human'].includes(roleOf(message));
const isAssistants = (message: unknown): boolean =>
  ['assistant', 'gpt', 'chatgpt', 'model'].includes(roleOf(message));

/** Messages whose texts show the images of the row: in the places for them, or before the user's last message. Throws ImageFault. */
async function placed(messages: readonly unknown[], shown: readonly string[]): Promise<unknown[]> {
  let places = 0;
  const count = (text: string) => {
    places += text.split(PLACE).length - 1;
    return text;
  };
  for (const message of messages) await changed(message, count);
  if (places > 0 && places !== shown.length)
    throw new ImageFault(
      `its texts have ${places} places ${PLACE} and it has ${shown.length} images; expected one for each, or none`,
    );
  const left = [...shown];
  const fill = (text: string) => text.replaceAll(PLACE, () => left.shift()!);
  const last = messages.findLastIndex(isUsers);
  const before = (text: string) => left.splice(0).join('') + text;
  const made: unknown[] = [];
  // One after the other: each takes the images of its places from those that are left.
  for (const [i, message] of messages.entries())
    made.push(await changed(message, places > 0 ? fill : i === last ? before : (text) => text));
  return made;
}

/** A field of a row, with the bytes that it holds. */
const heldAt = ({ value, withBytes = {} }: Row, field: string): unknown =>
  fieldAt(withBytes, field) ?? fieldAt(value, field) ?? undefined;

/** The images of a row's own fields. Throws ImageFault. */
function columnsOf(row: Row, { image, images }: ImageFields): unknown[] {
  const [one, several = []] = [heldAt(row, image), heldAt(row, images)];
  if (!Array.isArray(several)) throw new ImageFault(`its ${images} are no list`);
  return [...(one === undefined ? [] : [one]), ...(several as unknown[])];
}

/** The field of the prompt that a row has, and the prompt: messages, or a text; undefined where it has none. */
function promptOf(
  row: Row,
  { texts, prompts }: ImageFields,
): { readonly field: string; readonly said: unknown[] | string } | undefined {
  for (const field of [...prompts, ...texts]) {
    const [held, cell] = [heldAt(row, field), row.texts?.[field]];
    if (held === undefined) continue;
    // A cell may look like a list and be a text.
    const isText = cell !== undefined && (texts.includes(field) || !/^\s*\[\s*\{/.test(cell));
    const said = isText ? cell : texts.includes(field) ? held : unpacked(held);
    if (typeof said === 'string' || (Array.isArray(said) && !texts.includes(field))) return { field, said };
  }
  return undefined;
}

/**
 * A row whose texts show its images: in the places `<image>`, where there is one for each, and otherwise before the question or the user's last message;
 * and how many `images` they are. A row without images stays as it is. Throws ImageFault.
 */
export async function withImageTexts(
  row: Row,
  fields: ImageFields,
  readBeside?: ReadBeside,
): Promise<{ readonly row: Row; readonly images: number }> {
  const given = columnsOf(row, fields);
  const prompt = promptOf(row, fields);
  if (!prompt) return { row, images: given.length };
  const { field } = prompt;
  const isText = typeof prompt.said === 'string';
  const said = isText ? [{ role: 'user', content: prompt.said }] : prompt.said;
  if (given.length === 0 && !said.some(showsImage)) return { row, images: 0 };
  let images = 0;
  const show = (image: unknown) => {
    images++;
    return shownText(image, readBeside);
  };
  const own: unknown[] = [];
  for (const message of said)
    own.push(
      await changed(
        message,
        (text) => {
          if (!text.includes(NAMED)) return text;
          throw new ImageFault(`its text holds ${NAMED}, by which rollmesh names images; write it otherwise`);
        },
        async (part) => (partShows(part) === null ? { type: 'text', text: PLACE } : part),
      ),
    );
  const shown: string[] = [];
  for (const image of given) shown.push(await show(image));
  const messages: unknown[] = [];
  for (const message of await placed(own, shown))
    messages.push(
      await changed(
        message,
        (text) => text,
        async (part) => {
          const image = partShows(part);
          if (image === undefined) return part;
          if (isAssistants(message)) throw new ImageFault('an answer of it shows an image');
          return { type: 'text', text: await show(image) };
        },
      ),
    );
  const { [field]: _, ...texts } = row.texts ?? {};
  const asked = isText ? (messages[0] as Fields).content : messages;
  return { row: { ...row, value: { ...row.value, [field]: asked }, texts }, images };
}

/** Throws ImageFault where what is asked shows fewer images than the row has, or more. */
export function expectShown({ messages }: Pick<FileTask, 'messages'>, images: number): void {
  const shown = messages.reduce((sum, { content }) => sum + imagesNamed(content).length, 0);
  if (shown > images)
    throw new ImageFault(`its text holds ${NAMED}…>, by which rollmesh names images; write it otherwise`);
  if (shown === images) return;
  throw new ImageFault(
    `it has ${images} ${images === 1 ? 'image' : 'images'}, of which what is asked shows ${shown}; expected a question, or a message of the user, to show them`,
  );
}
