/**
 * A stand-in of wrangler and the account behind it: keeps what is created, refuses what Cloudflare would refuse, records every
 * call. Texts and exit statuses are those of wrangler 4.86.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, ConnectWrangler } from '../../../cli/deploy/wrangler.ts';

interface FakeWorker {
  readonly secrets: Map<string, string>;
  readonly versions: { readonly id: string; readonly tag: string | null }[];
}

const ok = (stdout: string): Answer => ({ code: 0, stdout, stderr: '' });
const no = (text: string): Answer => ({ code: 1, stdout: '', stderr: `✘ [ERROR] ${text}\n` });
const asJson = (value: unknown) => ok(`${JSON.stringify(value, null, 2)}\n`);

/** Who reads and who writes which queue, by hand from the picture in README.md. */
const READS: Readonly<Record<string, string>> = {
  'rollmesh-propose': 'proposer',
  'rollmesh-rollout': 'rollout',
  'rollmesh-judge': 'judge',
};
const WRITES: Readonly<Record<string, readonly string[]>> = {
  judge: ['rollmesh-scored'],
  rollout: ['rollmesh-judge'],
  proposer: ['rollmesh-rollout'],
  gateway: ['rollmesh-propose', 'rollmesh-rollout', 'rollmesh-judge', 'rollmesh-scored'],
};

/** Whose service binding names which Worker: wrangler does not deploy it before that one. */
const BOUND: Readonly<Record<string, string>> = { gateway: 'rollout', environment: 'gateway' };

export class FakeWrangler {
  accounts = [{ id: 'a1', name: 'Acme' }];
  loggedIn = true;
  online = true;
  readonly calls: { readonly account: string | undefined; readonly args: readonly string[] }[] = [];
  /** Everything that changed the account, in order. */
  readonly changes: string[] = [];
  /** Text to fail with instead of making the change of that number (from 0). */
  readonly failures = new Map<number, string>();
  readonly databases = new Map<string, { readonly id: string; readonly applied: Set<string> | null }>();
  readonly buckets = new Set<string>();
  readonly queues = new Map<string, { readonly id: string; pull: object | null }>();
  readonly workers = new Map<string, FakeWorker>();
  readonly #root: string;
  readonly #migrations: () => readonly string[];
  #ids = 0;
  #attempts = 0;

  constructor(root: string, migrations: () => readonly string[]) {
    this.#root = root;
    this.#migrations = migrations;
  }

  readonly connect: ConnectWrangler = (account) => async (args, stdin) => {
    this.calls.push({ account, args });
    return this.#answer(args, stdin ?? '');
  };

  #answer(args: readonly string[], stdin: string): Answer {
    const option = (name: string) => args[args.indexOf(name) + 1] ?? '';
    const has = (...words: string[]) => words.every((word, i) => args[i] === word);
    if (!this.online) return no("Unable to resolve Cloudflare's API hostname (api.cloudflare.com).");
    if (has('whoami'))
      return this.loggedIn
        ? asJson({ loggedIn: true, accounts: this.accounts })
        : { code: 1, stdout: '{"loggedIn":false}\n', stderr: '' };
    if (!this.loggedIn)
      return no(
        "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable for wrangler to work.",
      );
    const env = option('--env');
    if (has('d1', 'list'))
      return asJson([...this.databases].map(([name, { id }]) => ({ uuid: id, name, version: 'production' })));
    if (has('d1', 'create')) return this.#createDatabase(args[2]!);
    if (has('d1', 'execute')) {
      const { id, applied } = this.databases.get(args[2]!)!;
      if (!readFileSync(option('--config'), 'utf8').includes(id)) return no('The database does not exist.');
      if (applied === null) return no('no such table: d1_migrations: SQLITE_ERROR');
      return asJson([{ results: [...applied].map((name) => ({ name })), success: true, meta: {} }]);
    }
    if (has('d1', 'migrations', 'apply')) return this.#migrate(args[3]!, option('--config'));
    if (has('r2', 'bucket', 'lifecycle', 'list'))
      return this.buckets.has(args[4]!)
        ? ok('Listing lifecycle rules\n')
        : no('The specified bucket does not exist. [code: 10006]');
    if (has('r2', 'bucket', 'create'))
      return this.#change(`bucket ${args[3]}`, !this.buckets.has(args[3]!), () => this.buckets.add(args[3]!));
    if (has('queues', 'info')) {
      const queue = this.queues.get(args[2]!);
      return queue
        ? ok(`Queue Name: ${args[2]}\nQueue ID: ${queue.id}\n`)
        : no(`Queue "${args[2]}" does not exist. To create it, run: wrangler queues create ${args[2]}`);
    }
    if (has('queues', 'create'))
      return this.#change(`queue ${args[2]}`, !this.queues.has(args[2]!), () =>
        this.queues.set(args[2]!, { id: this.#id('q'), pull: null }),
      );
    if (has('queues', 'consumer', 'list')) {
      const queue = this.queues.get(args[3]!);
      return queue
        ? asJson(queue.pull ? [queue.pull] : [])
        : no(`Queue "${args[3]}" does not exist. To create it, run: wrangler queues create ${args[3]}`);
    }
    if (has('queues', 'consumer', 'http', 'add')) return this.#addPull(args[4]!, option);
    if (has('secret', 'list')) {
      const worker = this.workers.get(env);
      return worker
        ? asJson([...worker.secrets.keys()].map((name) => ({ name, type: 'secret_text' })))
        : no(`Worker "rollmesh-${env}" (env: ${env}) not found.\n\nIf this is a new Worker, run …`);
    }
    if (has('secret', 'bulk')) return this.#putSecrets(env, stdin);
    if (has('deployments', 'status')) {
      const worker = this.workers.get(env);
      if (!worker)
        return no('A request to the Cloudflare API failed: This Worker does not exist. [code: 10007]');
      return asJson({ id: 'd', versions: [{ version_id: worker.versions.at(-1)!.id, percentage: 100 }] });
    }
    if (has('versions', 'view')) {
      const found = [...this.workers.values()].flatMap((w) => w.versions).find(({ id }) => id === args[2]);
      return asJson({ id: args[2], annotations: found?.tag ? { 'workers/tag': found.tag } : {} });
    }
    if (has('deploy')) return this.#deploy(env, option('--config'), option('--tag'));
    return no(`Unknown arguments: ${args.join(' ')}`);
  }

