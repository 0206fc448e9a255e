/** `npx rollmesh restore FILE`: the state folder of a mesh from a file of `npx rollmesh backup`. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { refuseDamaged } from '../../local/mesh/sqlite-files.ts';
import { tar } from '../backup/command.ts';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';
import { STATE_MARKER } from '../shared/state-folder.ts';

const VARS = '.dev.vars';

export const command = (): Command =>
  new Command(calledAs('restore'))
    .description('Makes a state folder, and .dev.vars, from a file of `npx rollmesh backup`.')
    .argument('<file>', 'the file')
    .option('--state <dir>', 'folder to make; it must not be there, or be empty', '.rollmesh')
    .action(restore);

async function restore(file: string, { state }: { readonly state: string }): Promise<void> {
  if (!existsSync(file))
    throw wrongInput('file.missing', `There is no file ${file}.`, {
      expected: 'a file of `npx rollmesh backup`',
    });
  const target = resolve(state);
  if (existsSync(target) && readdirSync(target).length)
    throw wrongInput('state.exists', `The folder ${state} holds something.`, {
      expected: 'a folder that is empty or missing',
      next: 'Move it away, or choose another with --state DIR.',
    });
  const isNew = !existsSync(target);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  // Within the folder, which may be a disk of its own.
  const stage = mkdtempSync(join(target, '.restore-'));
  try {
    const taken = ['--no-same-owner', '--no-same-permissions'];
    tar(['--extract', '--gzip', '--file', resolve(file), '--directory', stage, ...taken]);
    const foreign = (what: string) =>
      wrongInput('backup.foreign', `${file} holds ${what}.`, { expected: 'a file of `npx rollmesh backup`' });
    // A link would lead what the mesh reads and writes out of the folder.
    for (const { name, parentPath } of readdirSync(stage, { recursive: true, withFileTypes: true }).filter(
      (one) => !one.isFile() && !one.isDirectory(),
    ))
      throw foreign(`${relative(stage, join(parentPath, name))}, which is neither a file nor a folder`);
    if (!existsSync(join(stage, STATE_MARKER))) throw foreign('no state of a mesh');
    await refuseDamaged(stage);
    const vars = join(stage, VARS);
    if (existsSync(vars)) {
      if (existsSync(VARS) && readFileSync(VARS, 'utf8') !== readFileSync(vars, 'utf8'))
        throw wrongInput('secrets.differ', `${VARS} here has other secrets than the mesh in ${file}.`, {
          expected: `no ${VARS}, or the same one: what is stored is sealed with the mesh’s own`,
          next: `Move ${VARS} away, or restore in another folder.`,
        });
      copyFileSync(vars, VARS);
      rmSync(vars);
    }
    // The mark last: a folder without it is no state.
    for (const name of [...readdirSync(stage).filter((name) => name !== STATE_MARKER), STATE_MARKER])
      renameSync(join(stage, name), join(target, name));
  } finally {
    rmSync(stage, { recursive: true, force: true });
    if (isNew && readdirSync(target).length === 0) rmdirSync(target);
  }
  console.log(
    printable(
      `${state} is that of ${file}. Start it as before: runs that were open go on with \`npx rollmesh serve\`, or with \`npx rollmesh start --resume\`.`,
    ),
  );
}
