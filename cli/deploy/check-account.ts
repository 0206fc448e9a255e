/**
 * `npx rollmesh deploy --check`: whether an account is what the mesh assumes, before anything of it is there. One Worker, one database and one bucket
 * under a name of their own are created, asked and deleted again, whatever happens between.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { ENGINES, type Engine, kernelEngineOf } from '../../core/policy/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readStart } from '../../local/find-start.ts';
import { moduleFile } from '../../local/mesh/installation.ts';
import { TRIAL, TRIAL_FILES } from '../../workers/conformance/trial-sample.ts';
import { type Ask, askedWith, conformance, lineOf } from '../conformance/command.ts';
import { chooseAccount, databaseId } from './observe.ts';
import { PRICE } from './plan-text.ts';
import type { Deployment } from './run.ts';
import { AGAIN, must, type RunWrangler, saidBy, wranglerFailure } from './wrangler.ts';

/** The half of the checks that waits for no queue. */
const CHEAP = ['d1.', 'r2.', 'workers.', 'rate-limit'];
/** What wrangler is told where an account on the free plan asks for CPU time of its own. */
const FREE_PLAN = /CPU limits are not supported|\[code: 100328\]/;
/** How long a new address may take until it answers, and how often it is asked, in ms. */
const PATIENCE_MS = 120_000;
const ASK_MS = 2_000;

export interface CheckedAccount extends Pick<Deployment, 'connect' | 'account' | 'say'> {
  /** The account of this folder's mesh, where there is one. */
  readonly home: string | undefined;
}

const sampled = v.object({ ids: v.array(v.number()), ms: v.number() });

/**
 * Checks the account. @returns whether all that was asked holds
 * @throws RollmeshError with a code `deploy.…`; what it had created is deleted, or named where that fails
 */
export const checkAccount = (asked: CheckedAccount): Promise<boolean> =>
  check(asked).catch((error) => {
    throw error instanceof RollmeshError ? ofCheck(error) : error;
  });

