/** Opening a version from a real D1 and R2: what does not depend on each other is asked for at once, and a wrong file among it is refused by name. */
import { createHash } from 'node:crypto';
import type { D1Database, D1PreparedStatement, R2Bucket } from '@cloudflare/workers-types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { Manifest, VersionFiles } from '../../core/schema/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { writeAdapter } from '../../model/adapter.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';
import type { VersionStore } from '../../workers/shared/committed.ts';
import { openStored } from '../../workers/shared/open-stored.ts';
import { PolicySession } from '../../workers/shared/policy-session.ts';
import { openDatabase } from '../../workers/store/database.ts';
import { manifestOf, noteAndCommit, noteAndCreate, openStore } from '../store/fixture.ts';

const ADAPTER = 'main.adapter.safetensors';
const FORMS = [
  ['kernels', { engine: 'kernels' as const }],
  ['ONNX Runtime', {}],
] as const;
const PROMPTS = [{ ids: [2, 9, 30, 41], sampleIds: ['a', 'b'] }];
const SETTINGS = { maxNew: 8, temperature: 1, stop: [] };

let store: Awaited<ReturnType<typeof openStore>>;
let start: VersionFiles;
beforeAll(async () => {
  store = await openStore();
  start = await readPolicyFolder('models/arithmetic-base');
});
afterAll(() => store.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const keyOf = (policy: string, version: number, file: string) => `policies/${policy}/${version}/${file}`;
const put = (policy: string, version: number, file: string, bytes: Uint8Array) =>
  store.bucket.put(keyOf(policy, version, file), bytes, { sha256: sha256(bytes) });

/** An adapter of rank 2 whose numbers depend on the version. */
function adapterOf(version: number): Uint8Array {
  const tensors: Tensors = new Map();
  const numbers = (rows: number, columns: number) => ({
    shape: [rows, columns],
    data: Float32Array.from({ length: rows * columns }, (_, i) => 0.02 * Math.sin(version + i)),
  });
  for (const [name, { shape }] of readSafetensors(start['model.safetensors']!)) {
    if (!name.endsWith('_proj.weight')) continue;
    tensors.set(name.replace('.weight', '.lora_A.weight'), numbers(2, shape[1]!));
    tensors.set(name.replace('.weight', '.lora_B.weight'), numbers(shape[0]!, 2));
  }
  return writeAdapter({ alpha: 4, tensors });
}

/** A policy whose versions after the first are adapters on the first one's weights. `note`: something that no other policy's config says. */
async function importPolicy(policy: string, versions: number, note = policy): Promise<VersionFiles[]> {
  const json = { ...JSON.parse(new TextDecoder().decode(start['config.json'])), note };
  const config = new TextEncoder().encode(JSON.stringify(json));
  const weights = start['model.safetensors']!;
  const entry = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });
  const out: VersionFiles[] = [];
  for (let version = 0; version < versions; version++) {
    const adapter = version === 0 ? undefined : adapterOf(version);
    const manifest: Manifest = manifestOf(policy, version, {
      files: {
        'config.json': entry(config),
        'model.safetensors': { ...entry(weights), ...(adapter ? { version: 0 } : {}) },
        ...(adapter ? { [ADAPTER]: entry(adapter) } : {}),
      },
    });
    await put(policy, version, 'config.json', config);
    if (adapter) await put(policy, version, ADAPTER, adapter);
    else await put(policy, version, 'model.safetensors', weights);
    await put(policy, version, 'manifest.json', new TextEncoder().encode(JSON.stringify(manifest)));
    if (version === 0) await noteAndCreate(store.db, manifest);
    else await noteAndCommit(store.db, manifest, [], 2);
    out.push({
      'config.json': config,
      'model.safetensors': weights,
      ...(adapter ? { [ADAPTER]: adapter } : {}),
    });
  }
  return out;
}

