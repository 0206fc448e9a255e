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
const { parentPort, workerData: { bytes, reader, codecs, mostBytes } } = require('node:worker_threads');
let held = 0;
const hold = (length) => {
  held += Math.max(0, length);
  if (held <= mostBytes) return;
  parentPort.postMessage('too much');
  throw new Error('too much');
};
const counted = (decompress) => (input, length) => {
  hold(length);
  const output = decompress(input, length);
  hold(output.length - length);
  return output;
};
const read = async () => {
  const { parquetReadObjects } = await import(reader);
  const { compressors: known } = await import(codecs);
  const compressors = Object.fromEntries(Object.entries(known).map(([name, decompress]) => [name, counted(decompress)]));
  await parquetReadObjects({ file: bytes.buffer, compressors });
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
    codecs: locate('hyparquet-compressors'),
    mostBytes: mostMemoryMb * 1024 ** 2,
  };
  const resourceLimits = { maxOldGenerationSizeMb: mostMemoryMb };
  const thread = new Worker(SOURCE, { eval: true, execArgv: [], workerData, resourceLimits });
  let timer: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;
  const tooMuch = `takes more than ${mostMemoryMb} MB of memory`;
  const before = process.memoryUsage.rss();
  const why = await new Promise<string | null>((resolve) => {
    timer = setTimeout(resolve, limitMs, `does not end within ${limitMs / 1000} s`);
    // The thread counts what it decompresses by the lengths that the file states. Its own limit of memory counts none of that, so the process is
    // watched as well: a length may be a lie, and a page may hold more once it is read.
    watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > mostMemoryMb * 1024 ** 2) resolve(tooMuch);
    }, WATCH_MS);
    thread.once('message', (said) => resolve(said === 'done' ? null : tooMuch));
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
