/**
 * A version is trained again from what the mesh has stored: the same bytes, and a clear word where the records are not what they were.
 * The learner's own code makes the version, over a round that is stored in memory.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { trainAgain, type VerifyOptions, verifiedLines, verifyIn } from '../../cli/verify/verify.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { Random, sha256Hex } from '../../core/random.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/round/play-stages.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { keys, roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import { codeOf } from '../../local/mesh/code-hashes.ts';
import {
  gatherReceipt,
  meshOfReceipt,
  type Receipt,
  readReceipt,
  receiptBytes,
  receiptOf,
  requireRecipes,
} from '../../local/verify/receipt.ts';
import { type VerifiedMesh, VersionChain, verifyVersion } from '../../local/verify/verify-version.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { distil } from '../../recipes/distil/recipe.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { playHonestRound } from './honest-round.ts';
import {
  gatewayOf,
  MESH_KEY,
  putVersion,
  type StoredRound,
  sealAll,
  storeRound,
  versionRow,
} from './stored-round.ts';
import { meshOf, rowOf, rowsOf, start, type Trained, trainStored } from './trained-round.ts';

// The devices that are opened are counted; they are the real ones.
vi.mock('../../learner/device/node-host.ts', { spy: true });

const how = { recipes: shipped, meshKey: MESH_KEY, objectives: objectiveModules([]) };
let device: Device;
let stored: StoredRound;
let manifest: Manifest;
let name: string;

beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
  stored = storeRound(await playHonestRound(1, 3, 4));
  name = stored.spec.settings.policy;
  manifest = await trainStored(stored, shipped, device.description);
});
afterAll(() => device.close());

/** The mesh after the commit, with some of its answers replaced. */
const meshWith = (changes: Partial<VerifiedMesh> = {}): VerifiedMesh =>
  meshOf([{ round: stored, manifest }], changes);

async function verified(version: number, changes: Partial<VerifiedMesh> = {}) {
  const mesh = meshWith(changes);
  return verifyVersion(mesh, await VersionChain.open(mesh, name), version, how);
}

test('training again gives the committed bytes of every file', async () => {
  expect((await VersionChain.open(meshWith(), name)).since(0, 1)).toEqual([1]);
  const result = await verified(1);
  expect(result).toMatchObject({
    version: 1,
    parent: 0,
    round: 1,
    same: true,
    trainedOn: device.description,
  });
  expect(result.groups).toBe(manifest.groups.length);
  expect(result.files.map(({ file }) => file)).toEqual(Object.keys(manifest.files).sort());
  expect(verifiedLines(result, name, device.description)).toEqual([
    expect.stringMatching(
      /^same bytes {2}version 1 of trio-11, trained from version 0 on \d groups of round 1: \d files/,
    ),
  ]);
});

test('a record with one character changed is refused by its hash before anything is trained', async () => {
  const { gateway } = gatewayOf(stored);
  const [group] = manifest.groups;
  const forged = verified(1, {
    getObject: async (key, hash) => {
      const bytes = await gateway.getObject(key, hash);
      if (!key.includes(group!)) return bytes;
      return new TextEncoder().encode(
        new TextDecoder().decode(bytes).replace('"stopped":true', '"stopped":false'),
      );
    },
  });
  await expect(forged).rejects.toMatchObject({ code: 'verify.records' });
  await expect(forged).rejects.toThrow(
    new RegExp(
      `of its ${manifest.groups.length} groups 1 cannot be used; group ${group}: .* is not the one that was sealed`,
    ),
  );
});

test('a seal that does not fit is refused, and so is a group that the database does not know', async () => {
  const { gateway } = gatewayOf(stored);
  const sealed = verified(1, {
    getGroups: async (id) => (await gateway.getGroups(id)).map((one) => ({ ...one, mac: 'a'.repeat(64) })),
  });
  await expect(sealed).rejects.toThrow(/The seal does not fit/);
  await expect(verified(1, { getGroups: () => Promise.resolve([]) })).rejects.toThrow(/has no scored group/);
});