/** The store, noting what is asked of it. What `together` names is answered once all of it was asked for, and else never. */
function answeringTogether(...together: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const ask = async (name: string) => {
    asked.push(name);
    const group = together.find((names) => names.includes(name)) ?? [];
    if (group.every((one) => asked.includes(one))) for (const answer of waiting.splice(0)) answer();
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const statement = (of: D1PreparedStatement): D1PreparedStatement =>
    ({
      bind: (...values: unknown[]) => statement(of.bind(...values)),
      raw: async () => {
        await ask('row');
        return of.raw();
      },
    }) as unknown as D1PreparedStatement;
  const d1 = { prepare: (query: string) => statement(store.d1.prepare(query)) } as unknown as D1Database;
  const bucket = {
    get: async (key: string) => {
      await ask(key.replace(/^.*\//, ''));
      return store.bucket.get(key);
    },
  } as unknown as R2Bucket;
  return { asked, store: { db: openDatabase(d1), bucket } satisfies VersionStore };
}

const drawn = async (store: VersionStore, ref: PolicyRef) => {
  const policy = await openStored(nodeEngines, store, ref);
  const made = await policy.generate(PROMPTS, SETTINGS);
  await policy.dispose();
  return made;
};

test.each(FORMS)(
  '%s: the row and the manifest of a version are asked for at once, then its weights and its adapter, and its config is kept',
  async (form, how) => {
    const name = `asked-${form.toLowerCase().replace(/\W/, '-')}`;
    const files = await importPolicy(name, 3);
    for (const version of [1, 2]) {
      const { asked, store: gated } = answeringTogether(
        ['row', 'manifest.json'],
        ['model.safetensors', ADAPTER],
      );
      const ref = { name, version, ...how };
      const trusted = await openVersion(nodeEngines, ref, files[version]!);
      expect(await drawn(gated, ref)).toEqual(await trusted.generate(PROMPTS, SETTINGS));
      await trusted.dispose();
      const configs = version === 1 ? ['config.json'] : [];
      expect(asked.slice(0, 2).toSorted()).toEqual(['manifest.json', 'row']);
      expect(asked.slice(2, 2 + configs.length)).toEqual(configs);
      expect(asked.slice(2 + configs.length).toSorted()).toEqual([ADAPTER, 'model.safetensors']);
    }
  },
);

test.each(FORMS)(
  '%s: a wrong file is refused by name, and the right one is opened after it',
  async (form, how) => {
    const name = `wrong-${form.toLowerCase().replace(/\W/, '-')}`;
    const files = await importPolicy(name, 2);
    const ref = { name, version: 1, ...how };
    const trusted = await openVersion(nodeEngines, ref, files[1]!);
    const wanted = await trusted.generate(PROMPTS, SETTINGS);
    await trusted.dispose();
    const session = new PolicySession((asked) => openStored(nodeEngines, store, asked));
    const use = () => session.use(ref, (policy) => policy.generate(PROMPTS, SETTINGS));
    for (const [file, version] of [
      ['config.json', 1],
      [ADAPTER, 1],
      ['model.safetensors', 0],
    ] as const) {
      const right = files[1]![file]!;
      const other = right.slice();
      other[other.length - 2]! ^= 1;
      for (const [wrong, found] of [
        [other, sha256(other)],
        [right.slice(0, -1), sha256(right.slice(0, -1))],
      ] as const) {
        await put(name, version, file, wrong);
        await expect(use()).rejects.toMatchObject({
          kind: 'missing-version',
          what: expect.stringContaining(`${file} has sha256 ${found}`),
        });
      }
      await store.bucket.delete(keyOf(name, version, file));
      await expect(use()).rejects.toThrow(`${file} is gone`);
      await put(name, version, file, right);
    }
    expect(await use()).toEqual(wanted);
  },
);

test('a manifest that was not committed opens nothing', async () => {
  const name = 'planted';
  await importPolicy(name, 1);
  const stored = await store.bucket.get(keyOf(name, 0, 'manifest.json'));
  const planted = { ...JSON.parse(await stored!.text()), groups: ['a'.repeat(32)] };
  await put(name, 0, 'manifest.json', new TextEncoder().encode(JSON.stringify(planted)));
  const { asked, store: noting } = answeringTogether();
  await expect(openStored(nodeEngines, noting, { name, version: 0 })).rejects.toThrow(
    'its manifest is not the one that was committed',
  );
  expect(asked.toSorted()).toEqual(['manifest.json', 'row']);
});
