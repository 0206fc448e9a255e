/** Plays commands of rollmesh to their end and watches their processes: memory and CPU time of each part. Linux only. */
import { spawn } from 'node:child_process';
import { commandLine, cpuMs, residentBytes, withDescendants } from '../processes.ts';

const MIB = 1 << 20;
/** How often the processes are looked at, ms. */
const LOOK_MS = 500;

const PARTS: readonly (readonly [part: string, of: RegExp])[] = [
  ['workerd', /\/workerd serve/],
  ['learner', /rollmesh\.\S+ learner/],
  ['node', /rollmesh\.\S+ node/],
  ['bundler', /esbuild/],
  ['command', /cli\/rollmesh\./],
];

/** What the processes of a part took. */
export interface Part {
  /** The most resident memory of one of its processes, MiB. */
  readonly peakMib: number;
  /** The CPU time of all of them, as last seen. */
  readonly cpuSeconds: number;
}

export interface Played {
  readonly seconds: number;
  readonly parts: Readonly<Record<string, Part>>;
  /** The most resident memory of all processes at one moment, MiB. */
  readonly peakMib: number;
  /** Resident memory of workerd before the first line was printed, MiB: what the mesh takes before it samples. */
  readonly workerdAtFirstMib: number;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Throws where the command fails. */
export async function play(args: readonly string[], cwd: string): Promise<Played> {
  const program = new URL('../../cli/rollmesh.ts', import.meta.url).pathname;
  const typescript = new URL('../../cli/install/typescript.mjs', import.meta.url).pathname;
  const before = performance.now();
  const child = spawn(process.execPath, ['--import', typescript, program, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  const peaks: Record<string, number> = {};
  const cpu = new Map<number, { part: string; ms: number }>();
  let [peakMib, workerdAtFirstMib] = [0, 0];
  const timer = setInterval(() => {
    let all = 0;
    for (const pid of withDescendants(child.pid!)) {
      const line = commandLine(pid) ?? '';
      const part = PARTS.find(([, of]) => of.test(line))?.[0];
      if (!part) continue;
      const { now, most } = residentBytes(pid);
      all += now;
      peaks[part] = Math.max(peaks[part] ?? 0, Math.round(most / MIB));
      const ms = cpuMs(pid);
      if (ms !== undefined) cpu.set(pid, { part, ms });
      if (part === 'workerd' && text === '') workerdAtFirstMib = Math.round(now / MIB);
    }
    peakMib = Math.max(peakMib, Math.round(all / MIB));
  }, LOOK_MS);
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`rollmesh ${args.join(' ')} ended with ${code}:\n${text}`);
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  const cpuOf = (name: string) =>
    [...cpu.values()].reduce((sum, { part, ms }) => sum + (part === name ? ms : 0), 0);
  const parts = Object.entries(peaks).map(([name, most]): [string, Part] => [
    name,
    { peakMib: most, cpuSeconds: Math.round(cpuOf(name) / 100) / 10 },
  ]);
  return {
    seconds: Math.round((performance.now() - before) / 1000),
    parts: Object.fromEntries(parts),
    peakMib,
    workerdAtFirstMib,
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}
