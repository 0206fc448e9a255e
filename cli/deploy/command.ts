/** `npx rollmesh deploy`: deploys the mesh to Cloudflare. It creates what is missing and deploys what changed; a second run changes nothing. */
import { Command } from 'commander';
import { calledAs } from '../called-as.ts';
import { collect } from '../shared/run-options.ts';

interface DeployOptions {
  readonly dryRun: boolean;
  readonly check: boolean;
  readonly recipe: readonly string[];
}

export const command = (): Command =>
  new Command(calledAs('deploy'))
    .description('Deploys the mesh to Cloudflare with wrangler. See docs/deploy.md.')
    .option('--dry-run', 'print the plan, change nothing', false)
    .option(
      '--check',
      'put one Worker on the account for a minute, ask it whether the platform is what the mesh assumes, delete it',
      false,
    )
    .option(
      '--recipe <module>',
      'module of a recipe that the Workers play beside the shipped ones, such as one that `start` wrote from files of tasks (repeat)',
      collect,
      [],
    )
    .action(async ({ dryRun, check, recipe }: DeployOptions) => {
      // Loaded only now: wrangler takes seconds, and help needs none of it.
      const { checkFromHere, deployFromHere } = await import('./from-here.ts');
      if (!check) return deployFromHere(dryRun, recipe);
      if (!(await checkFromHere())) process.exitCode = 1;
    });
