/**
 * A Parquet file says of itself how long its parts are, and one that lies can send its reader round for ever; a small one can hold gigabytes. So a file is read once in a
 * thread, under limits of time and memory, before it is read here: a thread can be ended, a loop cannot.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { wrongInput } from '../../core/errors.ts';

/** A file of 64 MB takes some seconds. */
const LIMIT_MS = 30_000;
const MOST_MEMORY_MB = 2048;
const WATCH_MS = 50;

const SOURCE = `
const { parentPort, workerData: { bytes, reader, compressors } } = require('node:worker_threads');
const read = async () => {
  const { parquetReadObjects } = await import(reader);
  await parquetReadObjects({ file: bytes.buffer, ...(await import(compressors)) });
};
read().catch(() => undefined).then(() => parentPort.postMessage('done'));
`;

const locate = (name: string) => pathToFileURL(createRequire(import.meta.url).resolve(name)).href;

/**
 * Ends where reading the file ends, also with an error, which is left to the reader.
 *
 * @throws RollmeshError `tasks.parquet` where it takes longer than the limit, or more than 2 GB of memory.
 */
export async function refuseEndlessParquet(
  path: string,
  bytes: Uint8Array,
  { limitMs = LIMIT_MS, mostMemoryMb = MOST_MEMORY_MB } = {},
): Promise<void> {
  const workerData = {
    bytes: bytes.slice(),
    reader: locate('hyparquet'),
    compressors: locate('hyparquet-compressors'),
  };
  const resourceLimits = { maxOldGenerationSizeMb: mostMemoryMb };
  const thread = new Worker(SOURCE, { eval: true, execArgv: [], workerData, resourceLimits });
  let timer: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;
  const tooMuch = `takes more than ${mostMemoryMb} MB of memory`;
  const before = process.memoryUsage.rss();
  const why = await new Promise<string | null>((resolve) => {
    timer = setTimeout(resolve, limitMs, `does not end within ${limitMs / 1000} s`);
    // The thread's own limit does not count what is decompressed.
    watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > mostMemoryMb * 1024 ** 2) resolve(tooMuch);
    }, WATCH_MS);
    thread.once('message', () => resolve(null));
    thread.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch : null),
    );
  });
  clearTimeout(timer);
  clearInterval(watch);
  await thread.terminate();
  if (why)
    throw wrongInput('tasks.parquet', `Reading the file ${path} ${why}.`, {
      expected: 'a Parquet file whose parts are as long as it says',
      next: 'Write the file anew, or convert it to JSON lines; nothing was trained on it.',
    });
}
