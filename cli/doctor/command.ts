/** `rollmesh doctor`: checks this machine and says which devices will be used. Changes nothing. */
import { Command } from 'commander';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';
import { paintFor } from '../shared/colour.ts';
import { port } from '../shared/run-options.ts';
import { DEFAULT_STATE } from '../shared/state-folder.ts';
import { examine, type Finding } from './examine.ts';

const MARKS = { good: 'yes', missing: 'no', bad: 'BAD' } as const;
const TONES = { good: 'good', missing: 'dim', bad: 'bad' } as const;

export const command = (): Command =>
  new Command(calledAs('doctor'))
    .description(
      'Checks Node, cores, memory, disk, GPU, port and account, and says which devices rollmesh will use. Exits with 1 if the local mesh cannot run.',
    )
    .option('--port <n>', 'port that a mesh is to have', port, 8787)
    .option('--state <dir>', 'folder that local state is to be in', DEFAULT_STATE)
    .option('--json', 'one JSON object per line', false)
    .action(async (options: { readonly port: number; readonly state: string; readonly json: boolean }) => {
      const findings = await examine(options.port, options.state);
      const paint = paintFor(process.stdout, process.env);
      const width = Math.max(...findings.map(({ what }) => what.length));
      const line = ({ what, state, found, follows }: Finding) =>
        `${paint(TONES[state], MARKS[state].padEnd(3))}  ${what.padEnd(width)}  ${printable(found)}: ${follows}`;
      for (const finding of findings)
        console.log(options.json ? JSON.stringify({ kind: 'finding', ...finding }) : line(finding));
      if (findings.some(({ state }) => state === 'bad')) process.exitCode = 1;
    });
