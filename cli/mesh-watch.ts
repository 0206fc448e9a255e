/** Watches whether the local mesh still runs. A killed workerd refuses connections; one that hangs accepts them and never answers. */
import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { RollmeshError } from '../core/errors.ts';
import type { Mesh } from '../local/mesh/start.ts';
import { diskFull } from './expected-failure.ts';

/** The result of one request to the gateway. */
export type Pulse = 'answers' | 'silent' | 'refused';

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 5_000;
/** How many refused requests in a row mean that the mesh is gone. */
const MOST_REFUSED = 3;
/** After how many unanswered requests (five seconds each) a person is told, and after how many the command ends. */
const TOLD_SILENT = 4;
const MOST_SILENT = 24;

/** Requests the gateway once. `patienceMs`: without an answer for so long it counts as silent. */
export async function pulseOf(url: string, patienceMs = ANSWER_MS): Promise<Pulse> {
  try {
    const response = await fetch(new URL('/healthz', url), {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(patienceMs),
    });
    await response.body?.cancel();
    return 'answers';
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'silent' : 'refused';
  }
}

const meshGone = (reason: string) =>
  new RollmeshError('give-up', 'mesh.gone', `The mesh's workerd has ended${reason && `: ${reason}`}.`, {
    next: 'The same command starts it again, and the run goes on where it stands.',
  });

/** Counts the results; returns what a person should be told, and throws once the mesh is given up. */
export class MeshWatch {
  readonly #reason: () => string;
  #refused = 0;
  #silent = 0;

  /** `reason` returns the last log line of a mesh that is gone, empty where there is none. */
  constructor(reason: () => string) {
    this.#reason = reason;
  }

