/** What a check of the platform is, and what every group of checks uses. */
import type { D1Database, Queue, R2Bucket, RateLimit } from '@cloudflare/workers-types';

export interface ConformanceEnv {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly QUEUE: Queue;
  readonly LIMIT: RateLimit;
  /** Opens the Worker; without one it answers nobody. */
  readonly CONFORMANCE_TOKEN?: string;
}

/** One check: its names, keys and messages all begin with `mark`, which is another one each time. */
type Run = (env: ConformanceEnv, mark: string, later: (work: Promise<unknown>) => void) => Promise<void>;

export interface Check {
  readonly name: string;
  readonly assumes: string;
  /** The file that relies on it. */
  readonly code: string;
  /** What happens where it fails. */
  readonly otherwise: string;
  readonly run: Run;
}

export class Differs extends Error {}

export function same(seen: unknown, wanted: unknown): void {
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Differs(`${JSON.stringify(seen)} in place of ${JSON.stringify(wanted)}`);
}

/** @returns the words of what it throws */
export async function thrown(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return String(error);
  }
  throw new Differs('nothing was thrown');
}

export const check = (name: string, assumes: string, code: string, otherwise: string, run: Run): Check => ({
  name,
  assumes,
  code,
  otherwise,
  run,
});

/** A table of every check's own rows. */
export const TABLES = [
  'CREATE TABLE IF NOT EXISTS marks (mark TEXT NOT NULL, k INTEGER NOT NULL, state TEXT, v, PRIMARY KEY (mark, k))',
  'CREATE TABLE IF NOT EXISTS heard (mark TEXT NOT NULL, message TEXT NOT NULL, attempt INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL, dead INTEGER NOT NULL)',
];

const ONE = 'INSERT OR IGNORE INTO marks (mark, k, state) VALUES (?1, ?2, ?3)';
export const insert = (env: ConformanceEnv, mark: string, k: number, state = 'a') =>
  env.DB.prepare(ONE).bind(mark, k, state);
export const countOf = async (env: ConformanceEnv, mark: string) =>
  (await env.DB.prepare('SELECT count(*) AS n FROM marks WHERE mark = ?1').bind(mark).first<{ n: number }>())!
    .n;

export const bytesOf = (text: string) => new TextEncoder().encode(text);
export const sha256 = async (bytes: Uint8Array) =>
  [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))]
    .map((b) => b.toString(16).padStart(2, '0'))
    .join('');
export const hexOf = (buffer: ArrayBuffer | undefined) =>
  buffer && [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, '0')).join('');

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
