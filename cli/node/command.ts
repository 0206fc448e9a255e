/** `rollmesh node`: samples for a mesh on this machine. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import { CLOSE_ENGINES, isCloseEngine, type LeaseOrder, NODE_ENGINES } from '../../core/schema/work.ts';
import { calledAs } from '../called-as.ts';
import { gatewayAddress } from '../shared/mesh-access.ts';
import { whole } from '../shared/run-options.ts';
import { type VersionName, versionName } from '../shared/version-name.ts';
import type { Thread } from './threads.ts';
import { workLine } from './work-line.ts';

interface NodeOptions {
  readonly mesh: string;
  readonly token?: string;
  readonly threads?: number;
  readonly engine: LeaseOrder['engines'];
  readonly server?: string;
  readonly serves?: VersionName;
  readonly adapters?: string;
  readonly model?: string;
  readonly dialect: Dialect;
  readonly json: boolean;
}

const DIALECTS = ['vllm', 'sglang', 'llama.cpp'] as const;
type Dialect = (typeof DIALECTS)[number];

/** A line about what was done comes at most so often, ms. */
const LINE_MS = 5_000;
const IDLE_MS = 500;

export const command = (): Command =>
  new Command(calledAs('node'))
    .description(
      'Samples for a mesh on this machine: leases sampling requests, computes them bit for bit as the mesh would (or closely, with --server and the engines onnxruntime-node and webgpu), and returns the completions.',
    )
    .requiredOption('--mesh <url>', 'address of the mesh')
    .option(
      '--token <token>',
      'token of this node, from `rollmesh node-token create`; better in the variable ROLLMESH_NODE_TOKEN, since everybody on a machine sees its command lines',
    )
    .option('--threads <n>', 'threads that compute; default: those of the machine, and 1 on a GPU', whole(1))
    .addOption(
      new Option(
        '--engine <names...>',
        'engines that it computes with; work of others is left to other nodes. onnxruntime-node and webgpu compute any work in float32 and take the token of a close node',
      )
        .choices([...NODE_ENGINES, ...CLOSE_ENGINES])
        .default(NODE_ENGINES),
    )
    .option(
      '--server <url>',
      'has a server of completions compute, such as http://127.0.0.1:8000/v1, in place of an engine; takes the token of a close node. Its key: ROLLMESH_SERVER_KEY',
    )
    .option(
      '--serves <name@version>',
      'the version that the server holds; its node leases no other, unless it has --adapters',
      versionName,
    )
    .option(
      '--adapters <folder>',
      'has the server load the adapter of each version that it leases over --serves, and drop it after; a folder that the server sees under the same path',
    )
    .option('--model <name>', 'what the server calls the version; default: NAME@N as given to --serves')
    .addOption(new Option('--dialect <name>', 'what kind of server it is').choices(DIALECTS).default('vllm'))
    .option('--json', 'one JSON object per line', false)
    .helpOption('-h, --help', 'show this')
    .action(runNode);

