/** `npx rollmesh stop RUN`: ends a run, whoever ordered it. It uses the mesh that runs here, starts one if none does, or uses one elsewhere. */
import { Command } from 'commander';
import { calledAs } from './called-as.ts';
import { printable } from './printable.ts';
import { openMesh } from './shared/mesh-access.ts';
import { stopRun } from './stop-run.ts';

interface StopOptions {
  readonly reason: string;
  readonly state: string;
  readonly json: boolean;
}

export const command = (): Command =>
  new Command(calledAs('stop'))
    .description(
      'Stops a run: its open round ends, no further one begins, and what was trained stays. An order or `npx rollmesh start` opens it again.',
    )
    .argument('<run>', 'id of the run, or `last` for the newest one that is open')
    .option('--reason <text>', 'kept with the round that this ends', 'by hand')
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--json', 'one JSON object', false)
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.')
    .action(async (asked: string, { reason, state, json }: StopOptions) => {
      const { gateway, close } = await openMesh(state);
      try {
        const done = await stopRun(gateway, asked, reason);
        const words = `run ${done.run} is stopped; ${done.done} of its rounds are done`;
        console.log(json ? JSON.stringify(done) : printable(words));
      } finally {
        await close();
      }
    });
