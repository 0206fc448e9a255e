/** The commands on stored versions: import, export, list, rollback, prune. */
import { rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyVersions } from '../../core/schema/answers.ts';
import type { StorageType } from '../../model/safetensors.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { remoteMesh } from '../shared/mesh-access.ts';
import { whole } from '../shared/run-options.ts';
import { addressOf, gatewayAt } from '../shared/state-access.ts';
import { seeStateFolder } from '../shared/state-folder.ts';
import {
  type Common,
  print,
  printJson,
  subcommand,
  versionCommand,
  withStore,
  withUrl,
} from './command-line.ts';
import type { Fetched } from './hub.ts';
import { type HubModel, hubModel } from './hub-model.ts';
import { checkName } from './policy-name.ts';
import type { PruneRule } from './prune.ts';
import { heading, pruneLines, versionColumns, versionRows } from './tables.ts';

const DTYPES: readonly StorageType[] = ['F32', 'F16', 'BF16'];

/** What lies on the Hub, fetched; undefined for a folder. */
async function placeOf(place: string): Promise<Fetched | undefined> {
  const model = hubModel(place);
  if (!model) return undefined;
  const { fetchCheckpoint } = await import('./hub.ts');
  return fetchCheckpoint(model, { env: process.env, say: (line) => console.error(line) });
}

export function addImport(parent: Command): void {
  withUrl(subcommand(parent, 'import', 'a Hugging Face checkpoint becomes version 0 of a new policy'))
    .argument(
      '<dir>',
      'folder with config.json, tokenizer.json and model.safetensors (or its shards), folder of a PEFT adapter, or hf:ORG/NAME[@REVISION], which is fetched from the Hugging Face Hub',
    )
    .requiredOption('--name <name>', 'name of the new policy')
    .option('--no-tokenizer', 'leave the tokenizer out: the policy takes token ids only')
    .option(
      '--base <dir>',
      'of an adapter: the checkpoint that it is folded into, a folder or hf:ORG/NAME (default: what adapter_config.json names)',
    )
    .action(async (dir: string, options: Common & { name: string; tokenizer: boolean; base?: string }) => {
      checkName(options.name);
      const { tokenizer } = options;
      const { foldAdapter, readAdapterFolder } = await import('./import-adapter.ts');
      const { readImport, storeImport } = await import('./import-checkpoint.ts');
      const { modelWords } = await import('./model-words.ts');
      const fetched = await placeOf(dir);
      const folder = fetched?.folder ?? dir;
      const adapter = await readAdapterFolder(folder);
      if (!adapter && options.base !== undefined)
        throw wrongInput('import.base', `--base is given, and ${dir} is no folder of an adapter.`, {
          expected: '--base with a folder that has adapter_config.json',
        });
      const base = adapter && (await placeOf(options.base ?? adapter.base ?? ''));
      const folded = adapter && (await foldAdapter(adapter, base?.folder ?? options.base));
      try {
        const checkpoint = await readImport(folded ?? folder, options.name, {
          tokenizer,
          origin: fetched?.origin ?? basename(resolve(dir)),
        });
        const done = await withStore(options, (gateway) => storeImport(gateway, checkpoint), true);
        if (options.json) return printJson(done);
        print(
          `imported ${done.policy}@0: ${modelWords(checkpoint)}${adapter ? ', with the adapter folded in' : ''}`,
        );
      } finally {
        if (folded) await rm(folded, { recursive: true, force: true });
      }
    });
}

export function addExport(parent: Command): void {
  versionCommand(parent, 'export', 'a version as a folder that other tools load as it is')
    .argument('<dir>', 'an empty or missing folder')
    .addOption(
      new Option(
        '--dtype <type>',
        'float type of what is exported (default: F32; of an adapter, the type it is stored in)',
      ).choices(DTYPES),
    )
    .option('--adapter', 'only the adapter that the version has, in the layout of PEFT', false)
    .addOption(
      new Option(
        '--base <path>',
        'with --adapter: where its loader finds the base model, a folder or a name on the Hub',
      ).implies({ adapter: true }),
    )
    .addOption(new Option('--gguf', 'one file for llama.cpp').conflicts(['adapter', 'base']))
    .action(
      async (
        name: string,
        version: number,
        dir: string,
        options: Common & { dtype?: StorageType; adapter: boolean; base?: string; gguf?: boolean },
      ) => {
        checkName(name);
        const { checkEmpty, exportCheckpoint } = await import('./export-checkpoint.ts');
        await checkEmpty(dir);
        const work = { name, version };
        const { dtype, adapter, base, gguf = false } = options;
        const done = await withStore(options, (gateway) =>
          exportCheckpoint(gateway, work, dir, dtype, { adapter, base, gguf }),
        );
        if (options.json) return printJson(done);
        print(`${name} ${version} as ${done.dtype} in ${dir}: ${done.files.join(', ')}`);
        if (done.base && base === undefined)
          print(
            `The base is ${done.base.name}@${done.base.version}. A PEFT loader finds it once \`npx rollmesh policy export ${done.base.name} ${done.base.version} PATH\` has written it and this adapter is exported with --base PATH.`,
          );
      },
    );
}

