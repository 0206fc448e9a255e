/** `npm run verify -- NAME@N`: trains a version again from its sealed records, compares the bytes, and changes nothing. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { readSecrets } from '../../mesh/secrets.ts';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';
import { openRecipes } from '../recipe-modules.ts';
import { duration } from '../shared/figures.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { collect, whole } from '../shared/run-options.ts';
import { type VerifiedVersion, VersionChain, verifyVersion } from './verify-version.ts';

interface VerifyOptions {
  readonly from?: number;
  readonly recipe: readonly string[];
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  readonly state: string;
  readonly json: boolean;
}

interface Asked {
  readonly name: string;
  readonly version: number;
}

function versionName(text: string): Asked {
  const [, name, version] = /^([a-z0-9][a-z0-9._-]*)@(\d{1,9})$/.exec(text) ?? [];
  if (name && version) return { name, version: Number(version) };
  throw new InvalidArgumentError('Expected NAME@N, such as trio-0@3.');
}

/** The number of threads that a manifest's device names: with other threads the sums of a product may be rounded otherwise. */
const threadsOf = (device: string): number | undefined => {
  const [, threads] = /^CPU, (\d+) threads?,/.exec(device) ?? [];
  return threads === undefined ? undefined : Number(threads);
};

/** What became of one version, in lines. */
export function verifiedLines(of: VerifiedVersion, name: string, device: string): string[] {
  const head = `version ${of.version} of ${name}, trained from version ${of.parent} on ${of.groups} groups of round ${of.round}`;
  if (of.same) return [`same bytes  ${head}: ${of.files.length} files (${duration(of.wallMs)})`];
  const differing = of.files.filter(({ committed, trainedAgain }) => committed !== trainedAgain);
  return [
    `DIFFERENT   ${head}`,
    ...differing.map(
      ({ file, committed, trainedAgain }) =>
        `            ${file}: committed ${committed?.slice(0, 16) ?? 'without it'}, trained again ${trainedAgain?.slice(0, 16) ?? 'without it'}`,
    ),
    of.trainedOn === device
      ? '            The device is of the same kind, so the version or its parent is not what the records give.'
      : `            It was trained on ${of.trainedOn}; this is ${device}. Another kind of device may round otherwise: verify on the same kind.`,
  ];
}

async function run({ name, version }: Asked, options: VerifyOptions): Promise<boolean> {
  const { from = version - 1, state, json, threads } = options;
  const { registry, modules } = await openRecipes(options.recipe);
  const store = await openMesh(state);
  let device: Device | undefined;
  try {
    const chain = await VersionChain.open(store.gateway, name);
    const parent = chain.row(version).parent;
    if (options.from !== undefined && from >= version)
      throw wrongInput('verify.from', `Nothing lies between version ${from} and version ${version}.`, {
        expected: `--from with a number below ${version}`,
      });
    const versions = options.from === undefined || parent === null ? [version] : chain.since(from, version);
    const { settings } = await chain.manifest(versions.at(-1)!);
    const used = threads ?? threadsOf(String(settings.device ?? ''));
    device = await openDevice({ device: options.device, ...(used === undefined ? {} : { threads: used }) });
    const meshKey = process.env.MESH_KEY ?? readSecrets('.').MESH_KEY;
    const how = { recipes: registry, meshKey, objectives: objectiveModules(modules) };
    let same = 0;
    for (const wanted of versions) {
      const verified = await verifyVersion(store.gateway, chain, wanted, how);
      if (verified.same) same++;
      const lines = verifiedLines(verified, name, device.description).map(printable);
      for (const line of json ? [JSON.stringify({ kind: 'verified', policy: name, ...verified })] : lines)
        console.log(line);
    }
    const sealChecked = meshKey !== undefined;
    const result = { kind: 'verify', policy: name, versions: versions.length, same, sealChecked };
    if (json) console.log(JSON.stringify(result));
    else {
      console.log(
        `${same} of ${versions.length} ${versions.length === 1 ? 'version has' : 'versions have'} the committed bytes${sealChecked ? '' : '; the seals were not checked, since MESH_KEY is not known'}.`,
      );
    }
    return same === versions.length;
  } finally {
    device?.close();
    await store.close();
  }
}

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
    .option('--recipe <module>', 'a recipe of your own, where the version is of it (repeat)', collect, [])
    .option('--json', 'one JSON object a line', false)
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL, LEARNER_TOKEN and MESH_KEY.')
    .action(async (asked: Asked, options: VerifyOptions) => {
      if (!(await run(asked, options))) process.exitCode = 1;
    });
