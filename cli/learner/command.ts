/**
 * `npx rollmesh learner`: the learner alone against a mesh, local or deployed. Everything comes from environment variables, so
 * that no secret stands in a command line.
 */
import { Command, Option } from 'commander';
import { calledAs } from '../called-as.ts';
import {
  auditOption,
  backendOption,
  baseModelOption,
  collect,
  MAX_STALENESS,
  whole,
} from '../shared/run-options.ts';
import type { LearnerOptions } from './run.ts';

export const command = (): Command =>
  new Command(calledAs('learner'))
    .description(
      'Pulls scored batches, trains, publishes. Settings come from environment variables: see docs/deploy.md.',
    )
    .addOption(
      new Option('--device <name>', 'where to compute').choices(['auto', 'cpu', 'webgpu']).default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .addOption(backendOption())
    .addOption(baseModelOption())
    .option(
      '--no-revectorize',
      'CPU device on Node 24 or later: do not let V8 pair SIMD operations, which is nearly twice as fast and gives the same bits where its self-test passes',
    )
    .option('--eval-every <n>', 'evaluate every n rounds; 0 = never', whole(0), 5)
    .option('--idle-ms <n>', 'longest pause between two pulls of an empty queue, ms', whole(1), 5_000)
    .option(
      '--max-staleness <n>',
      'versions that samples may be behind what is trained; groups of older samples are refused, unless their run is as many rounds --ahead',
      whole(0),
      MAX_STALENESS,
    )
    .addOption(auditOption())
    .option(
      '--lease-seconds <n>',
      'how long a pulled message is ours; longer than a round trains',
      whole(1),
      600,
    )
    .option(
      '--run <id>',
      'a run that is about to begin, or goes on: the version that it began from is evaluated once its first round is trained',
    )
    .option('--recipe <module>', 'a recipe of your own that the mesh plays (repeat)', collect, [])
    .addOption(
      new Option(
        '--told-by-parent',
        'wait for the environment variables as a message of the parent process',
      ).hideHelp(),
    )
    .option('--env <file>', 'read the environment variables from this file, such as .deploy/learner.env')
    .action(async (options: LearnerOptions) => {
      // Loaded only now: tfjs and the runtimes take seconds, and help needs none of them.
      const { learn } = await import('./run.ts');
      await learn(options);
    });
