/** `npx rollmesh audit ROUND`: checks a round's records, samples a share of them again with the exact versions, and compares the bits. */
import { Argument, Command } from 'commander';
import { calledAs } from '../called-as.ts';
import { collect, share } from '../shared/run-options.ts';
import type { AuditOptions } from './audit.ts';

export const command = (): Command =>
  new Command(calledAs('audit'))
    .description('Audits a round: exits with 1 if anything differs. Changes nothing.')
    .addArgument(new Argument('<round>', 'id of the round, or `last`'))
    .option(
      '--fraction <share>',
      'share of groups and proposals that are drawn again; all are read again',
      share,
      1,
    )
    .option('--draw-seed <text>', 'decides which share, to draw the same one again (default: random)')
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--recipe <module>', 'a recipe of your own, where the round is of it (repeat)', collect, [])
    .option('--json', 'one JSON object', false)
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL, LEARNER_TOKEN and MESH_KEY.')
    .action(async (round: string, options: AuditOptions) => {
      // Loaded only now: the runtimes take a second, and help needs none of them.
      const { audit } = await import('./audit.ts');
      if (!(await audit(round, options))) process.exitCode = 1;
    });
