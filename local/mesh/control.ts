/** Asks the Worker of local/mesh/control.worker.ts, with a secret that nobody else knows. */
import { randomBytes } from 'node:crypto';
import type { WorkerOptions } from 'miniflare';
import { RollmeshError } from '../../core/errors.ts';
import { bundleWorker } from './bundle.ts';
import { moduleFile } from './installation.ts';
import type { Statements } from './migrate.ts';

export const CONTROL = 'rollmesh-control';

/** What the Worker does, by the path that asks for it. */
const DEEDS = {
  '/exec': 'write its database',
  '/all': 'read its database',
  '/tick': 'run a tick of its clock',
} as const;

export interface Control extends Statements {
  readonly options: WorkerOptions;
  /** Runs one tick of the clock. */
  readonly tick: () => Promise<void>;
}

/** @param address where the door in front of it listens, once the mesh is up */
export async function openControl(gateway: WorkerOptions, address: () => Promise<URL>): Promise<Control> {
  const bundle = await bundleWorker(moduleFile('local/mesh/control.worker'));
  const secret = randomBytes(32).toString('hex');
  const ask = async (path: keyof typeof DEEDS, body = ''): Promise<unknown> => {
    const url = new URL(path, await address());
    const headers = { authorization: `Bearer ${secret}`, connection: 'close' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    if (answer.ok) return answer.json();
    throw new RollmeshError(
      'retry',
      'mesh.control',
      `The mesh did not ${DEEDS[path]}: ${await answer.text()}.`,
      {
        next: 'Start it again; mesh.log in its state folder says more.',
      },
    );
  };
  return {
    options: {
      name: CONTROL,
      compatibilityDate: '2026-04-01',
      compatibilityFlags: ['service_binding_extra_handlers'],
      modulesRoot: bundle.root,
      modules: bundle.modules,
      bindings: { SECRET: secret },
      d1Databases: gateway.d1Databases,
      serviceBindings: { GATEWAY: gateway.name! },
    },
    exec: (sql) => ask('/exec', sql),
    all: async (sql) => (await ask('/all', sql)) as { name: string }[],
    tick: async () => {
      await ask('/tick');
    },
  };
}
