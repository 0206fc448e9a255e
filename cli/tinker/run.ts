/** Starts the server of the Tinker API and runs it until it is asked to end. */
import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import { TrainingDevice } from '../../learner/loop/training-device.ts';
import { findStart, startFolder } from '../../local/find-start.ts';
import { Checkpoints } from '../../local/tinker/checkpoints.ts';
import { tinkerRoutes } from '../../local/tinker/routes.ts';
import { serveTinker } from '../../local/tinker/serve.ts';
import { type Base, TinkerService } from '../../local/tinker/service.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { refuseTakenPort } from '../port.ts';
import { openStateFolder } from '../shared/state-folder.ts';

export interface TinkerOptions {
  readonly model: readonly string[];
  readonly port: number;
  readonly state: string;
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
}

/** A model of the command line: a folder, a start policy, or either under a name of the user's. */
async function baseOf(given: string): Promise<[name: string, base: Base]> {
  const [, named, place = given] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  const isFolder = existsSync(place) && statSync(place).isDirectory();
  if (!isFolder && !findStart(place))
    throw wrongInput('tinker.base', `There is no folder ${place}, and no start policy of that name.`, {
      expected: 'a folder in the Hugging Face layout, or a start policy such as arithmetic-base',
    });
  const folder = isFolder ? resolve(place) : await startFolder(place);
  return [named ?? basename(folder), { files: await readPolicyFolder(folder), folder }];
}

export async function serve({ model, port, state, device: kind, threads }: TinkerOptions): Promise<void> {
  const bases = new Map<string, Base>();
  for (const [name, base] of await Promise.all(model.map(baseOf))) {
    if (bases.has(name))
      throw wrongInput('tinker.base', `Two models are called ${name}.`, {
        next: 'Name one of them: NAME=FOLDER.',
      });
    bases.set(name, base);
  }
  await refuseTakenPort(port);
  const device = await TrainingDevice.start(
    { device: kind, ...(threads ? { threads } : {}) },
    (description, why) => console.error(`trains on ${description}${why ? ` (${why})` : ''}`),
  );
  const service = new TinkerService(
    bases,
    new Checkpoints(join(openStateFolder(state, false), 'tinker')),
    device,
  );
  const apiKey = process.env.TINKER_API_KEY || undefined;
  const { url, close } = await serveTinker(tinkerRoutes(service, { apiKey }), port);
  console.log(`${url} answers Tinker's API for ${[...bases.keys()].join(', ')}; checkpoints in ${state}.`);
  console.log(apiKey ? 'Callers send the key of TINKER_API_KEY.' : 'Programs of this machine need no key.');
  await new Promise<void>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end());
  });
  await close();
  await service.dispose();
}
