/** Deploys the mesh that the folder's files describe. */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { ensureTabPages } from '../../local/mesh/tab-pages.ts';
import { openRecipes } from '../recipe-modules.ts';
import { checkAccount } from './check-account.ts';
import { DeployFiles } from './deploy-files.ts';
import { workerTag } from './fingerprint.ts';
import { hasStartPolicy, uploadStartPolicy, uploadTasks } from './gateway.ts';
import { deploy } from './run.ts';
import { readWanted } from './wanted.ts';
import { wranglerProcess } from './wrangler.ts';

const wranglerScript = () =>
  join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js');

const connectTo = (root: string) => wranglerProcess([process.execPath, wranglerScript()], root);
const namedAccount = () => process.env.CLOUDFLARE_ACCOUNT_ID || undefined;

/** Asks the account whether it is what the mesh assumes. @returns whether it is */
export function checkFromHere(): Promise<boolean> {
  const root = resolve('.');
  return checkAccount({
    connect: connectTo(root),
    account: namedAccount(),
    home: new DeployFiles(root, process.env).account,
    say: (line) => console.log(line),
  });
}

/** `recipes`: modules of recipes that the Workers play beside the shipped ones, in place of those that their own entry points name. */
export async function deployFromHere(dryRun: boolean, recipes: readonly string[]): Promise<void> {
  const root = resolve('.');
  const say = (line: string) => console.log(line);
  const { modules } = await openRecipes(recipes);
  if (modules.length)
    console.log(
      `Beside the shipped recipes: ${modules.map(({ recipe }) => recipe.name).join(', ')}. Name them at the next deployment, too.`,
    );
  await ensureTabPages();
  const wanted = await readWanted(root);
  const files = new DeployFiles(
    root,
    process.env,
    modules.map(({ file }) => file),
  );
  await deploy(
    {
      wanted,
      files,
      connect: connectTo(root),
      account: namedAccount(),
      tagOf: (environment, databaseId) =>
        workerTag(
          root,
          environment,
          files.writeWorker(environment) ?? wanted.mains[environment]!,
          files.configFor(databaseId),
        ),
      hasStartPolicy,
      uploadStartPolicy,
      ...(modules.some(({ recipe }) => recipe.stored) && {
        storeTasks: (url, token) => uploadTasks(modules, url, token, say),
      }),
      say,
    },
    dryRun,
  );
}
