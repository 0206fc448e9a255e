/** The checks before the routes: sizes of URL and headers, rate limits, tokens. All of them run before anything is parsed. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context } from 'hono';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { equalInConstantTime } from '../../core/audit/provenance.ts';
import { tokenSha256 } from '../../core/audit/work-seal.ts';
import { isOpenToPages } from '../../core/net/cross-origin.ts';
import type { Database } from '../store/database.ts';
import { getNode, type NodeRow } from '../store/nodes.ts';
import { HttpError } from './http-error.ts';
import type { GatewayTypes } from './services.ts';

const URL_LIMIT = 2048;
const HEADER_LIMIT = 16 * 1024;

export const boundRequest = createMiddleware<GatewayTypes>(async function boundRequest(c, next) {
  if (c.req.url.length > URL_LIMIT)
    throw new HttpError(414, 'url.size', 'The URL is too long.', { expected: `at most ${URL_LIMIT} bytes` });
  let size = 0;
  for (const [header, value] of c.req.raw.headers) size += header.length + value.length;
  if (size > HEADER_LIMIT)
    throw new HttpError(431, 'headers.size', 'The headers are too large.', {
      expected: `at most ${HEADER_LIMIT} bytes`,
    });
  await next();
});

/** Lets pages of the named origins read the answers of the model endpoints. Who may ask is decided by the token, as for anybody else. */
export const pagesOfOthers = createMiddleware<GatewayTypes>(async function pagesOfOthers(c, next) {
  const { pages } = c.var.services.settings;
  const origin = c.req.header('origin');
  if (origin === undefined || !pages.includes(origin) || !isOpenToPages(c.req.path)) return next();
  return cors({ origin: [...pages], allowMethods: ['GET', 'POST'], maxAge: 600 })(c, next);
});

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text)));

const bearerOf = (c: Context<GatewayTypes>): string | undefined =>
  /^Bearer ([\x21-\x7e]{1,512})$/.exec(c.req.header('authorization') ?? '')?.[1];

/** Compares digests, so that neither the time taken nor the length reveals anything about a token. A token that is not set matches nothing. */
function matches(given: string | undefined, tokens: readonly (string | undefined)[]): boolean {
  if (given === undefined) return false;
  const wanted = tokens.filter((token) => token !== undefined && token.length >= 16) as string[];
  return wanted.map((token) => equalInConstantTime(digest(given), digest(token))).some(Boolean);
}

const bearerMatches = (c: Context<GatewayTypes>, tokens: readonly (string | undefined)[]) =>
  matches(bearerOf(c), tokens);

export const isLearner = (c: Context<GatewayTypes>) => bearerMatches(c, c.var.services.secrets.learner);

const unauthorized = (who: string, next?: string) =>
  new HttpError(401, 'token.wrong', `This needs the ${who}’s token.`, {
    expected: 'Authorization: Bearer <token>',
    ...(next === undefined ? {} : { next }),
  });

const NODE_TOKEN = /^Bearer (([0-9a-f]{32})\.[0-9a-f]{64})$/;

/** Whom a request's header says that it comes from. */
export interface NodeClaim {
  readonly id: string;
  readonly tokenSha256: string;
}

export function nodeClaim(authorization: string | undefined): NodeClaim | undefined {
  const [, token, id] = NODE_TOKEN.exec(authorization ?? '') ?? [];
  return token && id ? { id, tokenSha256: tokenSha256(token) } : undefined;
}

/** The row, if the claim is right. */
export const claimed = <Row extends NodeRow>(claim: NodeClaim, row: Row | undefined): Row | undefined =>
  row && equalInConstantTime(claim.tokenSha256, row.tokenSha256) ? row : undefined;

/** The node whose token a request's header has, whatever it may do; undefined where there is none. */
async function nodeOf(db: Database, authorization: string | undefined): Promise<NodeRow | undefined> {
  const claim = nodeClaim(authorization);
  return claim && claimed(claim, await getNode(db, claim.id));
}

/** Notes whether a request comes with the token of a reader or a verifier. */
export const knowReader = createMiddleware<GatewayTypes>(async function knowReader(c, next) {
  const node = await nodeOf(c.var.services.db, c.req.header('authorization'));
  c.set('reads', (node?.revokedAt === null && node.reads) || undefined);
  await next();
});

/** The learner, and a verifier that only reads: with its token it may read what the learner may. */
const readsAll = (c: Context<GatewayTypes>) =>
  (c.var.reads === 'verifier' && c.req.method === 'GET') || isLearner(c);

