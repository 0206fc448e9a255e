/** Stores a large object in parts: a few at once, each tried again alone; what an earlier attempt stored is not sent again. */
import { RollmeshError } from '../../core/errors.ts';
import type { UploadState } from '../../core/schema/answers.ts';

/** The calls of the gateway for one object. */
export interface PartCalls {
  readonly begin: () => Promise<UploadState>;
  /** `part` counts from 1. */
  readonly put: (part: number, bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>;
  readonly join: () => Promise<unknown>;
}

/** Parts that are under way at once. */
const AT_ONCE = 3;
/** How often an upload is begun that the object store then no longer has. */
const ATTEMPTS = 3;

export async function storeInParts(calls: PartCalls, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await storeOnce(calls, bytes);
    } catch (error) {
      const ended = error instanceof RollmeshError && error.code === 'upload.unknown';
      if (!ended || attempt === ATTEMPTS) throw error;
    }
}

async function storeOnce({ begin, put, join }: PartCalls, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const { result, partBytes, parts } = await begin();
  if (result === 'same') return;
  const stored = new Set(parts);
  const missing = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, i) => i + 1).filter(
    (part) => !stored.has(part),
  );
  const sendNext = async () => {
    for (let part = missing.shift(); part !== undefined; part = missing.shift())
      await put(part, bytes.subarray((part - 1) * partBytes, part * partBytes)).catch((error: unknown) => {
        // The others end with the parts that they are sending.
        missing.length = 0;
        throw error;
      });
  };
  // All have ended before the upload may be begun anew.
  const sent = await Promise.allSettled(Array.from({ length: AT_ONCE }, sendNext));
  for (const end of sent) if (end.status === 'rejected') throw end.reason;
  await join();
}
