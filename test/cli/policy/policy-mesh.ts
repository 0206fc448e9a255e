/** One mesh for a test file, on a folder of its own, and the checkpoints that the tests import. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readImport, storeImport } from '../../../cli/policy/import-checkpoint.ts';
import { startSharedMesh } from '../../../cli/shared/state-access.ts';
import { openStateFolder } from '../../../cli/shared/state-folder.ts';
import { GatewayClient } from '../../../workers/api/gateway-client.ts';

export interface TestMesh {
  /** State folder of the mesh: what `--state` takes. */
  readonly state: string;
  readonly gateway: GatewayClient;
  /** A path for a new file or folder. */
  path(name: string): string;
  /** Writes a text file and returns its path. */
  write(name: string, text: string): string;
  /** A copy of a reference checkpoint in which something can be broken. */
  copyOf(name: string, to: string): Promise<string>;
  import(folder: string, name: string, tokenizer?: boolean): Promise<void>;
  /** Stops the mesh and leaves its folder as it is. */
  rest(): Promise<void>;
  /** Stops the mesh, where it runs, and removes its folder. */
  stop(): Promise<void>;
}

export async function startTestMesh(): Promise<TestMesh> {
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-policy-'));
  const state = openStateFolder(join(root, 'state'), false);
  const { mesh, stop } = await startSharedMesh({ stateDir: state, cronMs: 0 });
  const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
  const path = (name: string) => join(root, name);
  let stopped: Promise<void> | undefined;
  const rest = () => {
    stopped ??= stop();
    return stopped;
  };
  return {
    state,
    gateway,
    path,
    write: (name, text) => {
      writeFileSync(path(name), text);
      return path(name);
    },
    copyOf: async (name, to) => {
      await mkdir(path(to));
      for (const file of ['config.json', 'model.safetensors'])
        await cp(join('test/oracle/models', name, file), join(path(to), file));
      return path(to);
    },
    import: async (folder, name, tokenizer = false) => {
      await storeImport(gateway, await readImport(folder, name, { tokenizer }));
    },
    rest,
    stop: async () => {
      await rest();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** All results of an async generator. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}
