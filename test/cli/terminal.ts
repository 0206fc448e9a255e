/** A command of the project as a person sees it: what it prints on either stream, and how it ends. */
import { spawn } from 'node:child_process';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

export interface Seen {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** `onText` is called with everything printed so far, and may end the command, whose process id it is told, by the function that it is given. */
export function runCommand(
  script: string,
  args: readonly string[],
  onText: (text: string, kill: (signal: NodeJS.Signals) => void, pid: number) => void = () => {},
): Promise<Seen> {
  const began = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...NODE_FLAGS, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    });
    const text = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Uint8Array) => {
        text[stream] += new TextDecoder().decode(chunk);
        onText(text.stdout + text.stderr, (signal) => child.kill(signal), child.pid!);
      });
    child.once('close', (code) => resolve({ code, ...text, ms: performance.now() - began }));
  });
}

/** Lines of a stack trace, and paths of the installation. */
export const INTERNALS = /^\s+at .*:\d+|node_modules|node:internal/m;
