/** A Parquet file whose lengths lie, which sends its reader round for ever, and one that is small and holds more than there is memory. */
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { refuseEndlessParquet } from '../../../cli/policy/parquet-probe.ts';

const file = (): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'question', data: ['1+1', '2'], type: 'STRING' },
        { name: 'answer', data: ['2', '2'], type: 'STRING' },
      ],
    }),
  );

test('a file that can be read is let through, and one that is no Parquet is left to its reader', async () => {
  await refuseEndlessParquet('good.parquet', file());
  await refuseEndlessParquet('bad.parquet', new TextEncoder().encode('PAR1 not'));
});

test('a file whose reading does not end is refused after a while', async () => {
  const bytes = file();
  // In the header of the first page: a length goes on into the next field.
  bytes[12]! ^= 0x80;
  await expect(refuseEndlessParquet('lies.parquet', bytes, { limitMs: 3_000 })).rejects.toMatchObject({
    code: 'tasks.parquet',
    what: 'Reading the file lies.parquet does not end within 3 s.',
  });
});

test('a small file that holds much more than it may is refused', async () => {
  const bytes = new Uint8Array(
    parquetWriteBuffer({
      columnData: [{ name: 'question', data: ['1', 'a'.repeat(300_000_000)], type: 'STRING' }],
      codec: 'GZIP',
      compressors: { GZIP: (text) => new Uint8Array(gzipSync(text, { level: 1 })) },
      rowGroupSize: 1,
    }),
  );
  expect(bytes.length).toBeLessThan(2_000_000);
  await expect(refuseEndlessParquet('bomb.parquet', bytes, { mostMemoryMb: 200 })).rejects.toMatchObject({
    what: 'Reading the file bomb.parquet takes more than 200 MB of memory.',
  });
});
