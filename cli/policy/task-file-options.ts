/** The options that say how a file of tasks is read, and the reading, for every command with `--tasks FILE`. */
import { open, readFile } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { EXTRACTIONS, type Extraction, parseExtractions } from '../../core/checkers/extract.ts';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import { MOST_FILE_BYTES, tooManyBytes } from '../../core/images/decode.ts';
import { keepImagesUpTo, MOST_IMAGE_BYTES } from '../../core/images/image.ts';
import { LARGEST_TEXT, sizeOfRegularFile } from '../../model/regular-file.ts';
import type { ReadBeside } from '../../worlds/file/images.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import type { TaskFileSettings } from '../../worlds/file/read-tasks.ts';
import { type FileBytes, isJsonLines, joined } from '../../worlds/file/rows.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { TASK_FIELDS } from '../../worlds/file/task.ts';
import { errnoOf, unreadable } from './files.ts';
import { withColumns } from './hub-dataset.ts';
import { localTasks } from './local-tasks.ts';
import { refuseEndlessParquet } from './parquet-probe.ts';

/** Every checker that a file of tasks may name. */
export const KNOWN = [...CHECKERS, listProgram];

export interface TaskFileOptions {
  readonly checker: string;
  readonly fields?: TaskFileSettings['fields'];
  readonly system?: string;
  readonly reference?: readonly Extraction[];
  readonly difficulty?: string;
  /** Leave out lines whose reference the checker cannot read. */
  readonly skipUnreadable?: boolean;
}

/** A line that was left out, and why. */
export interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Reasons that a report gives in full; the other lines are named alone. */
const EXPLAINED = 3;

/** How many lines were left out, and which; empty where none was. */
export function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return [];
  const explained = leftOut.slice(0, EXPLAINED).map(({ file, line, what }) => `${file}:${line} (${what})`);
  const others = leftOut.slice(EXPLAINED).map(({ file, line }) => `${file}:${line}`);
  const count = leftOut.length === 1 ? '1 line was' : `${leftOut.length} lines were`;
  return [
    `${count} left out because the checker cannot read the reference: ${[...explained, ...others].join(', ')}.`,
  ];
}

const isField = (name: string): name is (typeof TASK_FIELDS)[number] =>
  TASK_FIELDS.some((field) => field === name);

/** Parses "question=problem,answer=solution"; else throws commander's usage error. */
function fieldNames(text: string): NonNullable<TaskFileSettings['fields']> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [field = '', name = ''] = pair.split('=').map((part) => part.trim());
      if (isField(field) && name) return [field, name];
      throw new InvalidArgumentError(`Expected FIELD=NAME with a field among ${TASK_FIELDS.join(', ')}.`);
    }),
  );
}

export const addTaskFileOptions = (command: Command): Command =>
  command
    .option(
      '--checker <name>',
      `who decides what is right: ${KNOWN.map(({ name }) => name).join(', ')}`,
      'auto',
    )
    .option(
      '--fields <pairs>',
      'names of the file’s own fields, as in question=problem,answer=solution or answer=answer.value',
      fieldNames,
    )
    .option('--system <text>', 'system message before every question')
    .option(
      '--reference <where>',
      `where the reference stands in the file’s answer, as in hashes for GSM8K (${EXTRACTIONS.join(', ')})`,
      parseExtractions,
    )
    .option('--difficulty <field>', 'field of the metadata that says how hard a task is')
    .option(
      '--skip-unreadable',
      'leave out lines whose reference the checker cannot read, and say which (default: refuse the file)',
    );

/** `leftOut` gets the lines that are left out with `skipUnreadable`. */
export const taskFileSettings = (options: TaskFileOptions, leftOut: LeftOut[] = []): TaskFileSettings => ({
  checker: findChecker(options.checker, KNOWN),
  ...(options.fields ? { fields: options.fields } : {}),
  ...(options.system === undefined ? {} : { system: options.system }),
  ...(options.reference ? { reference: options.reference } : {}),
  ...(options.difficulty === undefined ? {} : { difficulty: options.difficulty }),
  ...(options.skipUnreadable ? { leaveOut: (fault: LeftOut) => leftOut.push(fault) } : {}),
});

