/** `rollmesh deploy --check` against an account that is Miniflare: what it asks, what it says, and that nothing stays. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { checkAccount } from '../../cli/deploy/check-account.ts';
import type { Answer, RunWrangler } from '../../cli/deploy/wrangler.ts';
import { bundleWorker } from '../../local/mesh/bundle.ts';
import { startMiniflare } from '../../local/mesh/start.ts';

const ok = (stdout = ''): Answer => ({ code: 0, stdout, stderr: '' });
const no = (text: string): Answer => ({ code: 1, stdout: '', stderr: `✘ [ERROR] ${text}\n` });

interface Config {
  readonly name: string;
  readonly main: string;
  readonly limits?: object;
  readonly compatibility_date: string;
  readonly compatibility_flags: string[];
}

/** An account: the databases, buckets and Workers on it, by name. */
class Account {
  readonly databases = new Map<string, string>();
  readonly buckets = new Set<string>();
  readonly workers = new Map<string, { token?: string; close: () => Promise<void>; url: URL }>();
  readonly calls: string[] = [];
  /** On the free plan a Worker may not ask for CPU time, and one that takes much is ended. */
  free = false;
  /** Called with each command before it is done. */
  before = (_said: string): void => {};
  /** The beginnings of commands that fail. */
  readonly failing: string[] = [];

  readonly run: RunWrangler = async (args, stdin) => {
    const said = args.join(' ');
    this.calls.push(said);
    this.before(said);
    if (this.failing.some((start) => said.startsWith(start))) return no('The account said no.');
    const config = () => JSON.parse(readFileSync(args[args.indexOf('--config') + 1]!, 'utf8')) as Config;
    // A clone's .env names an environment that this configuration lacks.
    if (args.includes('--config')) expect(args[args.indexOf('--env') + 1]).toBe('');
    if (said === 'whoami --json')
      return ok(JSON.stringify({ loggedIn: true, accounts: [{ id: 'a1', name: 'Acme' }] }));
    if (said.startsWith('d1 create')) {
      this.databases.set(args[2]!, randomUUID());
      return ok();
    }
    if (said.startsWith('d1 list'))
      return ok(JSON.stringify([...this.databases].map(([name, uuid]) => ({ name, uuid }))));
    if (said.startsWith('d1 delete')) return this.databases.delete(args[2]!) ? ok() : no('no such database');
    if (said.startsWith('r2 bucket create')) {
      this.buckets.add(args[3]!);
      return ok();
    }
    if (said.startsWith('r2 bucket delete'))
      return this.buckets.delete(args[3]!) ? ok() : no('no such bucket');
    if (said.startsWith('deploy')) {
      // Wrangler's own reader of it.
      const { main, limits } = readConfig({ config: args[args.indexOf('--config') + 1]! });
      expect([main, limits?.cpu_ms]).toEqual([config().main, config().limits ? 300_000 : undefined]);
      if (this.free && config().limits)
        return no('CPU limits are not supported for the Free plan. [code: 100328]');
      return this.#deploy(config(), {});
    }
    if (said.startsWith('secret bulk'))
      return this.#deploy(config(), JSON.parse(stdin!) as Record<string, string>);
    if (said.startsWith('delete')) {
      await this.workers.get(args[1]!)!.close();
      return this.workers.delete(args[1]!) ? ok() : no('no such Worker');
    }
    throw new Error(`wrangler ${said}`);
  };

  async #deploy(config: Config, bindings: Record<string, string>): Promise<Answer> {
    await this.workers.get(config.name)?.close();
    const bundle = await bundleWorker(config.main);
    const { mf, close } = await startMiniflare({
      cf: false,
      workers: [
        {
          name: config.name,
          compatibilityDate: config.compatibility_date,
          compatibilityFlags: config.compatibility_flags,
          modulesRoot: bundle.root,
          modules: bundle.modules,
          bindings,
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
          d1Databases: { DB: config.name },
          r2Buckets: { BUCKET: config.name },
          ratelimits: { LIMIT: { namespace_id: '1099', simple: { limit: 5, period: 60 } } },
        },
      ],
    });
    this.workers.set(config.name, { close, url: await mf.unsafeGetDirectURL(config.name) });
    return ok(`Deployed\n  https://${config.name}.acme.workers.dev\n`);
  }

  /** What the internet brings to `https://NAME.acme.workers.dev`. */
  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const worker = this.workers.get(url.hostname.split('.')[0]!)!;
    if (this.free && url.pathname.startsWith('/sample')) return new Response('error 1102', { status: 503 });
    return network(new URL(url.pathname, worker.url), init);
  };
}

const network = globalThis.fetch;
const open: Account[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const account of open.splice(0)) for (const { close } of account.workers.values()) await close();
});

async function checked(account: Account) {
  open.push(account);
  vi.stubGlobal('fetch', account.fetch);
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const result = await checkAccount({
    connect: () => account.run,
    account: undefined,
    home: undefined,
    say,
  }).catch((error: Error) => error);
  return {
    result,
    said: lines.join('\n'),
    left: [...account.databases, ...account.buckets, ...account.workers],
  };
}

test('an account that is what the mesh assumes: eight tokens as here by both engines, and nothing stays', async () => {
  const account = new Account();
  const { result, said, left } = await checked(account);
  expect(said).toMatch(/Plan {3}takes 300,000 ms/);
  expect(said).toMatch(/Checks (\d+) of \1 of D1, R2, Workers/);
  for (const engine of ['onnx', 'kernels'])
    expect(said).toMatch(new RegExp(`Sample 8 tokens with ${engine} in \\d+ ms.*those of this machine`));
  expect(said).toMatch(/Price {2}beyond what the plan includes/);
  expect(result).toBe(true);
  expect(left).toEqual([]);
  // The Worker goes first: it empties the bucket, which could not be deleted otherwise.
  expect(
    account.calls.slice(-3).map((call) => call.replace(/rollmesh-check-\w+/, 'NAME').split(' --')[0]),
  ).toEqual(['delete NAME', 'r2 bucket delete NAME', 'd1 delete NAME']);
});

test('the free plan is told, and calls that it ended', async () => {
  const account = new Account();
  account.free = true;
  const { result, said, left } = await checked(account);
  expect(said).toMatch(/Plan {3}Free/);
  expect(said).toMatch(/Sample with onnx: status 503 .*ended for its CPU time/);
  expect([result, left]).toEqual([false, []]);
});

test('a refusal in the middle leaves nothing, and what cannot be deleted is named with its command', async () => {
  const account = new Account();
  account.failing.push('r2 bucket create', 'd1 delete');
  const { result, said, left } = await checked(account);
  expect(result).toMatchObject({
    code: 'deploy.wrangler',
    what: expect.stringContaining('The account said no'),
  });
  expect(left).toHaveLength(1);
  expect(said).toMatch(
    /the D1 database rollmesh-check-\w+ could not be deleted .*: npx wrangler d1 delete rollmesh-check-\w+ --skip-confirmation/,
  );
});

test('an interrupt begins nothing more, and deletes what is there', async () => {
  const account = new Account();
  account.before = (said) => {
    if (said.startsWith('r2 bucket create')) process.listeners('SIGINT').at(-1)!('SIGINT');
  };
  const { result, left } = await checked(account);
  expect(result).toMatchObject({ code: 'deploy.interrupted' });
  expect(account.calls.some((call) => call.startsWith('deploy'))).toBe(false);
  expect(left).toEqual([]);
});
