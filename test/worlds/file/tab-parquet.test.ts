/** The reader of Parquet as the page /try has it: without Brotli, which it refuses by name. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { build } from '../../../local/mesh/esbuild.ts';
import { withoutBrotli } from '../../../local/mesh/tab-pages.ts';
import { parquetRows } from '../../../worlds/file/parquet-rows.ts';

const compress = { GZIP: gzipSync, BROTLI: brotliCompressSync } as const;
const fileBy = (codec: keyof typeof compress) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [{ name: 'question', data: ['One?'.repeat(99), 'Two?'], type: 'STRING' }],
      codec,
      compressors: { [codec]: compress[codec] },
    }),
  );

test('a tab reads what gzip compressed, and tells what Brotli did', async () => {
  const { outputFiles } = await build({
    entryPoints: ['worlds/file/parquet-rows.ts'],
    outdir: 'unwritten',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    plugins: [withoutBrotli],
  });
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64');
  const tab = (await import(`data:text/javascript;base64,${code}`)) as { parquetRows: typeof parquetRows };
  const read = [{ question: 'One?'.repeat(99) }, { question: 'Two?' }];
  for (const [reader, codec] of [
    [tab, 'GZIP'],
    [{ parquetRows }, 'GZIP'],
    [{ parquetRows }, 'BROTLI'],
  ] as const)
    expect((await reader.parquetRows('q.parquet', fileBy(codec))).rows.map(({ value }) => value)).toEqual(
      read,
    );
  await expect(tab.parquetRows('q.parquet', fileBy('BROTLI'))).rejects.toThrow(
    /^The file q\.parquet cannot be read as Parquet: it is compressed by Brotli, which a tab does not read: write it with snappy, gzip or zstd\./,
  );
});
