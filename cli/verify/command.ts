/** `npx rollmesh verify NAME@N`: trains a version again from its sealed records, compares the bytes, and changes nothing. */
import { Command, Option } from 'commander';
import { calledAs } from '../called-as.ts';
import { collect, whole } from '../shared/run-options.ts';
import { type VersionName, versionName } from '../shared/version-name.ts';
import type { VerifyOptions } from './verify.ts';

export const command = (): Command =>
  new Command(calledAs('verify'))
    .description(
      'Trains a version again from the sealed records of its round and compares the bytes: exits with 1 if any differ. Changes nothing.',
    )
    .argument('<name@version>', 'the version, such as trio-0@3', versionName)
    .option('--from <version>', 'every version after this ancestor too; 0 = the whole chain', whole(0))
    .addOption(
      new Option('--device <name>', 'where to train: the kind of device that trained the version')
        .choices(['auto', 'cpu', 'webgpu'])
        .default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device (default: as many as trained the version)', whole(1))
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option(
      '--mesh <url>',
      'a mesh elsewhere, which need not be trusted and trusts you with reading alone: set ROLLMESH_NODE_TOKEN to the token of a verifier',
    )
    .option('--recipe <module>', 'a recipe of your own, where the version is of it (repeat)', collect, [])
    .option('--json', 'one JSON object per line', false)
    .addHelpText('after', '\nYour own deployed mesh: set ROLLMESH_URL, LEARNER_TOKEN and MESH_KEY.')
    .action(async (asked: VersionName, options: VerifyOptions) => {
      // Loaded only now: the learner takes a second, and help needs none of it.
      const { verify } = await import('./verify.ts');
      if (!(await verify(asked, options))) process.exitCode = 1;
    });