interface PushAsked extends Common {
  readonly to: HubModel;
  readonly dtype?: StorageType;
  readonly adapter: boolean;
  readonly base?: HubModel;
  readonly public: boolean;
  readonly receipt: boolean;
}

const onTheHub = (text: string) => hubModel(text.startsWith('hf:') ? text : `hf:${text}`)!;

export function addPush(parent: Command): void {
  withUrl(
    versionCommand(
      parent,
      'push',
      'a version goes to the Hugging Face Hub, with a model card made from its run',
    ),
  )
    .requiredOption(
      '--to <hf:ORG/NAME>',
      'the repository; it is made where it is missing. HF_TOKEN has the token',
      onTheHub,
    )
    .addOption(new Option('--dtype <type>', 'float type of what is published').choices(DTYPES))
    .option('--adapter', 'only the adapter that the version has, in the layout of PEFT', false)
    .addOption(
      new Option('--base <hf:ORG/NAME>', 'with --adapter: its base model')
        .argParser(onTheHub)
        .implies({ adapter: true }),
    )
    .option('--public', 'a repository that is made can be read by everybody', false)
    .option('--receipt', 'with a receipt, from which anybody trains the version again', false)
    .action(async (name: string, version: number, options: PushAsked) => {
      checkName(name);
      const { to, dtype, adapter, base, public: open, receipt } = options;
      const { pushVersion } = await import('./push.ts');
      const done = await withStore(options, (gateway) =>
        pushVersion(
          gateway,
          { name, version },
          {
            repository: to.repository,
            dtype,
            adapter,
            base: base?.repository,
            public: open,
            receipt,
            state: options.state,
          },
          { env: process.env, say: (line) => console.error(line) },
        ),
      );
      if (options.json) return printJson(done);
      print(`${name} ${version} is at ${done.url}, commit ${done.commit}`);
    });
}

async function policiesOf(gateway: GatewayClient): Promise<readonly PolicyVersions[]> {
  const policies: PolicyVersions[] = [];
  for (const name of await gateway.listPolicies()) policies.push(await gateway.getVersions(name));
  return policies;
}

/** The policies of a mesh that runs, else those in the database of the state folder: no mesh is started, and nothing is created. */
export async function listed({
  state,
  url,
}: Pick<Common, 'state' | 'url'>): Promise<readonly PolicyVersions[]> {
  if (url !== undefined) return policiesOf(remoteMesh(url).gateway);
  const folder = seeStateFolder(state);
  if (folder === undefined) return [];
  const running = await addressOf(folder);
  if (running !== undefined) return policiesOf(gatewayAt(running));
  return (await import('./stored-policies.ts')).storedPolicies(folder);
}

export function addList(parent: Command): void {
  withUrl(subcommand(parent, 'list', 'every policy and its versions')).action(async (options: Common) => {
    const policies = await listed(options);
    const columns = versionColumns(policies.map(({ name }) => name));
    if (!options.json) print(heading(columns));
    for (const policy of policies) {
      if (options.json) printJson(policy);
      else for (const line of versionRows(policy, columns)) print(line);
    }
    if (!policies.length)
      console.error(
        'There are no policies yet. `npx rollmesh start` or `npx rollmesh policy import` makes one.',
      );
  });
}

export function addRollback(parent: Command): void {
  withUrl(versionCommand(parent, 'rollback', 'back to an earlier version; later ones are withdrawn for good'))
    .option('--reason <text>', 'kept with the versions that are withdrawn', 'by hand')
    .action(async (name: string, version: number, options: Common & { reason: string }) => {
      checkName(name);
      const { rollBack } = await import('./roll-back.ts');
      const done = await withStore(options, (gateway) =>
        rollBack(gateway, { name, version }, options.reason),
      );
      if (options.json) return printJson(done);
      print(`${name} is at version ${version}; withdrawn: ${done.withdrawn.join(', ') || 'none'}`);
    });
}

export function addPrune(parent: Command): void {
  withUrl(subcommand(parent, 'prune', 'removes old versions that nothing names'))
    .argument('<name>', 'name of the policy')
    .requiredOption('--keep <n>', 'newest versions to keep, the current one included', whole(1))
    .option('--withdrawn-days <n>', 'days that a withdrawn version is kept', whole(0), 7)
    .option('--dry-run', 'only say what would be removed', false)
    .action(async (name: string, options: Common & PruneRule) => {
      checkName(name);
      const { prune } = await import('./prune.ts');
      const done = await withStore(options, (gateway) => prune(gateway, name, options));
      if (options.json) return printJson(done);
      for (const line of pruneLines(done)) print(line);
    });
}