test('an exchanged manifest, pruned files, an import and a version that is not there are named', async () => {
  await expect(
    verified(1, { getManifest: () => Promise.resolve({ ...manifest, groups: [] }) }),
  ).rejects.toMatchObject({ code: 'version.manifest' });
  const versions = [rowOf(manifest), start(stored, { prunedAt: 5 })];
  await expect(
    verified(1, { getPolicy: () => Promise.resolve({ name, current: 1, next: 2, versions }) }),
  ).rejects.toMatchObject({ code: 'version.pruned' });
  await expect(verified(9)).rejects.toMatchObject({
    code: 'version.unknown',
    expected: 'a version from 0 to 1',
  });
  await expect(verified(0)).rejects.toThrow(/was imported and not trained/);
  await expect(VersionChain.open(meshWith(), 'nobody')).rejects.toMatchObject({ code: 'policy.unknown' });
});

test('a version that was trained otherwise is told by file, with what may have made the difference', async () => {
  const files = { ...manifest.files, 'model.safetensors': { sha256: 'b'.repeat(64), bytes: 1 } };
  const other: Manifest = {
    ...manifest,
    files,
    settings: { ...manifest.settings, device: 'WebGPU, some GPU' },
  };
  const result = await verified(1, {
    getManifest: () => Promise.resolve(other),
    getPolicy: () => Promise.resolve({ name, current: 1, next: 2, versions: [rowOf(other), start(stored)] }),
  });
  expect(result.same).toBe(false);
  const lines = verifiedLines(result, name, 'CPU, 1 thread, SIMD');
  expect(lines[0]).toMatch(/^DIFFERENT {3}version 1/);
  expect(lines[1]).toMatch(/model\.safetensors: committed b{16}, trained again [0-9a-f]{16}$/);
  expect(lines.at(-1)).toContain('It was trained on WebGPU, some GPU; this is CPU, 1 thread, SIMD.');
});

