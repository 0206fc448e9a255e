/** `npm run deploy`: deploys the mesh to Cloudflare. It creates what is missing and deploys what changed; a second run changes nothing. */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { ensureNodeTab } from '../../mesh/node-tab.ts';
import { calledAs } from '../called-as.ts';
import { DeployFiles } from './deploy-files.ts';
import { workerTag } from './fingerprint.ts';
import { hasStartPolicy, uploadStartPolicy } from './gateway.ts';
import { deploy } from './run.ts';
import { readWanted } from './wanted.ts';
import { wranglerProcess } from './wrangler.ts';

const wranglerScript = () =>
  join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js');

export const command = (): Command =>
  new Command(calledAs('deploy'))
    .description('Deploys the mesh to Cloudflare with wrangler. See docs/deploy.md.')
    .option('--dry-run', 'print the plan, change nothing', false)
    .action(async ({ dryRun }: { readonly dryRun: boolean }) => {
      const root = resolve('.');
      await ensureNodeTab();
      const wanted = readWanted(root);
      const files = new DeployFiles(root, process.env);
      await deploy(
        {
          wanted,
          files,
          connect: wranglerProcess([process.execPath, wranglerScript()], root),
          account: process.env.CLOUDFLARE_ACCOUNT_ID || undefined,
          tagOf: (environment, databaseId) =>
            workerTag(root, environment, wanted.mains[environment], files.configFor(databaseId)),
          hasStartPolicy,
          uploadStartPolicy,
          say: (line) => console.log(line),
        },
        dryRun,
      );
    });
