/** Reads the present state from Cloudflare: every query that a deployment makes. It changes nothing, and checks answers by schemas. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { type ByWorker, deployOrder } from '../../core/round/stages.ts';
import { type Environment, SECRETS_OF, type Wanted } from './mesh-parts.ts';
import type { MeshState, PullSettings } from './plan.ts';
import {
  type ConnectWrangler,
  jsonIn,
  type RunWrangler,
  unlessMissing,
  wranglerFailure,
} from './wrangler.ts';

const identity = v.object({ accounts: v.array(v.object({ id: v.string(), name: v.string() })) });
const databases = v.array(v.object({ uuid: v.string(), name: v.string() }));
const consumers = v.array(
  v.object({
    type: v.optional(v.string()),
    dead_letter_queue: v.optional(v.nullable(v.string())),
    settings: v.optional(
      v.object({
        max_retries: v.optional(v.nullable(v.number())),
        visibility_timeout_ms: v.optional(v.nullable(v.number())),
      }),
    ),
  }),
);
const secretNames = v.array(v.object({ name: v.string() }));
const deployment = v.object({ versions: v.array(v.object({ version_id: v.string() })) });
const version = v.object({ annotations: v.optional(v.nullable(v.record(v.string(), v.unknown()))) });
const ledger = v.array(v.object({ results: v.array(v.object({ name: v.string() })) }));

const NO_WORKER = /\[code: (?:10007|10090)\]|Worker "[^"]*".* not found|has no deployments/s;

async function ask<S extends v.GenericSchema>(
  run: RunWrangler,
  args: readonly string[],
  schema: S,
  missing = /(?!)/,
): Promise<v.InferOutput<S> | null> {
  const stdout = await unlessMissing(run, args, missing);
  if (stdout === null) return null;
  const parsed = v.safeParse(schema, jsonIn(args, stdout));
  if (parsed.success) return parsed.output;
  throw new RollmeshError(
    'give-up',
    'deploy.output',
    `\`wrangler ${args.join(' ')}\` answered something else than it used to: ${parsed.issues[0].message}`,
    { expected: 'the wrangler that package-lock.json names', next: 'Run `npm ci`.' },
  );
}

export interface Account {
  readonly id: string;
  readonly name: string;
}

/**
 * Chooses the account to deploy to: the named one, else the one in which this folder's mesh lives, else the only one there is.
 *
 * @throws RollmeshError `deploy.login`, `deploy.offline`, or `deploy.account` where the choice is not clear or not allowed
 */
export async function chooseAccount(
  connect: ConnectWrangler,
  named: string | undefined,
  home: string | undefined,
): Promise<Account> {
  const args = ['whoami', '--json'];
  const answer = await connect(named)(args);
  if (answer.code !== 0) throw wranglerFailure(args, answer);
  const { accounts } = v.parse(identity, jsonIn(args, answer.stdout));
  const listed = accounts.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none';
  if (named && home && named !== home)
    throw wrongInput('deploy.account', `CLOUDFLARE_ACCOUNT_ID is ${named}.`, {
      expected: `${home}, where the mesh of this folder lives`,
      next: 'Unset it, or move .deploy/ and wrangler.deploy.toml away for a second mesh.',
    });
  const id = named ?? home ?? (accounts.length === 1 ? accounts[0]!.id : undefined);
  const account = accounts.find((candidate) => candidate.id === id);
  if (account) return account;
  throw wrongInput(
    'deploy.account',
    id ? `Wrangler may not act for account ${id}.` : 'It is not clear which account to deploy to.',
    {
      expected: id ? `one of its accounts: ${listed}` : `CLOUDFLARE_ACCOUNT_ID to be one of ${listed}`,
      next: id
        ? 'Log in with `npx wrangler login` as somebody who may, or set CLOUDFLARE_API_TOKEN of that account.'
        : 'Set it and run `npx rollmesh deploy` again.',
    },
  );
}

/** The part of the state that wrangler reports; addresses, sources and kept secrets come from elsewhere. */
export type RemoteState = Omit<MeshState, 'sources' | 'url' | 'seed' | 'known'>;