test('a version that another policy taught is trained again with the teacher that the round sealed', async () => {
  const start = await readPolicyFolder('models/arithmetic-base');
  const line = (question: string, answer: string, at: number): PlacedTask => ({
    messages: [{ role: 'user', content: question }],
    answer,
    metadata: {},
    difficulty: null,
    file: 'sums',
    line: at,
  });
  const recipe = distil.make({
    name: 'sums',
    start: 'arithmetic-base',
    checker: 'number',
    extract: ['answer'],
    sources: [{ weight: 1, tasks: [line('1+2', '3', 1), line('4+5', '9', 2)] }],
    heldOut: [line('2+2', '4', 3)],
    settings: { teacher: { policy: 'taught' }, maxNew: 12 },
  });
  const recipes = registry([recipe]);
  const { settings } = runOf(recipes, {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'student',
    tasks: 2,
    groupSize: 2,
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const policy = await openVersion(nodeEngines, { name: 'student', version: 0 }, start);
  const tools = {
    ...textOf(start, 'student'),
    use: <T>(_ref: PolicyRef, work: (opened: typeof policy) => Promise<T>) => work(policy),
    recipeState: () => Promise.resolve(undefined),
  };
  const { proposals, groups } = await playStages(openRoundContext({ recipe, round, ...tools }));
  const record = { recipe, round, ...JSON.parse(JSON.stringify({ proposals, groups })) };
  const taught = storeRound({ record, files: start });
  const teacher = await readPolicyFolder('models/arithmetic-chains');
  taught.manifests['taught@0'] = putVersion(taught, teacher, 'taught');
  sealAll(taught);
  const made = await trainStored(taught, recipes, device.description);
  const again = async () => {
    const mesh = meshOf([{ round: taught, manifest: made }]);
    return verifyVersion(mesh, await VersionChain.open(mesh, 'student'), 1, { ...how, recipes });
  };
  expect(await again()).toMatchObject({ version: 1, parent: 0, groups: 2, same: true });
  expect(made.files['model.safetensors']!.sha256).not.toBe(sha256Hex(start['model.safetensors']!));
  // Somebody has put another policy in the teacher's place since.
  putVersion(taught, start, 'taught');
  await expect(again()).rejects.toThrow(/taught/);
});

/** What the command prints for a version of the mesh, the devices that it opens, and whether all bytes are the same. */
async function told(mesh: VerifiedMesh, version: number, more: Partial<VerifyOptions>) {
  const lines: string[] = [];
  vi.stubEnv('MESH_KEY', MESH_KEY);
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const opened = vi.mocked(openDevice).mockClear();
  const options = { recipe: [], device: 'auto' as const, state: '.rollmesh', json: false, ...more };
  try {
    const same = await verifyIn(mesh, { name, version }, options);
    return { same, lines, devices: opened.mock.calls.map(([settings]) => settings) };
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
    device = await openDevice({ device: 'cpu', threads: 1 });
  }
}

describe('a chain of two versions, trained on other devices', () => {
  let chain: readonly [Trained, Trained];
  beforeAll(async () => {
    // The second round of the run, sampled with version 0 too.
    const round = storeRound(await playHonestRound(2, 2, 2, { engine: 'kernels' }));
    for (const [key, bytes] of stored.objects) round.objects.set(key, bytes);
    device = await openDevice({ device: 'cpu', threads: 2 });
    const second = await trainStored(round, shipped, device.description, rowsOf([manifest], stored));
    expect(second).toMatchObject({ version: 2, parent: 1 });
    expect(second.files['model.safetensors']!.sha256).not.toBe(manifest.files['model.safetensors']!.sha256);
    chain = [
      { round: stored, manifest },
      { round, manifest: second },
    ];
  });

  test('is verified from an ancestor on, each version on the device that its manifest names', async () => {
    const { same, lines, devices } = await told(meshOf(chain), 2, { from: 0 });
    expect(lines).toEqual([
      expect.stringMatching(
        /^same bytes {2}version 1 of trio-11, trained from version 0 on \d groups of round 1:/,
      ),
      expect.stringMatching(
        /^same bytes {2}version 2 of trio-11, trained from version 1 on \d groups of round 2:/,
      ),
      '2 of 2 versions have the committed bytes.',
    ]);
    expect(same).toBe(true);
    expect(devices).toEqual([
      { device: 'cpu', threads: 1 },
      { device: 'cpu', threads: 2 },
    ]);
  });

  test('of which one was trained by a GPU and has other bytes: the other one is right', async () => {
    const mesh = meshOf(chain);
    const files = { ...manifest.files, 'optimizer.safetensors': { sha256: 'b'.repeat(64), bytes: 1 } };
    const other = { ...manifest, files, settings: { ...manifest.settings, device: 'WebGPU, some GPU' } };
    const versions = [rowOf(chain[1]!.manifest), rowOf(other), start(stored)];
    const changed: VerifiedMesh = {
      ...mesh,
      getPolicy: () => Promise.resolve({ name, current: 2, next: 3, versions }),
      getManifest: async (ref) => (ref.version === 1 ? other : mesh.getManifest(ref)),
      // What is stored are the bytes of the CPU, under the manifest of before.
      getVersion: (ref, files) => mesh.getVersion(ref, files),
    };
    // In the GPU's place, which this machine need not have.
    vi.mocked(openDevice).mockImplementationOnce(() => Promise.resolve(device));
    const { same, lines, devices } = await told(changed, 2, { from: 0 });
    expect(devices).toEqual([{ device: 'webgpu' }, { device: 'cpu', threads: 2 }]);
    expect(lines.filter((line) => /^\S/.test(line))).toEqual([
      expect.stringMatching(/^DIFFERENT {3}version 1/),
      expect.stringMatching(/^same bytes {2}version 2/),
      '1 of 2 versions have the committed bytes.',
    ]);
    expect(same).toBe(false);
  });

  test('without an ancestor the version alone is verified, by any number of threads', async () => {
    const { lines, devices } = await told(meshOf(chain), 2, { threads: 1 });
    expect(lines).toEqual([
      expect.stringMatching(/^same bytes {2}version 2/),
      '1 of 1 version has the committed bytes.',
    ]);
    expect(devices).toEqual([{ device: 'cpu', threads: 1 }]);
  });

  test.each([
    ['the version itself', 2, 1, /^Nothing lies between version 2 and version 2\./],
    ['a later one', 3, 1, /^Nothing lies between version 3 and version 2\./],
    // As after a rollback.
    [
      'an earlier one from which it does not descend',
      1,
      0,
      /^Version 2 of trio-11 does not descend from version 1\./,
    ],
  ])('is not verified from %s', async (_, from, parent, message) => {
    const versions = [versionRow(2, { parent }), versionRow(1), versionRow(0)];
    const mesh = meshOf(chain, {
      getPolicy: () => Promise.resolve({ name, current: 2, next: 3, versions }),
    });
    const refused = told(mesh, 2, { from });
    await expect(refused).rejects.toMatchObject({ code: 'verify.from', kind: 'wrong-input' });
    await expect(refused).rejects.toThrow(message);
  });

  describe('as a receipt', () => {
    let receipt: Receipt;
    let file: Uint8Array;
    beforeAll(async () => {
      const mesh = meshOf(chain);
      const from = await VersionChain.open(mesh, name);
      receipt = await gatherReceipt(mesh, from, {
        from: 0,
        to: 2,
        madeBy: '0.1.0',
        code: await codeOf(['trio'], []),
      });
      file = await receiptBytes(receipt);
    });

    /** Checks a receipt without the key of the mesh, as a stranger does. @returns how many versions have the committed bytes */
    async function checked(of: Receipt) {
      const mesh = meshOfReceipt(of);
      const log = vi.spyOn(console, 'log').mockImplementation(() => {});
      const options = {
        recipe: [],
        device: 'auto' as const,
        state: 'no-such-folder',
        json: false,
        meshKey: undefined,
      };
      try {
        const opened = await VersionChain.open(mesh, name);
        return await trainAgain(mesh, opened, opened.since(0, 2), { ...options, keep: mesh.keep });
      } finally {
        log.mockRestore();
        device = await openDevice({ device: 'cpu', threads: 1 });
      }
    }

    test('is all that is needed to train the versions again', async () => {
      const read = await readReceipt(file);
      expect(read.contents).toEqual(receipt.contents);
      // The start and the records, and no version that follows from them.
      expect([...read.objects.keys()].filter((key) => /policies\/.*\/[12]\//.test(key))).toEqual([]);
      expect(await checked(read)).toBe(2);
    });

    test('of a recipe that is not here is refused by the recipe’s name, before anything is trained', async () => {
      const others = { recipes: shipped.recipes.filter(({ name }) => name !== 'trio') };
      const names = await (await VersionChain.open(meshOfReceipt(receipt), name)).recipesOf([1, 2]);
      expect(() => requireRecipes(names, shipped)).not.toThrow();
      expect(() => requireRecipes(names, others)).toThrow(
        'The receipt is of recipe trio, which is not here.',
      );
    });

    // CHANGELOG.md promises it: versions, rounds and seals of 0.1.0 stay readable. Later bits may be others, so that how many are equal is left open.
    test('that release 0.1.0 wrote is read, and its versions are trained again', async () => {
      const old = await readReceipt(readFileSync('test/trust/receipt-of-0.1.0.gz'));
      expect(old.contents).toMatchObject({ madeBy: '0.1.0', from: 0, versions: [1, 2] });
      expect(Object.values(old.contents.groups).map((groups) => groups.length)).toEqual([3, 2]);
      await expect(checked(old)).resolves.toBeTypeOf('number');
    });

    test('in which any bit has changed, packed or unpacked, is refused before anything is trained', async () => {
      const unpacked = new Uint8Array(gunzipSync(file));
      const random = new Random('bits of a receipt');
      const flipped = (of: Uint8Array, at: number) => {
        const bytes = of.slice();
        bytes[at]! ^= 1 << random.int(8);
        return bytes;
      };
      const refusal = { code: expect.stringMatching(/^receipt\.(?:damaged|format)$/) };
      for (let i = 0; i < 100; i++) {
        // Byte 4 to 9 of gzip are the time and the system, which say nothing of the receipt.
        const at = 10 + random.int(file.length - 10);
        await expect(readReceipt(flipped(file, at))).rejects.toMatchObject(refusal);
      }
      // Half of them in the index, which is small.
      const index = unpacked.indexOf(10, unpacked.indexOf(10) + 1);
      for (let i = 0; i < 900; i++) {
        const at = random.int(i % 2 ? index : unpacked.length);
        await expect(receiptOf(flipped(unpacked, at))).rejects.toMatchObject(refusal);
      }
      await expect(receiptOf(unpacked.slice(0, -1))).rejects.toMatchObject(refusal);
      await expect(readReceipt(new TextEncoder().encode('{}'))).rejects.toMatchObject({
        code: 'receipt.format',
      });
    });

    /** The receipt with one record of its first round rewritten, and every hash made to fit, as a forger would. */
    function rewritten(change: (group: ScoredGroup) => void): Receipt {
      const contents = structuredClone(receipt.contents);
      const objects = new Map(receipt.objects);
      const [round] = contents.rounds;
      for (const row of contents.groups[round!.id]!) {
        const key = keys.scored(round!.id, row.group);
        const group = JSON.parse(new TextDecoder().decode(objects.get(key)!)) as ScoredGroup;
        change(group);
        const bytes = new TextEncoder().encode(JSON.stringify(group));
        objects.set(key, bytes);
        row.sha256 = sha256Hex(bytes);
      }
      return { contents, sha256: receipt.sha256, objects };
    }

    test.each<[string, () => Receipt, number | RegExp]>([
      [
        'verdicts of the judge',
        () =>
          rewritten(({ judgments }) =>
            judgments.forEach((one) => void Object.assign(one, { ids: one.ids.toReversed() })),
          ),
        0,
      ],
      [
        'log-probabilities',
        () =>
          rewritten(({ samples }) =>
            samples.forEach((one) => void Object.assign(one, { logprobs: one.logprobs.map((p) => p * 2) })),
          ),
        0,
      ],
      [
        'the order',
        () => {
          const contents = structuredClone(receipt.contents);
          Object.assign(contents.rounds[0]!.spec.settings, { seed: 12 });
          return { ...receipt, contents };
        },
        /not those from which its id was made/,
      ],
      [
        'a manifest',
        () => {
          const contents = structuredClone(receipt.contents);
          contents.manifests[`${name}@1`]!.groups.pop();
          return { ...receipt, contents };
        },
        /is not the one that was committed/,
      ],
      [
        'the start',
        () => {
          const objects = new Map(receipt.objects);
          const key = keys.version(name, 0, 'model.safetensors');
          const bytes = objects.get(key)!.slice();
          bytes[bytes.length - 2]! ^= 1;
          return { ...receipt, objects: objects.set(key, bytes) };
        },
        /is another one than its manifest names/,
      ],
      [
        'no groups of a round',
        () => ({ ...receipt, contents: { ...receipt.contents, groups: {} } }),
        /has no scored group/,
      ],
    ])('with %s rewritten and the hashes made to fit shows where it fails', async (_, forged, found) => {
      if (typeof found === 'number') expect(await checked(forged())).toBe(found);
      else await expect(checked(forged())).rejects.toThrow(found);
    });
  });
});
