/** A server of the Tinker API in this process, and what a client library of Tinker sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VersionFiles } from '../../../core/schema/policy.ts';
import { Checkpoints } from '../../../local/tinker/checkpoints.ts';
import { type RouteOptions, tinkerRoutes } from '../../../local/tinker/routes.ts';
import { TinkerService } from '../../../local/tinker/service.ts';
import recorded from './recorded.json' with { type: 'json' };

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly accept?: string;
  readonly type?: string;
  readonly json?: object;
  readonly bytes?: string;
  readonly status: number;
}
export const requests: readonly Recorded[] = recorded.requests;

/** A message or archive that Python made. */
export const made = (name: keyof typeof recorded.messages): Uint8Array =>
  new Uint8Array(Buffer.from(recorded.messages[name], 'base64'));

export const URL_OF_SERVER = 'http://tinker.test';

/** `bases`: files of models by their names. The learner's device has to be open. Its `fetch` reaches this server alone. */
export function openServer(
  bases: Readonly<Record<string, VersionFiles>>,
  options: RouteOptions & { readonly state?: string; readonly ids?: () => string } = {},
) {
  const { state = mkdtempSync(join(tmpdir(), 'tinker-')), ids, ...routes } = options;
  const models = new Map(
    Object.entries(bases).map(([name, files]) => [name, { files, folder: `models/${name}` }]),
  );
  const service = new TinkerService(models, new Checkpoints(state), { open: async () => {} }, ids);
  const app = tinkerRoutes(service, routes);
  const send: typeof fetch = async (...asked) => app.fetch(new Request(...asked));
  /** `keep`: the checkpoints stay for a server that is started again. */
  const dispose = async (keep = false) => {
    await service.dispose();
    if (!keep) rmSync(state, { recursive: true, force: true });
  };
  return { state, fetch: send, dispose };
}