export async function observe(
  run: RunWrangler,
  wanted: Wanted,
  configFor: (databaseId: string) => string,
): Promise<RemoteState> {
  const [database, bucket, queues, pull, secrets, live] = await Promise.all([
    observeDatabase(run, wanted.database, configFor),
    // This fails on a missing bucket and needs only R2's permission. `bucket list` shows only the first page.
    unlessMissing(
      run,
      ['r2', 'bucket', 'lifecycle', 'list', wanted.bucket],
      /\[code: 10006\]|bucket does not exist/,
    ),
    observeQueues(run, wanted.queues),
    observePull(run, wanted.pullQueue),
    byWorker(wanted, (environment) => observeSecrets(run, environment)),
    byWorker(wanted, (environment) => observeVersion(run, environment)),
  ]);
  return { ...database, bucket: bucket !== null, queues, pull, secrets, live };
}

/** Asks about one Worker after the other, since each query is a process and this machine may be small. */
async function byWorker<T>(
  { workers }: Wanted,
  of: (environment: Environment) => Promise<T>,
): Promise<ByWorker<T>> {
  const found: [Environment, T][] = [];
  for (const environment of deployOrder(workers)) found.push([environment, await of(environment)]);
  return Object.fromEntries(found) as unknown as ByWorker<T>;
}

/** The id of the database with this name; null where it does not exist. */
export async function databaseId(run: RunWrangler, name: string): Promise<string | null> {
  const all = await ask(run, ['d1', 'list', '--json'], databases);
  return all?.find((database) => database.name === name)?.uuid ?? null;
}

async function observeDatabase(
  run: RunWrangler,
  name: string,
  configFor: (databaseId: string) => string,
): Promise<Pick<MeshState, 'databaseId' | 'migrations'>> {
  const id = await databaseId(run, name);
  if (id === null) return { databaseId: null, migrations: [] };
  // Not `d1 migrations list`: it would create its table, and a query must change nothing. The id is read from a configuration, hence the file.
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  try {
    const config = join(folder, 'wrangler.toml');
    writeFileSync(config, configFor(id));
    const query = 'SELECT name FROM d1_migrations';
    const args = ['d1', 'execute', name, '--remote', '--json', '--command', query];
    const rows = await ask(
      run,
      [...args, '--env', 'gateway', '--config', config],
      ledger,
      /no such table: d1_migrations/,
    );
    return {
      databaseId: id,
      migrations: rows?.flatMap(({ results }) => results.map((row) => row.name)) ?? [],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function queueId(run: RunWrangler, name: string): Promise<string | null> {
  const text = await unlessMissing(run, ['queues', 'info', name], /Queue "[^"]*" does not exist/);
  return text === null ? null : (/^Queue ID:\s*(\S+)/m.exec(text)?.[1] ?? null);
}

async function observeQueues(run: RunWrangler, names: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const id = await queueId(run, name);
    if (id !== null) found[name] = id;
  }
  return found;
}

async function observePull(run: RunWrangler, queue: string): Promise<PullSettings | null> {
  const args = ['queues', 'consumer', 'list', queue, '--json'];
  const found = (await ask(run, args, consumers, /Queue "[^"]*" does not exist/))?.find(
    (consumer) => consumer.type === 'http_pull',
  );
  if (!found) return null;
  const { max_retries: retries = null, visibility_timeout_ms: visibleMs } = found.settings ?? {};
  return {
    retries,
    visibilitySeconds: visibleMs == null ? null : visibleMs / 1000,
    deadLetters: found.dead_letter_queue || null,
  };
}

async function observeSecrets(run: RunWrangler, environment: Environment): Promise<readonly string[]> {
  if (SECRETS_OF[environment].length === 0) return [];
  const found = await ask(run, ['secret', 'list', '--env', environment], secretNames, NO_WORKER);
  return found?.map(({ name }) => name) ?? [];
}

/** The tag of the one version that gets all traffic; null where there is none, or where traffic is split by hand. */
async function observeVersion(run: RunWrangler, environment: Environment): Promise<string | null> {
  const at = ['--json', '--env', environment];
  const live = await ask(run, ['deployments', 'status', ...at], deployment, NO_WORKER);
  if (live?.versions.length !== 1) return null;
  const shown = await ask(run, ['versions', 'view', live.versions[0]!.version_id, ...at], version);
  const tag = shown?.annotations?.['workers/tag'];
  return typeof tag === 'string' ? tag : null;
}
