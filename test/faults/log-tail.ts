/** Follows the mesh's structured log to learn what a Worker has just done. It reads by position, so each event is seen exactly once. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

export interface LogEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

const POLL_MS = 15;

/** Calls `seen` with each event written from now on. @returns a function that stops it */
export function followLog(file: string, seen: (event: LogEvent) => void): () => void {
  let at = existsSync(file) ? statSync(file).size : 0;
  let rest = '';
  const timer = setInterval(() => {
    const size = existsSync(file) ? statSync(file).size : 0;
    if (size <= at) return;
    const buffer = Buffer.alloc(size - at);
    const handle = openSync(file, 'r');
    at += readSync(handle, buffer, 0, buffer.length, at);
    closeSync(handle);
    const lines = (rest + buffer.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = parseEvent(line);
      if (event) seen(event);
    }
  }, POLL_MS);
  return () => clearInterval(timer);
}

function parseEvent(line: string): LogEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'event' in value ? (value as LogEvent) : null;
  } catch {
    // Not every line is an event: workerd writes some lines of its own.
    return null;
  }
}
