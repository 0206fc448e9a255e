/** `npm run deploy`: deploys the mesh to Cloudflare. It creates what is missing and deploys what changed; a second run changes nothing. */
import { Command } from 'commander';
import { calledAs } from '../called-as.ts';

export const command = (): Command =>
  new Command(calledAs('deploy'))
    .description('Deploys the mesh to Cloudflare with wrangler. See docs/deploy.md.')
    .option('--dry-run', 'print the plan, change nothing', false)
    .action(async ({ dryRun }: { readonly dryRun: boolean }) => {
      // Loaded only now: wrangler takes seconds, and help needs none of it.
      const { deployFromHere } = await import('./from-here.ts');
      await deployFromHere(dryRun);
    });