async function runNode({
  mesh,
  token = process.env.ROLLMESH_NODE_TOKEN,
  engine,
  threads: wanted,
  server,
  serves,
  adapters,
  model,
  dialect,
  json,
}: NodeOptions) {
  const url = gatewayAddress(mesh);
  if (!token)
    throw wrongInput('node.token', 'This node has no token.', {
      expected: '--token or the variable ROLLMESH_NODE_TOKEN',
      next: 'Make one where the mesh is: `npx rollmesh node-token create NAME`.',
    });
  if ((server === undefined) !== (serves === undefined))
    throw wrongInput('node.server', `Only ${server === undefined ? '--serves' : '--server'} is given.`, {
      expected: 'both --server and --serves, or neither',
      next: 'Say with --serves NAME@N which version the server holds.',
    });
  if (adapters !== undefined && server === undefined)
    throw wrongInput('node.server', 'Only --adapters is given.', {
      expected: '--server and --serves beside it',
      next: 'Say with --server which server loads the adapters.',
    });
  const close = engine.find(isCloseEngine) ?? null;
  if (close && (engine.length > 1 || server !== undefined))
    throw wrongInput(
      'node.engine',
      `--engine ${close} is given beside ${server ? '--server' : 'another engine'}.`,
      {
        expected: 'a close engine alone: it computes whatever its node leases',
        next: 'Start a node for each.',
      },
    );
  const count = wanted ?? (close === 'webgpu' ? 1 : availableParallelism());
  if (close === 'webgpu' && count > 1)
    throw wrongInput('node.engine', `--threads is ${count} with --engine webgpu.`, {
      expected: '1: threads would share one GPU',
    });
  const [
    { identityOf },
    { loadNative },
    { askingServer, withoutWeights },
    { lend },
    { WorkClient },
    { startThreads },
  ] = await Promise.all([
    import('../../core/audit/work-seal.ts'),
    import('../../infer/node-ort-native.ts'),
    import('../../local/node/ask-server.ts'),
    import('../../local/node/lend.ts'),
    import('../../workers/api/work-client.ts'),
    import('./threads.ts'),
  ]);
  const identity = await identityOf(token);
  // What is missing is to be told before anything is leased.
  if (close) await loadNative(close);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
  const say = (kind: string, fields: object, words: string) =>
    console.log(json ? JSON.stringify({ kind, ...fields }) : words);
  const total = { requests: 0, samples: 0, tokens: 0 };
  let since = { at: performance.now(), tokens: 0 };
  let told: string | undefined;
  const line = () => {
    const seconds = (performance.now() - since.at) / 1000;
    const rate = Math.round((total.tokens - since.tokens) / seconds);
    const generateMs = threads.reduce((sum, thread) => sum + thread.generateMs(), 0);
    const work = {
      ...total,
      tokensPerSecond: rate,
      ...(generateMs > 0 ? { tokensPerThreadSecond: Math.round((1000 * total.tokens) / generateMs) } : {}),
    };
    if (total.tokens > since.tokens) say('work', work, workLine(work));
    since = { at: performance.now(), tokens: total.tokens };
  };
  const trouble = ({ code, message }: { readonly code: string; readonly message: string }) => {
    if (told === code) return;
    told = code;
    say('trouble', { code, message }, `${code}: ${message}`);
  };
  const asked =
    server !== undefined && serves !== undefined
      ? {
          baseUrl: server.replace(/\/$/, ''),
          model: model ?? `${serves.name}@${serves.version}`,
          dialect,
          ...(process.env.ROLLMESH_SERVER_KEY ? { apiKey: process.env.ROLLMESH_SERVER_KEY } : {}),
        }
      : undefined;
  const followed =
    asked && adapters !== undefined
      ? await (await import('./adapter-servers.ts')).follow(asked, {
          folder: resolve(adapters),
          node: identity.node,
          trouble,
        })
      : undefined;
  const asking = asked && askingServer(asked, followed);
  const threads: readonly Thread[] = asking
    ? Array.from({ length: count }, () => ({
        ready: Promise.resolve(),
        compute: asking,
        generateMs: () => 0,
        stop: () => Promise.resolve(),
      }))
    : startThreads(count, close);
  // What is leased before would wait, and others could not have it.
  await Promise.all(threads.map(({ ready }) => ready));
  const lines = setInterval(line, LINE_MS);
  say(
    'node',
    { mesh: url, node: identity.node, threads: count, engines: engine, ...(followed ? { adapters } : {}) },
    `lends ${count} ${count === 1 ? 'thread' : 'threads'} to ${url}${followed ? `; ${server} loads each version’s adapter` : ''}; Ctrl-C ends it`,
  );
  try {
    await lend({
      client: new WorkClient({ url, token: identity.token }),
      identity,
      order: {
        kind: 'process',
        engines: [...engine],
        weights: [...SMALLER_WEIGHTS],
        ...(asking ? {} : { grammars: true, images: true }),
        ...(serves ? { serves: followed ? { ...serves, adapters: true } : serves } : {}),
      },
      threads: threads.map(({ compute }) => compute),
      ...(asking ? { filesOf: withoutWeights } : {}),
      events: {
        answered: ({ samples, tokens }) => {
          total.requests++;
          total.samples += samples;
          total.tokens += tokens;
          told = undefined;
        },
        trouble,
      },
      signal: stop.signal,
      idleMs: IDLE_MS,
    });
  } finally {
    clearInterval(lines);
    line();
    await Promise.all(threads.map((thread) => thread.stop()));
    await followed?.stop();
  }
}
