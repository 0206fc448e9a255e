/**
 * Uploads of large objects in parts, so that one that was torn goes on where it stopped. The parts are those of an R2 multipart upload. R2 has no
 * SHA-256 of what such an upload makes, and writes it over whatever has its key. So it is made under a key of its own, and stored from there as every
 * object is (`putVersionFile`): R2 then computes the hash. Which parts R2 has it does not tell; that is noted in empty objects beside.
 */
import type { R2Bucket, R2Object, ReadableStream } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { MAX_FILE_BYTES, PART_BYTES } from '../../core/schema/policy.ts';
import { committedAlready, hashOf, headObject, putVersionFile, versionKey } from './version-objects.ts';

/** What is uploaded: a file, or one shard of a file, of a version, by its hash. Whoever uploads the same goes on with the same upload. */
export interface Uploaded {
  readonly ref: PolicyRef;
  readonly object: string;
  readonly sha256: string;
}

/** An upload that was begun: R2's name for it, the length of the object, and R2's names for the parts that are stored, by their numbers. */
interface Upload {
  readonly id: string;
  readonly bytes: number;
  readonly begunAt: Date;
  readonly parts: ReadonlyMap<number, string>;
}

/** R2 ends an upload after seven days. One that is nearly as old is begun anew. */
const OLDEST_MS = 6 * 24 * 3600 * 1000;

const MOST_PARTS = Math.ceil(MAX_FILE_BYTES / PART_BYTES);

/** Where the parts are put together. */
const placeOf = ({ ref, object, sha256 }: Uploaded) => `${versionKey(ref, object)}.${sha256}.parts`;
/** The object whose metadata say that an upload was begun. */
const noteOf = (place: string) => `${place}/upload`;
/** The object whose metadata say that a part is stored. */
const partOf = (place: string, part: number) => `${place}/${part}`;

/** The lengths of an object's parts, in their order. */
const lengthsOf = (bytes: number): number[] =>
  Array.from({ length: Math.ceil(bytes / PART_BYTES) }, (_, i) =>
    Math.min(PART_BYTES, bytes - i * PART_BYTES),
  );

/**
 * Begins the upload of an object of so many bytes, or finds the one that was begun.
 * @returns the numbers of the parts that are stored; null if the object itself is
 */
export async function beginUpload(
  bucket: R2Bucket,
  uploaded: Uploaded,
  bytes: number,
  settled: boolean,
  now = Date.now(),
): Promise<readonly number[] | null> {
  if (await isStored(bucket, uploaded)) return null;
  if (settled) throw committedAlready(uploaded.ref);
  const place = placeOf(uploaded);
  const begun = await readUpload(bucket, place);
  // Whoever named this hash with another length was wrong.
  if (begun?.bytes === bytes && now - begun.begunAt.getTime() < OLDEST_MS) return [...begun.parts.keys()];
  if (begun) await forget(bucket, place);
  const upload = await bucket.createMultipartUpload(place);
  const noted = await bucket.put(noteOf(place), '', {
    customMetadata: { id: upload.uploadId, bytes: String(bytes) },
    onlyIf: { etagDoesNotMatch: '*' },
  });
  // Somebody else may have begun it at the same moment.
  if (!noted) await upload.abort();
  return [];
}

/**
 * Stores one part, from 1.
 * @returns `stored`, or `same` if that part was stored already
 * @throws RollmeshError `upload.unknown` where no such upload is under way, `upload.part` for a number or a length that it has not
 */
export async function putPart(
  bucket: R2Bucket,
  uploaded: Uploaded,
  part: number,
  body: ReadableStream,
  length: number,
): Promise<'stored' | 'same'> {
  const place = placeOf(uploaded);
  const [note, before] = await Promise.all([bucket.head(noteOf(place)), bucket.head(partOf(place, part))]);
  const begun = note && readNote(note);
  const refusal = begun
    ? refusalOf(uploaded.object, begun.bytes, part, length)
    : unknownUpload(uploaded.object);
  // A call of an upload that has ended may have noted its part late.
  if (before?.customMetadata?.id === begun?.id || refusal) {
    // Read and dropped: where a body is left unread, the connection is cut, and a sender may never see the answer.
    await body.pipeTo(new WritableStream());
    if (refusal) throw refusal;
    return 'same';
  }
  const upload = bucket.resumeMultipartUpload(place, begun!.id);
  const { etag } = await upload.uploadPart(part, body).catch(forgetLost(bucket, uploaded, begun!.id));
  await bucket.put(partOf(place, part), '', { customMetadata: { id: begun!.id, etag } });
  return 'stored';
}

function refusalOf(object: string, bytes: number, part: number, length: number): RollmeshError | undefined {
  const lengths = lengthsOf(bytes);
  const expected = lengths[part - 1];
  if (expected === undefined)
    return wrongPart(`${object} has no part ${part}.`, `a number from 1 to ${lengths.length}`);
  if (expected === length) return undefined;
  return wrongPart(`Part ${part} of ${object} came with ${length} bytes.`, `${expected} bytes`);
}

/**
 * Puts the parts together and stores the object.
 * @returns `stored`, or `same` if the object was stored already
 * @throws RollmeshError `upload.unknown` where no such upload is under way, `upload.incomplete` where a part is missing, `version.hash` where the parts
 * make other bytes; in this case all of them are removed
 */
export async function joinParts(
  bucket: R2Bucket,
  uploaded: Uploaded,
  settled: boolean,
): Promise<'stored' | 'same'> {
  try {
    return await join(bucket, uploaded, settled);
  } catch (error) {
    // Somebody else, or an earlier call, may have stored it and removed the parts.
    const gone = error instanceof RollmeshError && error.code === UNKNOWN;
    if (gone && (await isStored(bucket, uploaded))) return 'same';
    throw error;
  }
}

