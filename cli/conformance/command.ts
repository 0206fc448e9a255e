/** `npx rollmesh conformance`: asks a platform whether it is what the mesh assumes: the local one, or a Worker on an account. See docs/platform.md. */
import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';

interface ConformanceOptions {
  readonly url?: string;
  readonly only: readonly string[];
  readonly json: boolean;
}

/** Asks the Worker, with its token. */
export type Ask = (
  path: string,
  method: 'DELETE' | 'GET' | 'POST' | 'PUT',
  body?: Uint8Array,
) => Promise<Response>;

/** How the platform is asked. */
interface Platform {
  readonly fetch: Ask;
  close(): Promise<void>;
}

/** What a check asks: what is assumed, which file relies on it, and what fails otherwise. */
const said = v.object({ name: v.string(), assumes: v.string(), code: v.string(), otherwise: v.string() });

export interface Outcome extends v.InferOutput<typeof said> {
  readonly holds: boolean;
  /** What was seen in place of what is assumed. */
  readonly seen: string | null;
}

export const command = (): Command =>
  new Command(calledAs('conformance'))
    .description(
      'Checks what the mesh assumes of D1, R2, Queues, Workers and rate limits, on this machine or on an account (docs/platform.md).',
    )
    .option('--url <url>', 'address of the deployed Worker; its token: CONFORMANCE_TOKEN')
    .option('--only <names...>', 'checks whose names begin so', [])
    .option('--json', 'one JSON object per check', false)
    .action(async ({ url, only, json }: ConformanceOptions) => {
      const platform = url === undefined ? await localPlatform() : deployed(url);
      try {
        const outcomes = await conformance(platform, only, (one) =>
          console.log(json ? JSON.stringify(one) : printable(lineOf(one))),
        );
        const failed = outcomes.filter(({ holds }) => !holds).length;
        if (!json) console.log(`${outcomes.length - failed} of ${outcomes.length} hold`);
        if (failed) process.exitCode = 1;
      } finally {
        await platform.close();
      }
      if (process.exitCode) process.exit();
    });

/** A line about a check; of one that differs also which file relies on it, and what fails. */
export function lineOf({ name, assumes, code, otherwise, holds, seen }: Outcome): string {
  const line = `${holds ? 'holds  ' : 'DIFFERS'} ${name}: ${assumes}`;
  return holds ? line : [line, `seen: ${seen}`, `${code} relies on it: ${otherwise}`].join('\n        ');
}

const listing = v.object({ checks: v.array(said) });
const answer = v.object({ holds: v.boolean(), seen: v.nullable(v.string()) });

/** Runs the checks one after the other. @throws RollmeshError `conformance.answer` where it is not the Worker that answers */
export async function conformance(
  { fetch }: Platform,
  only: readonly string[],
  heard: (outcome: Outcome) => void = () => {},
): Promise<readonly Outcome[]> {
  const asked = async <S extends v.GenericSchema>(schema: S, path: string, method: 'GET' | 'POST') => {
    const response = await fetch(path, method);
    const result = v.safeParse(schema, response.status === 200 ? await response.json() : null);
    if (result.success) return result.output;
    throw new RollmeshError(
      'give-up',
      'conformance.answer',
      `/${path} answered with status ${response.status}.`,
      {
        expected: 'the Worker of workers/conformance of this release',
        next: 'Check --url and CONFORMANCE_TOKEN, or deploy it again.',
      },
    );
  };
  const { checks } = await asked(listing, '', 'GET');
  const outcomes: Outcome[] = [];
  const isAsked = ({ name }: Pick<Outcome, 'name'>) =>
    !only.length || only.some((start) => name.startsWith(start));
  for (const check of checks.filter(isAsked)) {
    const outcome = { ...check, ...(await asked(answer, check.name, 'POST')) };
    heard(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

function deployed(url: string): Platform {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw wrongInput('url.invalid', `${JSON.stringify(url)} is not the address of a Worker.`, {
      expected: 'https://…',
    });
  const token = process.env.CONFORMANCE_TOKEN;
  if (!token)
    throw wrongInput('environment.missing', 'The variable CONFORMANCE_TOKEN is not set.', {
      expected: 'the secret CONFORMANCE_TOKEN of that Worker',
    });
  return { fetch: askedWith(url, token), close: async () => {} };
}

export const askedWith =
  (url: string | URL, token: string): Ask =>
  (path, method, body) =>
    fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: body as Uint8Array<ArrayBuffer> } : {}),
    });

const QUEUE = 'rollmesh-conformance';
const DEAD = `${QUEUE}-dead`;

/** The Worker in Miniflare, as workers/conformance/wrangler.toml describes it; nothing is kept. */
export async function localPlatform(): Promise<Platform> {
  const [{ bundleWorker }, { moduleFile }, { startMiniflare }] = await Promise.all([
    import('../../local/mesh/bundle.ts'),
    import('../../local/mesh/installation.ts'),
    import('../../local/mesh/start.ts'),
  ]);
  const token = randomBytes(32).toString('hex');
  const bundle = await bundleWorker(moduleFile('workers/conformance/worker'));
  const { mf, close } = await startMiniflare({
    cf: false,
    workers: [
      {
        name: QUEUE,
        compatibilityDate: '2026-04-01',
        compatibilityFlags: ['nodejs_compat'],
        modulesRoot: bundle.root,
        modules: bundle.modules,
        bindings: { CONFORMANCE_TOKEN: token },
        unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        d1Databases: { DB: QUEUE },
        r2Buckets: { BUCKET: QUEUE },
        queueProducers: { QUEUE },
        queueConsumers: {
          [QUEUE]: { maxBatchSize: 20, maxBatchTimeout: 0, maxRetries: 1, deadLetterQueue: DEAD },
          [DEAD]: { maxBatchSize: 20, maxBatchTimeout: 0 },
        },
        ratelimits: { LIMIT: { namespace_id: '1099', simple: { limit: 5, period: 60 } } },
      },
    ],
  });
  return { fetch: askedWith(await mf.unsafeGetDirectURL(QUEUE), token), close };
}