/** Reads all tasks of the files, or data sets of the Hub, one after the other. Throws as `expectRoom` and `fetchDataset`, or the errors of the lines. */
export async function readTaskFiles(
  names: readonly string[],
  options: TaskFileOptions,
  leftOut?: LeftOut[],
): Promise<PlacedTask[]> {
  const { readTasks } = await import('../../worlds/file/read-tasks.ts');
  const paths = await Promise.all(names.map(localTasks));
  await expectRoom(paths);
  const files: PlacedTask[][] = [];
  for (const [i, path] of paths.entries())
    files.push(
      await readTasks(basename(path), await taskFileBytes(path), {
        ...taskFileSettings(withColumns(options, names[i]!), leftOut),
        readBeside: imagesBeside(path),
      }),
    );
  return files.flat();
}

/**
 * Reads the images that the rows of a file name, from its folder. The process keeps what is decoded until it is written. Throws `image.missing` for a
 * path that leads out of the folder or to no file, and `image.size`.
 */
export function imagesBeside(path: string): ReadBeside {
  keepImagesUpTo(MOST_IMAGE_BYTES);
  const folder = dirname(resolve(path));
  return async (name) => {
    const missing = (cause?: unknown) =>
      wrongInput('image.missing', `There is no such file in ${folder}.`, {
        expected: 'the path of a file in the folder of the task file',
        cause,
      });
    const at = resolve(folder, name);
    if (!at.startsWith(folder + sep) || at.includes('\0')) throw missing();
    try {
      const size = await sizeOfRegularFile(at);
      if (size > MOST_FILE_BYTES) throw tooManyBytes(size);
      return new Uint8Array(await readFile(at));
    } catch (cause) {
      if (errnoOf(cause) === undefined) throw cause;
      throw missing(cause);
    }
  };
}

/** The most bytes of a file of tasks, and of all files of a command: their tasks are in memory together. */
const MOST_BYTES = 256 * 2 ** 20;
/** The largest that is read in one piece, as a file is that is no JSONL. */
const MOST_AT_ONCE = LARGEST_TEXT;
const PART_BYTES = 2 ** 20;

const IN_TURN = 'train on one part after the other, each with --policy of the run before';

/** Throws `file.size` where files whose tasks are in memory together are too large, and `file.unreadable` where one of them is not there. */
export async function expectRoom(paths: readonly string[]): Promise<void> {
  if (paths.length < 2) return;
  const sizes = await Promise.all(paths.map((path) => readable(path, () => sizeOfRegularFile(path))));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all > MOST_BYTES)
    throw wrongInput('file.size', `The files ${paths.join(', ')} have ${all} bytes together.`, {
      expected: `at most ${MOST_BYTES}`,
      next: `Name fewer of them: ${IN_TURN}.`,
    });
}

/**
 * The bytes of a file of tasks; those of a JSONL file are read a part after the other, and anew each time. Throws `file.unreadable` where there is no
 * such file, `file.size` where it is too large, `file.changed` where it changes while it is read, and `tasks.parquet` for one whose reading does not end.
 */
export async function taskFileBytes(path: string): Promise<FileBytes> {
  const isStreamed = isJsonLines(path);
  const size = await readable(path, () => sizeOfRegularFile(path));
  const most = isStreamed ? MOST_BYTES : MOST_AT_ONCE;
  if (size > most)
    throw wrongInput('file.size', `The file ${path} has ${size} bytes.`, {
      expected: `at most ${most}`,
      next: isStreamed
        ? `Split it, and ${IN_TURN}.`
        : `Convert it to JSONL, of which ${MOST_BYTES} bytes are read.`,
    });
  const parts = { [Symbol.asyncIterator]: () => partsOf(path) };
  if (isStreamed) return parts;
  const bytes = await joined(parts);
  if (/\.parquet$/i.test(path)) await refuseEndlessParquet(path, bytes);
  return bytes;
}

/** The parts of a file in their order. Throws `file.changed` where it is another file at the end than at the beginning. */
async function* partsOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await readable(path, () => open(path));
  try {
    const before = await file.stat();
    let bytes = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(PART_BYTES));
      if (bytesRead === 0) break;
      bytes += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    const after = await file.stat();
    if (bytes === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs) return;
    throw wrongInput('file.changed', `The file ${path} has changed while it was read.`, {
      expected: `${before.size} bytes that nobody writes meanwhile`,
      next: 'Nothing was trained on it. Wait until it is written, then start again.',
    });
  } finally {
    await file.close();
  }
}

/** Throws `file.unreadable` where the file cannot be read. */
async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === undefined) throw cause;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unreadable(path, code, cause);
    throw wrongInput('file.unreadable', `There is no file ${path}.`, {
      expected: 'a .jsonl, .csv or .parquet file of tasks',
    });
  }
}