async function join(bucket: R2Bucket, uploaded: Uploaded, settled: boolean): Promise<'stored' | 'same'> {
  const { ref, object, sha256 } = uploaded;
  const place = placeOf(uploaded);
  await complete(bucket, uploaded);
  const made = await bucket.get(place);
  if (!made) throw unknownUpload(object);
  const result = await putVersionFile(bucket, ref, object, made.body, { sha256, settled }).catch(
    async (error: unknown) => {
      // These bytes will never be the object's.
      if (error instanceof RollmeshError && error.kind !== 'retry') await remove(bucket, place);
      throw error;
    },
  );
  // The upload is completed: there is nothing of it to abort.
  await remove(bucket, place);
  return result;
}

async function complete(bucket: R2Bucket, uploaded: Uploaded, again = true): Promise<void> {
  const place = placeOf(uploaded);
  const begun = await readUpload(bucket, place);
  if (!begun) throw unknownUpload(uploaded.object);
  const numbers = lengthsOf(begun.bytes).map((_, i) => i + 1);
  const missing = numbers.filter((part) => !begun.parts.has(part));
  if (missing.length)
    throw new RollmeshError(
      'give-up',
      'upload.incomplete',
      `Of the ${numbers.length} parts of ${uploaded.object}, ${missing.join(', ')} are not stored.`,
      { next: 'Send them, then join the parts again.' },
    );
  await bucket
    .resumeMultipartUpload(place, begun.id)
    .complete(numbers.map((partNumber) => ({ partNumber, etag: begun.parts.get(partNumber)! })))
    .catch(async (error: unknown) => {
      // Somebody else may have completed it at the same moment, or an earlier call that was cut off.
      if (await bucket.head(place)) return;
      // Or they have stored a part again, and not noted it yet when the notes were read.
      if (again && OTHER_PARTS.test(String(error))) await complete(bucket, uploaded, false);
      else await forgetLost(bucket, uploaded, begun.id)(error);
    });
}

/** Ends the uploads that were begun, whose notes are among these keys, so that R2 keeps none of their parts. */
export async function abortUploads(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  for (const key of keys)
    if (key.endsWith(noteOf('.parts'))) await abort(bucket, key.slice(0, -noteOf('').length));
}

const isStored = async (bucket: R2Bucket, { ref, object, sha256 }: Uploaded) =>
  hashOf(await headObject(bucket, versionKey(ref, object), sha256)) === sha256;

function readNote({ customMetadata, uploaded }: R2Object): Omit<Upload, 'parts'> | null {
  const { id, bytes } = customMetadata ?? {};
  return id === undefined || bytes === undefined ? null : { id, bytes: Number(bytes), begunAt: uploaded };
}

async function readUpload(bucket: R2Bucket, place: string): Promise<Upload | null> {
  let note: Omit<Upload, 'parts'> | null = null;
  const noted: { readonly part: number; readonly id?: string; readonly etag?: string }[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await bucket.list({
      prefix: `${place}/`,
      include: ['customMetadata'],
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const object of page.objects)
      if (object.key === noteOf(place)) note = readNote(object);
      else noted.push({ part: Number(object.key.slice(place.length + 1)), ...object.customMetadata });
    more = page.truncated;
    cursor = page.truncated ? page.cursor : undefined;
  }
  if (!note) return null;
  const own = noted.filter(({ id }) => id === note?.id);
  return { ...note, parts: new Map(own.map(({ part, etag = '' }) => [part, etag])) };
}

async function abort(bucket: R2Bucket, place: string): Promise<void> {
  const object = await bucket.head(noteOf(place));
  const note = object && readNote(object);
  if (note)
    await bucket
      .resumeMultipartUpload(place, note.id)
      .abort()
      .catch((error: unknown) => {
        // R2 may have ended it already. While it fails for another reason, the note has the only copy of its name.
        if (!LOST.test(String(error))) throw error;
      });
}

/** Ends an upload, and removes all that is stored of it. */
async function forget(bucket: R2Bucket, place: string): Promise<void> {
  await abort(bucket, place);
  await remove(bucket, place);
}

/** Removes what the parts made, and the notes. */
async function remove(bucket: R2Bucket, place: string): Promise<void> {
  const parts = Array.from({ length: MOST_PARTS }, (_, i) => partOf(place, i + 1));
  await bucket.delete([place, noteOf(place), ...parts]);
}

/** What R2 says where an upload has other parts than were noted. */
const OTHER_PARTS = /\(10025\)/;
/** Or where it has ended, or its parts make no object. */
const LOST = /\((?:10011|10024|10025|10048)\)/;

/**
 * Removes what was noted of an upload that R2 no longer has. Somebody else may have completed it meanwhile, or have found the same and begun anew:
 * theirs is left alone.
 */
const forgetLost =
  (bucket: R2Bucket, uploaded: Uploaded, id: string) =>
  async (error: unknown): Promise<never> => {
    if (!LOST.test(String(error))) throw error;
    const place = placeOf(uploaded);
    const [made, note] = await Promise.all([bucket.head(place), bucket.head(noteOf(place))]);
    if (!made && note?.customMetadata?.id === id) await forget(bucket, place);
    throw unknownUpload(uploaded.object, error);
  };

const UNKNOWN = 'upload.unknown';
const unknownUpload = (object: string, cause?: unknown) =>
  new RollmeshError('missing-version', UNKNOWN, `No upload of ${object} with this hash is under way.`, {
    next: 'Begin it, or begin it anew: one that is not completed within a week is ended.',
    cause,
  });

const wrongPart = (what: string, expected: string) =>
  new RollmeshError('wrong-input', 'upload.part', what, { expected, next: 'Send the parts of the object.' });