  #id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${String(this.#ids).padStart(8, '0')}`;
  }

  #change(what: string, allowed: boolean, make: () => void, said = ''): Answer {
    const failure = this.failures.get(this.#attempts);
    this.#attempts += 1;
    if (failure !== undefined) return no(failure);
    if (!allowed) return no(`${what}: already exists or not allowed. [code: 10004]`);
    make();
    this.changes.push(what);
    return ok(`${said}\n`);
  }

  #createDatabase(name: string): Answer {
    return this.#change(`database ${name}`, !this.databases.has(name), () =>
      this.databases.set(name, { id: this.#id('db'), applied: null }),
    );
  }

  #migrate(name: string, config: string): Answer {
    const database = this.databases.get(name)!;
    const knows = readFileSync(join(this.#root, config), 'utf8').includes(database.id);
    return this.#change(`migrate ${name}`, knows, () =>
      this.databases.set(name, { ...database, applied: new Set(this.#migrations()) }),
    );
  }

  #addPull(queue: string, option: (name: string) => string): Answer {
    const known = this.queues.get(queue);
    const letters = option('--dead-letter-queue');
    return this.#change(`pull ${queue}`, known?.pull === null && this.queues.has(letters), () => {
      known!.pull = {
        type: 'http_pull',
        dead_letter_queue: letters,
        settings: {
          max_retries: Number(option('--message-retries')),
          visibility_timeout_ms: Number(option('--visibility-timeout-secs')) * 1000,
        },
      };
    });
  }

  /** Like wrangler: a Worker that is not there is made as a draft; secrets make a version without a tag. */
  #putSecrets(env: string, stdin: string): Answer {
    const values = Object.entries(JSON.parse(stdin) as Record<string, string>);
    return this.#change(`secrets ${env} ${values.map(([name]) => name).join(' ')}`, true, () => {
      const worker = this.workers.get(env) ?? { secrets: new Map<string, string>(), versions: [] };
      for (const [name, value] of values) worker.secrets.set(name, value);
      worker.versions.push({ id: this.#id('v'), tag: null });
      this.workers.set(env, worker);
    });
  }

  #deploy(env: string, config: string, tag: string): Answer {
    const text = readFileSync(join(this.#root, config), 'utf8');
    const served = (queue: string) => {
      const reader = READS[queue];
      return reader === undefined ? this.queues.get(queue)?.pull != null : this.#isUp(reader);
    };
    const allowed =
      [...this.databases.values()].every(({ id, applied }) => text.includes(id) && applied !== null) &&
      [...Object.keys(READS), 'rollmesh-dlq', 'rollmesh-scored'].every((queue) => this.queues.has(queue)) &&
      (WRITES[env] ?? []).every(served) &&
      (BOUND[env] === undefined || this.#isUp(BOUND[env]));
    const url = env === 'gateway' ? '  https://rollmesh-gateway.acme.workers.dev' : '';
    return this.#change(
      `worker ${env}`,
      allowed,
      () => {
        const worker = this.workers.get(env) ?? { secrets: new Map<string, string>(), versions: [] };
        worker.versions.push({ id: this.#id('v'), tag });
        this.workers.set(env, worker);
      },
      `Uploaded rollmesh-${env} (1 sec)\nDeployed rollmesh-${env} triggers (1 sec)\n${url}\nCurrent Version ID: v`,
    );
  }

  #isUp(env: string): boolean {
    return (this.workers.get(env)?.versions ?? []).some(({ tag }) => tag !== null);
  }
}
