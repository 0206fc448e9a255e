/** `rollmesh python`: runs programs in Python for a mesh, as a reward service of this machine. */
import { Command } from 'commander';
import { ensureSecret, readSecrets } from '../../local/mesh/secrets.ts';
import { calledAs } from '../called-as.ts';
import { refuseTakenPort } from '../port.ts';
import { printable } from '../printable.ts';
import { most, port } from '../shared/run-options.ts';

interface PythonOptions {
  readonly port: number;
  readonly atOnce: number;
  readonly steps?: number;
}

async function serve({ port: at, atOnce, steps }: PythonOptions): Promise<void> {
  await refuseTakenPort(at);
  const [{ preparePython, runPython }, { rewardServer }] = await Promise.all([
    import('../../local/python/run-python.ts'),
    import('./serve-rewards.ts'),
  ]);
  preparePython();
  ensureSecret('.', 'REWARD_SECRET');
  const server = rewardServer((program, tests) => runPython(program, tests, steps), {
    secret: readSecrets('.').REWARD_SECRET!,
    atOnce,
    tell: (words) => console.log(printable(words)),
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(at, '127.0.0.1', resolve);
  });
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : at;
  console.log(
    `Programs in Python are run at http://127.0.0.1:${own}: --reward http://127.0.0.1:${own} in this folder asks it. Ctrl-C ends it.`,
  );
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await ended;
  server.closeAllConnections();
  server.close();
  process.exit(0);
}

export const command = (): Command =>
  new Command(calledAs('python'))
    .description(
      'Runs programs in Python on the tests of their tasks, as a reward service for `start --checker python --reward URL` (docs/tasks.md).',
    )
    .option('--port <n>', 'port on 127.0.0.1', port, 8790)
    .option('--at-once <n>', 'programs at the same time', most(64), 2)
    .option(
      '--steps <n>',
      'lines, jumps and calls that a program and its tests may take (default: 5000000)',
      most(1e9),
    )
    .action(serve);