  /** @throws RollmeshError `mesh.gone` or `mesh.silent`. */
  look(pulse: Pulse): string | undefined {
    const wasSilent = this.#silent;
    this.#refused = pulse === 'refused' ? this.#refused + 1 : 0;
    this.#silent = pulse === 'silent' ? wasSilent + 1 : 0;
    if (this.#refused >= MOST_REFUSED) throw meshGone(this.#reason());
    if (this.#silent >= MOST_SILENT)
      throw new RollmeshError(
        'give-up',
        'mesh.silent',
        `The mesh has not answered for ${(MOST_SILENT * ANSWER_MS) / 1000} seconds.`,
        {
          next: 'The same command starts it again. If it falls silent again, stop the run with `npx rollmesh stop last`.',
        },
      );
    if (this.#silent === TOLD_SILENT)
      return `the mesh has not answered for ${(TOLD_SILENT * ANSWER_MS) / 1000} seconds; it is waited for`;
    if (pulse === 'answers' && wasSilent >= TOLD_SILENT) return 'the mesh answers again';
    return undefined;
  }
}

/** What workerd and SQLite write where a file system has no room, or the user's share of it is used up. */
const FULL = /No space left on device|Disk quota exceeded|SQLITE_FULL|database or disk is full/;

/** A log that repeats the words must not keep the disk busy, ms. */
const ASK_EVERY_MS = 10_000;
/** More than the mesh writes at once, apart from the files of a version. */
const PROBE_BYTES = 4 * 1024 * 1024;

/** The size of the largest file below a folder that is no log, bytes. */
const largestIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.name.endsWith('.log'))
    .reduce((most, { parentPath, name }) => Math.max(most, sizeOf(join(parentPath, name))), 0);

/**
 * Is there room for another file as large as the largest one below the folder, such as the weights of the next version? A quota is seen by
 * writing alone, so a small file is written as well, and removed.
 */
export function hasRoom(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < largestIn(folder)) return false;
  const file = join(folder, `.room-${process.pid}`);
  try {
    writeFileSync(file, Buffer.alloc(PROBE_BYTES), { flush: true });
    return true;
  } catch (error) {
    return !FULL_CODES.has((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    rmSync(file, { force: true });
  }
}
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Refuses a folder without room for what a mesh writes at once, before one starts there. It takes no time: a quota, and the size of a version, are for DiskWatch.
 *
 * @throws RollmeshError `disk.full`.
 */
export function refuseFull(folder: string): void {
  const { blocks, bavail, bsize } = statfsSync(folder);
  // A file system that does not know its size says that it has no blocks at all.
  if (blocks && bavail * bsize < PROBE_BYTES) throw diskFull(` at ${folder}`);
}

/**
 * Looks for the words of a full disk in what is appended to a mesh's log from now on. The Workers only see an internal error, which they
 * would try again for minutes. Where the log itself cannot be written, its stream ends the command. The words alone prove nothing, since a
 * log repeats what models and task files say: the disk is asked as well.
 */
export class DiskWatch {
  readonly #log: string;
  readonly #hasRoom: (folder: string) => boolean;
  readonly #now: () => number;
  #read: number;
  /** Has the log had the words since the disk was asked? */
  #said = false;
  /** When the disk was asked last, ms. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The end of what was read, where the words may have begun. */
  #end = '';

  constructor(log: string, asked = hasRoom, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#hasRoom = asked;
    this.#now = now;
    this.#read = sizeOf(log);
  }

  /** @throws RollmeshError `disk.full`. */
  look(): void {
    this.#said ||= this.#hasWords();
    if (!this.#said || this.#now() - this.#askedAt < ASK_EVERY_MS) return;
    this.#said = false;
    this.#askedAt = this.#now();
    const folder = dirname(this.#log);
    if (!this.#hasRoom(folder)) throw diskFull(` at ${folder}`);
  }

  /** Are the words in what was appended since the last call? */
  #hasWords(): boolean {
    const size = sizeOf(this.#log);
    if (size <= this.#read) return false;
    const text = this.#end + readRange(this.#log, this.#read, size);
    this.#read = size;
    this.#end = text.slice(-LONGEST_WORDS);
    return FULL.test(text);
  }
}
const LONGEST_WORDS = 32;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function readRange(file: string, from: number, to: number): string {
  const opened = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, from));
  } finally {
    closeSync(opened);
  }
}

/** Matches lines of stacks and of closed connections, which do not explain why a process died. */
const PASSING = /^stack:|disconnected:|Broken pipe/;
const TAIL_BYTES = 8_192;

/** What a process wrote before it died: the log's last line that is not JSON, a stack or a lost connection; empty if there is none. */
export function lastWords(file: string): string {
  let text: string;
  try {
    const size = sizeOf(file);
    const from = Math.max(0, size - TAIL_BYTES);
    text = readRange(file, from, size);
    // The first line may be the end of a longer one.
    if (from > 0) text = text.slice(text.indexOf('\n') + 1);
  } catch {
    return '';
  }
  const words = text.split('\n').filter((line) => /^[^\s{]/.test(line) && !PASSING.test(line));
  return (words.at(-1) ?? '').slice(0, 300);
}

/**
 * Checks the mesh every second until the signal aborts. Rejects once the mesh is given up, its workerd was started again, or the disk is
 * full; else it never settles.
 */
export function watchMesh(
  { url, crashed }: Pick<Mesh, 'url' | 'crashed'>,
  log: string,
  notice: (text: string) => void,
  signal: AbortSignal,
  asked = hasRoom,
): Promise<never> {
  const watch = new MeshWatch(() => lastWords(log));
  const disk = new DiskWatch(log, asked);
  return new Promise<never>((_, reject) => {
    void crashed.then(() => signal.aborted || reject(meshGone(lastWords(log))));
    const look = async () => {
      const pulse = await pulseOf(url);
      if (signal.aborted) return;
      try {
        disk.look();
        const words = watch.look(pulse);
        if (words) notice(words);
        setTimeout(look, LOOK_EVERY_MS);
      } catch (error) {
        reject(error);
      }
    };
    void look();
  });
}
