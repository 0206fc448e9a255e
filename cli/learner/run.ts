/** The learner as a process of its own: opens device, gateway and queue, and trains until it is asked to end. */

import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { keepImagesUpTo, MOST_IMAGE_BYTES } from '../../core/images/image.ts';
import { serverDevice } from '../../core/plan/by-server.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { Evaluator } from '../../learner/loop/evaluator.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { TrainingDevice } from '../../learner/loop/training-device.ts';
import { TinkerClient } from '../../learner/tinker/client.ts';
import { TinkerTrainer } from '../../learner/tinker/tinker-trainer.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';
import { Tally } from '../../workers/api/tally.ts';
import { openRecipes } from '../recipe-modules.ts';
import { SamplingThreads } from './sampling-threads.ts';

export interface LearnerOptions {
  readonly recipe: readonly string[];
  readonly env?: string;
  readonly toldByParent?: boolean;
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  /** The URL of a server of Tinker's API. */
  readonly backend?: string;
  readonly baseModel?: string;
  readonly revectorize: boolean;
  readonly evalEvery: number;
  readonly maxStaleness: number;
  readonly leaseSeconds: number;
  readonly idleMs: number;
  readonly auditFraction: number;
  readonly run?: string;
}

function required(name: string, what: string): string {
  const value = process.env[name];
  if (value) return value;
  throw wrongInput('environment.missing', `The variable ${name} is not set.`, {
    expected: what,
    next: 'See docs/deploy.md, or run `npx rollmesh start` for a local mesh.',
  });
}

/** Reads environment variables from a file; those that are already set win. */
function readEnvironment(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (cause) {
    throw wrongInput('environment.file', `The file ${file} cannot be read.`, {
      expected: 'lines NAME=value, as `npx rollmesh deploy` writes them into .deploy/learner.env',
      cause,
    });
  }
}

/** Adds the environment variables that the parent process sends once it knows them; ends this process where the parent ends before that. */
async function environmentOfParent(): Promise<void> {
  const told = await new Promise<Record<string, string>>((resolve) => {
    process.once('disconnect', () => process.exit(1));
    process.once('message', resolve as (message: unknown) => void);
  });
  process.removeAllListeners('disconnect');
  process.disconnect();
  Object.assign(process.env, told);
}

/** Logs one JSON object per line on standard error; the fields never contain a secret. */
const log = (event: string, fields: Readonly<Record<string, unknown>>) =>
  console.error(JSON.stringify({ at: new Date().toISOString(), event, ...fields }));

async function run(options: LearnerOptions, sampling: SamplingThreads): Promise<void> {
  const { device: kind, threads, revectorize, evalEvery, backend } = options;
  if (options.env !== undefined) readEnvironment(options.env);
  const recipes = await openRecipes(options.recipe);
  const device = await TrainingDevice.start(
    // With a server, losses of a few numbers a token are all that is computed here.
    backend
      ? { device: 'cpu', revectorize: false, threads: 1 }
      : { device: kind, revectorize, ...(threads ? { threads } : {}) },
    (description, measured) => log('learner.device', { device: description, measured }),
  );
  // While the mesh starts, a core has time for it.
  if (options.run !== undefined && evalEvery > 0) sampling.prepare();
  if (options.toldByParent) await environmentOfParent();
  keepImagesUpTo(MOST_IMAGE_BYTES);
  const { maxStaleness, leaseSeconds, idleMs, auditFraction } = options;
  const tally = new Tally();
  const gateway = new GatewayClient({
    tally,
    url: required('ROLLMESH_URL', 'the address of the gateway'),
    token: required('LEARNER_TOKEN', 'the learner token of the mesh'),
  });
  const queue = new PullQueue({
    tally,
    baseUrl: process.env.QUEUE_API_URL ?? 'https://api.cloudflare.com/client/v4',
    accountId: required('CLOUDFLARE_ACCOUNT_ID', 'the id of the Cloudflare account'),
    queueId: required('SCORED_QUEUE_ID', 'the 32-digit id of the queue rollmesh-scored'),
    token: required('QUEUE_TOKEN', 'an API token that may read and write queues'),
  });
  const meshKey = process.env.MESH_KEY;
  const trainsOn = () => (backend ? serverDevice(backend) : device.description);
  log('learner.started', { device: trainsOn(), sealChecked: meshKey !== undefined });
  const trainer = backend
    ? new TinkerTrainer({
        client: new TinkerClient({ url: backend, apiKey: process.env.TINKER_API_KEY }),
        baseModel: options.baseModel,
        objectives: objectiveModules(recipes.modules),
      })
    : new RoundTrainer({ objectives: objectiveModules(recipes.modules), open: device.open });
  const makeRoom = (): void => {
    const { description } = device; // of the device that is closed
    const bytes = device.makeRoom(trainer);
    if (bytes > 0) log('learner.room', { device: description, bytes });
  };
  const evaluator =
    evalEvery > 0
      ? new Evaluator(gateway, recipes.registry, evalEvery, makeRoom, undefined, options.run, sampling)
      : null;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await runLearner(
    {
      queue,
      gateway,
      trainer,
      ...(evaluator
        ? {
            evaluate: (round, { version }) => evaluator.after(round, version),
            evaluateAhead: (ready) => evaluator.ahead(ready),
          }
        : {}),
      log,
      tally,
    },
    {
      recipes: recipes.registry,
      ...(meshKey === undefined ? {} : { meshKey }),
      maxStaleness,
      leaseMs: leaseSeconds * 1000,
      longestIdleMs: idleMs,
      ...(auditFraction === 0 ? {} : { audit: openAudit(auditFraction) }),
      // Read when a version is published: the first round's policy decides.
      get device() {
        return trainsOn();
      },
    },
    stop.signal,
  );
  log('learner.stopped', {});
}

export async function learn(options: LearnerOptions): Promise<void> {
  const sampling = new SamplingThreads();
  try {
    await run(options, sampling);
  } catch (error) {
    // This line is for the supervising process; what the program prints when it ends is for people.
    if (error instanceof RollmeshError) {
      const { kind, code, what, expected, next } = error;
      log('learner.failed', { kind, code, what, expected, next });
    }
    throw error;
  } finally {
    await sampling.stop();
  }
}