async function check({ connect, account, home, say }: CheckedAccount): Promise<boolean> {
  const chosen = await chooseAccount(connect, account, home);
  const wrangler = connect(chosen.id);
  const name = `rollmesh-check-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-check-'));
  const undo: Undo[] = [];
  // An interrupt ends what is under way, and what was created is deleted all the same.
  const interrupt = new AbortController();
  const end = () =>
    interrupt.abort(new RollmeshError('give-up', 'deploy.interrupted', 'The check was interrupted.'));
  process.once('SIGINT', end);
  const run: RunWrangler = async (args, stdin) => {
    interrupt.signal.throwIfAborted();
    return wrangler(args, stdin);
  };
  say(
    `Account ${chosen.name} (${chosen.id}): the Worker, database and bucket ${name} are there for about a minute.`,
  );
  try {
    await must(run, ['d1', 'create', name]);
    undo.push({ what: `the D1 database ${name}`, args: ['d1', 'delete', name, '--skip-confirmation'] });
    const database = await databaseId(run, name);
    if (database === null)
      throw new RollmeshError('retry', 'deploy.database', `Cloudflare does not list ${name} yet.`, {
        expected: 'the D1 database, which was created',
        next: 'Run `npx rollmesh deploy --check` again in a minute.',
      });
    await must(run, ['r2', 'bucket', 'create', name]);
    undo.push({ what: `the R2 bucket ${name}`, args: ['r2', 'bucket', 'delete', name] });
    return await tryWorker(run, { name, database, folder, say, undo, signal: interrupt.signal });
  } finally {
    await takeBack(wrangler, undo, say);
    process.off('SIGINT', end);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A check does not go on where it stopped, as a deployment does. */
const ofCheck = ({ kind, code, what, expected, next, cause }: RollmeshError): RollmeshError =>
  new RollmeshError(kind, code, what, {
    ...(expected ? { expected } : {}),
    ...(next ? { next: next.replace(AGAIN, 'Then run `npx rollmesh deploy --check` again.') } : {}),
    cause,
  });

/** A command that deletes what was created, and the words for it; `before` empties it. */
interface Undo {
  readonly what: string;
  readonly args: readonly string[];
  readonly before?: () => Promise<unknown>;
}

/** Deletes the newest first; what stays is named with its command. */
async function takeBack(run: RunWrangler, undo: readonly Undo[], say: (line: string) => void): Promise<void> {
  for (const { what, args, before } of undo.toReversed()) {
    await before?.().catch(() => undefined);
    const answer = await run(args);
    if (answer.code !== 0)
      say(
        `${what} could not be deleted (${wranglerFailure(args, answer).what}): npx wrangler ${args.join(' ')}`,
      );
  }
}

interface Trial {
  readonly name: string;
  readonly database: string;
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly undo: Undo[];
  readonly signal: AbortSignal;
}

async function tryWorker(
  run: RunWrangler,
  { name, database, folder, say, undo, signal }: Trial,
): Promise<boolean> {
  const config = join(folder, 'wrangler.json');
  // A clone's .env names the gateway's environment; this configuration has none.
  const here = ['--env', '', '--config', config];
  const deployed = (limits: object) => {
    writeFileSync(config, JSON.stringify(configOf(name, database, limits)));
    return run(['deploy', ...here]);
  };
  const gone = { what: `the Worker ${name}`, args: ['delete', name, '--force', ...here] };
  let answer = await deployed({ limits: { cpu_ms: 300_000 } });
  const free = answer.code !== 0 && FREE_PLAN.test(saidBy(answer));
  if (free) answer = await deployed({});
  if (answer.code !== 0) throw wranglerFailure(['deploy'], answer);
  undo.push(gone);
  const url = /https:\/\/[a-z0-9.-]+\.workers\.dev/i.exec(answer.stdout)?.[0];
  if (!url)
    throw new RollmeshError(
      'give-up',
      'deploy.url',
      'The deployment did not say the address of the Worker.',
      {
        expected: 'an address under workers.dev',
        next: 'Open Workers & Pages in the dashboard once, so that the account has a workers.dev name.',
      },
    );
  const token = randomBytes(32).toString('hex');
  await must(run, ['secret', 'bulk', ...here], {
    stdin: JSON.stringify({ CONFORMANCE_TOKEN: token }),
    hidden: [token],
  });
  const ask = askedWith(url, token);
  const asked: Ask = (path, method, body) => {
    signal.throwIfAborted();
    return ask(path, method, body);
  };
  // The bucket is deleted after the Worker, which alone can empty it.
  undo[undo.length - 1] = { ...gone, before: () => ask('/', 'DELETE') };
  await untilItAnswers(asked, url);

  say(
    free
      ? 'Plan   Free: it refuses CPU time beyond 10 ms a call, and sampling takes seconds. Workers Paid is $5 a month.'
      : 'Plan   takes 300,000 ms of CPU time a call, as Workers Paid does.',
  );
  const outcomes = await conformance({ fetch: asked, close: async () => {} }, CHEAP);
  const differ = outcomes.filter(({ holds }) => !holds);
  say(
    `Checks ${outcomes.length - differ.length} of ${outcomes.length} of D1, R2, Workers and rate limits hold.`,
  );
  for (const one of differ) say(lineOf(one));
  const same = await samples(asked, say);
  say(PRICE);
  return !free && differ.length === 0 && same;
}

const configOf = (name: string, database: string, limits: object) => ({
  name,
  main: moduleFile('workers/conformance/trial'),
  compatibility_date: '2026-04-01',
  compatibility_flags: ['nodejs_compat'],
  workers_dev: true,
  ...limits,
  d1_databases: [{ binding: 'DB', database_name: name, database_id: database }],
  r2_buckets: [{ binding: 'BUCKET', bucket_name: name }],
  ratelimits: [{ name: 'LIMIT', namespace_id: '1099', simple: { limit: 5, period: 60 } }],
});

async function untilItAnswers(asked: Ask, url: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await asked('/', 'GET').catch((error) => {
      if (error instanceof RollmeshError) throw error;
      return null;
    });
    await response?.body?.cancel();
    if (response?.status === 200) return;
    if (performance.now() > until)
      throw new RollmeshError('retry', 'deploy.silent', `${url} does not answer.`, {
        expected: 'the Worker that was deployed; a new address takes some minutes at times',
        next: 'Run `npx rollmesh deploy --check` again.',
      });
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
}

/** Samples there, with each engine, and here, and compares the tokens. */
async function samples(asked: Ask, say: (line: string) => void): Promise<boolean> {
  const files = await readStart(TRIAL.policy.name);
  for (const name of TRIAL_FILES) await asked(`/files/${name}`, 'PUT', files[name]);
  let all = true;
  for (const engine of ENGINES.filter((one) => one !== 'kernels-plain')) {
    const here = await tokensHere(engine, files);
    const response = await asked(`/sample/${engine}`, 'POST');
    const answer = v.safeParse(sampled, response.ok ? await response.json() : await response.text());
    const same = answer.success && answer.output.ids.join() === here.join();
    all &&= same;
    say(
      answer.success
        ? `Sample ${here.length} tokens with ${engine} in ${answer.output.ms} ms, opening included: ${same ? 'those of this machine' : `${answer.output.ids.join(' ')} in place of ${here.join(' ')}`}.`
        : `Sample with ${engine}: status ${response.status} in place of ${here.length} tokens${response.status === 503 ? ' (the call was ended for its CPU time or memory)' : ''}.`,
    );
  }
  return all;
}

async function tokensHere(engine: Engine, files: VersionFiles): Promise<number[]> {
  const policy = await openVersion(nodeEngines, { ...TRIAL.policy, engine: kernelEngineOf(engine) }, files);
  try {
    const [drawn] = await policy.generate([TRIAL.prompt], TRIAL.settings);
    return drawn![0]!.ids;
  } finally {
    await policy.dispose();
  }
}
