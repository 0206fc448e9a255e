/** Which parts of an object are sent, and when an upload is begun again. The gateway is a few lines here; test/mesh/uploads has the real one. */
import { expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { type PartCalls, storeInParts } from '../../workers/api/store-in-parts.ts';

const BYTES = Uint8Array.from({ length: 33 }, (_, i) => i);
const PART = 8;
const unknown = () => new RollmeshError('missing-version', 'upload.unknown', 'No upload is under way.');

/** A store that has some parts. `refuse` says what a call of `put` throws, by its number from 1. */
function fakeStore(stored: readonly number[], refuse: (call: number) => Error | undefined = () => undefined) {
  const seen = { begun: 0, puts: [] as number[], atOnce: 0, joined: 0, bytes: new Map<number, number[]>() };
  let underWay = 0;
  const calls: PartCalls = {
    begin: async () => {
      seen.begun++;
      return { file: 'f', result: 'open', partBytes: PART, parts: [...stored] };
    },
    put: async (part, bytes) => {
      seen.puts.push(part);
      const refusal = refuse(seen.puts.length);
      seen.atOnce = Math.max(seen.atOnce, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      if (refusal) throw refusal;
      seen.bytes.set(part, [...bytes]);
    },
    join: async () => {
      seen.joined++;
    },
  };
  return { seen, calls };
}

test('sends the parts that are not stored, three at once, and joins them', async () => {
  const { seen, calls } = fakeStore([2]);
  await storeInParts(calls, BYTES);
  expect([seen.begun, seen.puts, seen.atOnce, seen.joined]).toEqual([1, [1, 3, 4, 5], 3, 1]);
  expect(seen.bytes.get(3)).toEqual([16, 17, 18, 19, 20, 21, 22, 23]);
  expect(seen.bytes.get(5)).toEqual([32]);
});

test('sends nothing of an object that is stored', async () => {
  const { seen, calls } = fakeStore([]);
  await storeInParts({ ...calls, begin: async () => ({ ...(await calls.begin()), result: 'same' }) }, BYTES);
  expect([seen.puts, seen.joined]).toEqual([[], 0]);
});

test('begins again where the upload has ended, three times at most, and passes on any other refusal', async () => {
  const once = fakeStore([1, 2, 3], (call) => (call === 1 ? unknown() : undefined));
  await storeInParts(once.calls, BYTES);
  expect([once.seen.begun, once.seen.joined]).toEqual([2, 1]);

  const always = fakeStore([1, 2, 3, 4], unknown);
  await expect(storeInParts(always.calls, BYTES)).rejects.toThrow('No upload is under way.');
  expect([always.seen.begun, always.seen.joined]).toEqual([3, 0]);

  const refused = fakeStore([1, 2, 3, 4], () => new RollmeshError('wrong-input', 'upload.part', 'No.'));
  await expect(storeInParts(refused.calls, BYTES)).rejects.toThrow('No.');
  expect([refused.seen.begun, refused.seen.joined]).toEqual([1, 0]);
});

test('sends no further part once one is refused', async () => {
  const { seen, calls } = fakeStore([], (call) =>
    call === 1 ? new RollmeshError('wrong-input', 'upload.part', 'No.') : undefined,
  );
  await expect(storeInParts(calls, BYTES)).rejects.toThrow('No.');
  expect(seen.puts).toEqual([1, 2, 3]);
});

test('begins again when all parts that were under way have ended', async () => {
  const { seen, calls } = fakeStore([]);
  let underWay = 0;
  const atBeginnings: number[] = [];
  const put: PartCalls['put'] = async (part, bytes) => {
    underWay++;
    await new Promise((resolve) => setTimeout(resolve, 5 * part));
    underWay--;
    if (atBeginnings.length === 1) throw unknown();
    await calls.put(part, bytes);
  };
  const begin: PartCalls['begin'] = () => {
    atBeginnings.push(underWay);
    return calls.begin();
  };
  await storeInParts({ ...calls, begin, put }, BYTES);
  expect(atBeginnings).toEqual([0, 0]);
  expect(seen.joined).toBe(1);
});
