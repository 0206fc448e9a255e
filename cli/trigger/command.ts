/** `npx rollmesh trigger URL --recipe NAME`: orders rounds by a signed webhook. The secret comes from WEBHOOK_SECRET or .dev.vars. */
import { Command } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { MOST_ROUNDS } from '../../core/schema/round.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { calledAs } from '../called-as.ts';
import {
  aheadOption,
  collect,
  engineOption,
  orderNumbers,
  weightsOption,
  whole,
  withOptions,
} from '../shared/run-options.ts';
import { columnsHelp } from '../start/progress.ts';

/** The options are the order's fields, but for `--reward`, which names the reward function. */
type Asked = Omit<RunOrder, 'rewardFunction' | 'tasks'> & {
  readonly reward?: string;
  readonly tasksPerRound?: number;
};

interface Waiting {
  readonly wait: boolean;
  readonly json: boolean;
}

export const command = (): Command =>
  withOptions(new Command(calledAs('trigger')), orderNumbers())
    .description('Orders training rounds by a signed webhook.')
    .argument('<url>', 'address of the gateway')
    .requiredOption('--recipe <name>', 'recipe to run')
    .option('--rounds <n>', 'rounds to add to the run', whole(1, MOST_ROUNDS), 1)
    .option('--seed <n>', 'seed of every random choice', whole(0))
    .option('--policy <name>', 'policy to train; it must exist')
    .option('--reward <name>', 'the reward function that pays the policy')
    .option('--freeze <role>', 'role that keeps version 0', collect, [])
    .option('--variant <name>', 'a change of the recipe, such as an ablation')
    .addOption(weightsOption())
    .addOption(engineOption())
    .addOption(aheadOption())
    .option('--wait', 'follow the rounds, print each, and exit with 1 if one fails', false)
    .option('--json', 'with --wait: one JSON object per line', false)
    .addHelpText('after', () => `\n${columnsHelp()}`)
    .action(async (url: string, { wait, json, reward, tasksPerRound, ...asked }: Asked & Waiting) => {
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
        throw wrongInput('url.invalid', `${JSON.stringify(url)} is not the address of a mesh.`, {
          expected: 'https://…, or http://…',
          next: 'Take the address that `npx rollmesh start` or `npx rollmesh deploy` prints.',
        });
      const secret = process.env.WEBHOOK_SECRET ?? readSecrets('.').WEBHOOK_SECRET;
      if (!secret)
        throw wrongInput('webhook.secret', 'There is no webhook secret.', {
          expected: 'WEBHOOK_SECRET in the environment or in .dev.vars',
          next: 'Run `npx rollmesh start` once, or set the secret that the deployed gateway has.',
        });
      const { run, round, rounds } = await orderRounds(url, secret, {
        ...asked,
        ...(reward === undefined ? {} : { rewardFunction: reward }),
        ...(tasksPerRound === undefined ? {} : { tasks: tasksPerRound }),
      });
      if (!wait) {
        console.log(`run ${run}: ${rounds} rounds in all${round ? `, round ${round} has begun` : ''}`);
        console.log(`watch it: ${new URL(`/#run=${run}`, url)}`);
        return;
      }
      // Loaded only now, since an order alone needs none of it.
      const { waitForRounds } = await import('./wait.ts');
      await waitForRounds(url, run, rounds, { json, added: asked.rounds ?? 1 });
    });
