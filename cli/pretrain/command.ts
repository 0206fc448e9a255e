/** `npx rollmesh pretrain`: makes a start policy, see pretrain.ts. */
import { Command, Option } from 'commander';
import { SHAPES } from '../../model/shapes.ts';
import { warmStarts } from '../../worlds/warm-starts.ts';
import { calledAs } from '../called-as.ts';
import { whole } from '../shared/run-options.ts';
import { DEFAULT_NAME, type PretrainOptions, REPORT_EVERY } from './options.ts';

export const command = (): Command =>
  new Command(calledAs('pretrain'))
    .description(
      'Makes a start policy: a warm start of the roles of a task family on generated demonstrations.',
    )
    .addOption(
      new Option('--name <name>', 'the warm start: a name of the list, which becomes the name of the policy')
        .choices(Object.keys(warmStarts))
        .default(DEFAULT_NAME),
    )
    .option('--out <dir>', 'folder to write (default: models/NAME)')
    .addOption(
      new Option('--shape <shape>', "the model's shape (default: the warm start's)").choices(
        Object.keys(SHAPES),
      ),
    )
    .option('--from <dir>', 'the folder of the policy that it goes on from (default: the shipped one)')
    .option('--seed <n>', 'seed of weights and demonstrations', whole(0), 0)
    .option('--steps <n>', "training steps (default: the warm start's)", whole(1))
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .option(
      '--save-every <n>',
      `also write the policy as it is every N steps, a multiple of ${REPORT_EVERY}, to the folder with the step after its name`,
      whole(1),
    )
    .action(async (options: PretrainOptions) => {
      const { pretrain } = await import('./pretrain.ts');
      await pretrain(options);
    });