/**
 * What is counted, each apart, and under which limit: webhooks with a right signature and those without, readers, readers who have something
 * sampled or searched, and whoever guesses the token of a node or an agent.
 */
const LIMIT_OF = {
  signed: 'hooks',
  unsigned: 'hooks',
  samples: 'hooks',
  strangers: 'hooks',
  reads: 'reads',
} as const;

/**
 * Counts a request. It is counted for each caller's address, which Cloudflare's edge writes into a header. Locally nobody writes it and a client could
 * choose its own, so all callers share one limit there. Throws `rate.limited`.
 */
export async function countRequest(
  c: Pick<Context<GatewayTypes>, 'req' | 'var'>,
  what: keyof typeof LIMIT_OF,
): Promise<void> {
  const { limits, settings } = c.var.services;
  const address = settings.local ? undefined : c.req.header('cf-connecting-ip');
  const { success } = await limits[LIMIT_OF[what]].limit({ key: `${what}:${address ?? 'local'}` });
  if (success) return;
  throw new HttpError(429, 'rate.limited', 'Too many requests.', { next: 'Wait a minute, then try again.' });
}

/** Limits readers, but for the learner and verifiers, who are known by their tokens. */
export const limitReads = createMiddleware<GatewayTypes>(async function limitReads(c, next) {
  if (!readsAll(c)) await countRequest(c, 'reads');
  await next();
});

/** Limits whoever has something sampled or searched, the learner too. */
export const limitSamples = createMiddleware<GatewayTypes>(async function limitSamples(c, next) {
  await countRequest(c, 'samples');
  await next();
});

export const learnerOnly = createMiddleware<GatewayTypes>(async function learnerOnly(c, next) {
  if (!isLearner(c)) throw unauthorized('learner');
  await next();
});

/** Lets the learner and verifiers read objects as they are stored. */
export const objectReaders = createMiddleware<GatewayTypes>(async function objectReaders(c, next) {
  if (!readsAll(c)) throw unauthorized('learner');
  await next();
});

const CLOSED =
  'Set READ_TOKEN, or make a token: `npx rollmesh node-token create NAME --reader`. Without one these routes are closed.';

/** Whether whoever asks may without a token: on a local mesh that has no reading token. A deployed mesh without one answers nobody but the learner. */
const isOpen = ({ secrets, settings }: GatewayTypes['Variables']['services']): boolean =>
  settings.local && !secrets.read.some(Boolean);

/** Lets holders of a reading token read, readers, the learner and verifiers; on a local mesh without `READ_TOKEN`, everybody. */
export const readersOnly = createMiddleware<GatewayTypes>(async function readersOnly(c, next) {
  const { services } = c.var;
  const isReader = c.var.reads === 'reader' || bearerMatches(c, services.secrets.read);
  if (!isOpen(services) && !isReader && !readsAll(c))
    throw unauthorized('reader', services.secrets.read.some(Boolean) ? undefined : CLOSED);
  await next();
});

/**
 * Lets callers of the model endpoints in: readers, and the learner. They cause work, so a deployed mesh without a reading token answers only
 * the learner; a local mesh is open to programs of this machine.
 */
const callersWith = (what: string, givenOf: (c: Context<GatewayTypes>) => string | undefined) =>
  createMiddleware<GatewayTypes>(async function callersOnly(c, next) {
    const { secrets, db } = c.var.services;
    const given = givenOf(c);
    const isCaller = async () => {
      if (matches(given, [...secrets.read, ...secrets.learner])) return true;
      const node = await nodeOf(db, `Bearer ${given}`);
      return node?.reads === 'reader' && node.revokedAt === null;
    };
    if (!isOpen(c.var.services) && !(await isCaller()))
      throw new HttpError(401, 'token.wrong', 'This needs the reader’s token.', {
        expected: what,
        ...(secrets.read.some(Boolean) ? {} : { next: CLOSED }),
      });
    await next();
  });

export const callersOnly = callersWith(
  'Authorization: Bearer <token>, which OpenAI’s clients call the API key',
  bearerOf,
);

/** The same for clients of the Open Reward Standard, which send their key in a header of its own. */
export const callersByKey = callersWith(
  'X-API-Key: <token>, or Authorization: Bearer <token>',
  (c) => bearerOf(c) ?? /^[\x21-\x7e]{1,512}$/.exec(c.req.header('x-api-key') ?? '')?.[0],
);
