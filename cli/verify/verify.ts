/** Verifies the versions that a command names, and prints what became of each. */
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import {
  nothingBetween,
  type VerifiedMesh,
  type VerifiedVersion,
  type VerifySettings,
  VersionChain,
  verifyVersion,
} from '../../local/verify/verify-version.ts';
import { printable } from '../printable.ts';
import { openRecipesOf } from '../recipe-modules.ts';
import { duration } from '../shared/figures.ts';
import { openMesh, verifiersMesh } from '../shared/mesh-access.ts';
import type { VersionName } from '../shared/version-name.ts';

export interface VerifyOptions {
  readonly from?: number;
  readonly recipe: readonly string[];
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  readonly state: string;
  /** A mesh elsewhere, which is opened with a verifier's token. */
  readonly mesh?: string;
  readonly json: boolean;
}

/** The number of threads that a manifest's device names. Another number gives the same bits (test/learner/engine-invariants), but not the same description. */
const threadsOf = (device: string): number | undefined => {
  const [, threads] = /^CPU, (\d+) threads?,/.exec(device) ?? [];
  return threads === undefined ? undefined : Number(threads);
};

/** The kind of device that the versions were trained on, where none is asked for: another one may round otherwise. */
const kindOf = (asked: VerifyOptions['device'], trainedOn: string): 'cpu' | 'webgpu' =>
  asked === 'auto' ? (trainedOn.startsWith('WebGPU') ? 'webgpu' : 'cpu') : asked;

/** Opens a device as a version was trained on, where none is asked for. */
function openDeviceOf(trainedOn: string, asked: Pick<VerifyOptions, 'device' | 'threads'>): Promise<Device> {
  const threads = asked.threads ?? threadsOf(trainedOn);
  return openDevice({
    device: kindOf(asked.device, trainedOn),
    ...(threads === undefined ? {} : { threads }),
  });
}

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

/** Opens the mesh that the options mean. @returns whether every version has the committed bytes */
export async function verify(wanted: VersionName, options: VerifyOptions): Promise<boolean> {
  const { state, mesh } = options;
  const store = mesh === undefined ? await openMesh(state) : verifiersMesh(mesh);
  try {
    return await verifyIn(store.gateway, wanted, options);
  } finally {
    await store.close();
  }
}

/** Verifies and prints, as `verify` does, in a mesh that is open. */
export async function verifyIn(
  gateway: VerifiedMesh,
  { name, version }: VersionName,
  options: VerifyOptions,
): Promise<boolean> {
  const { from = version - 1, mesh, json } = options;
  const chain = await VersionChain.open(gateway, name);
  const parent = chain.row(version).parent;
  if (options.from !== undefined && from >= version) throw nothingBetween(from, version);
  const versions = options.from === undefined || parent === null ? [version] : chain.since(from, version);
  // The key in this folder is that of the mesh that runs here.
  const meshKey = process.env.MESH_KEY ?? (mesh === undefined ? readSecrets('.').MESH_KEY : undefined);
  const same = await trainAgain(gateway, chain, versions, { ...options, meshKey });
  const sealChecked = meshKey !== undefined;
  const result = { kind: 'verify', policy: name, versions: versions.length, same, sealChecked };
  if (json) console.log(JSON.stringify(result));
  else {
    console.log(
      `${same} of ${versions.length} ${versions.length === 1 ? 'version has' : 'versions have'} the committed bytes${sealChecked ? '' : '; the seals were not checked, since MESH_KEY is not known'}.`,
    );
  }
  return same === versions.length;
}

/** What `trainAgain` needs to know beside the versions. */
export interface TrainAgain extends Pick<VerifyOptions, 'recipe' | 'device' | 'threads' | 'state' | 'json'> {
  readonly meshKey: string | undefined;
  /** Is told of each version that has the committed bytes; the first one that differs is then the last that is trained. */
  readonly keep?: VerifySettings['keep'];
}

/** Trains the versions again, oldest first, and prints what became of each. @returns how many have the committed bytes */
export async function trainAgain(
  gateway: VerifiedMesh,
  chain: VersionChain,
  versions: readonly number[],
  options: TrainAgain,
): Promise<number> {
  const { registry, modules } = await openRecipesOf(
    await chain.recipesOf(versions),
    options.state,
    options.recipe,
  );
  const { meshKey, keep } = options;
  const how = { recipes: registry, meshKey, objectives: objectiveModules(modules), ...(keep && { keep }) };
  let device: Device | undefined;
  let openFor: string | undefined;
  let same = 0;
  try {
    for (const wanted of versions) {
      // The versions of a chain may be of several learners.
      const trainedOn = String((await chain.manifest(wanted)).settings.device ?? '');
      if (!device || trainedOn !== openFor) device = await openDeviceOf(trainedOn, options);
      openFor = trainedOn;
      const verified = await verifyVersion(gateway, chain, wanted, how);
      if (verified.same) same++;
      const lines = verifiedLines(verified, chain.name, device.description).map(printable);
      for (const line of options.json
        ? [JSON.stringify({ kind: 'verified', policy: chain.name, ...verified })]
        : lines)
        console.log(line);
      if (keep && !verified.same) break;
    }
    return same;
  } finally {
    device?.close();
  }
}
