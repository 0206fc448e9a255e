/** Reads the local secrets from `.dev.vars`, which the first start fills with random values. Deployed ones are set by `wrangler secret put`. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alone } from './alone.ts';

export const SECRET_NAMES = ['WEBHOOK_SECRET', 'LEARNER_TOKEN', 'MESH_KEY'] as const;
/** Secrets that are read if `.dev.vars` has them; they are never generated. */
export const OPTIONAL_NAMES = [
  'WEBHOOK_SECRET_NEXT',
  'LEARNER_TOKEN_NEXT',
  'READ_TOKEN',
  'READ_TOKEN_NEXT',
  'CALLBACK_URL',
  'CALLBACK_SECRET',
  'CORS_ORIGINS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;
/** Signs requests to reward services: for the judge, and for a run in one process. */
const REWARD_SECRET = 'REWARD_SECRET';
/** The key of an environment that somebody else hosts, for the Worker that plays it. */
const ORS_API_KEY = 'ORS_API_KEY';
export type Secrets = Readonly<Record<(typeof SECRET_NAMES)[number], string>> &
  Readonly<
    Partial<Record<(typeof OPTIONAL_NAMES)[number] | typeof REWARD_SECRET | typeof ORS_API_KEY, string>>
  >;

const OWNER_ONLY = 0o600;

/** The values of all `NAME=value` lines of a file, without the quotes around them. */
function readVars(path: string): Map<string, string> {
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  return new Map(
    lines.flatMap((line) => {
      const parts = /^\s*([A-Za-z_]\w*)\s*=\s*(["']?)(.*)\2\s*$/.exec(line);
      return parts ? [[parts[1]!, parts[3]!] as const] : [];
    }),
  );
}

/** The secrets of a project folder. Missing ones are added to its `.dev.vars`, which only its owner can read. */
export function ensureSecrets(root: string): Secrets {
  const path = join(root, '.dev.vars');
  const before = readVars(path);
  // Two that start at once in a new folder must agree on its secrets.
  if (missingOf(before).length) return named(alone(path, () => withMissing(path))) as Secrets;
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, OWNER_ONLY);
  return named(before) as Secrets;
}

const missingOf = (vars: ReadonlyMap<string, string>) => SECRET_NAMES.filter((name) => !vars.get(name));

/**
 * A secret that not every mesh needs: REWARD_SECRET, which signs requests to reward services, or READ_TOKEN. It is made where `.dev.vars` has none.
 *
 * @returns whether it was made
 */
export function ensureSecret(root: string, name: 'REWARD_SECRET' | 'READ_TOKEN'): boolean {
  const path = join(root, '.dev.vars');
  if (readVars(path).get(name)) return false;
  alone(path, () => withMissing(path, [name]));
  return true;
}

/** Adds the secrets that a file lacks, and returns all that it then holds. */
function withMissing(path: string, names: readonly string[] = SECRET_NAMES): Map<string, string> {
  const vars = readVars(path);
  const missing = names.filter((name) => !vars.get(name));
  if (!missing.length) return vars;
  for (const name of missing) vars.set(name, randomBytes(32).toString('hex'));
  const text = existsSync(path) ? readFileSync(path, 'utf8').replace(/\n?$/, '\n') : '';
  const added = missing.map((name) => `${name}=${vars.get(name)}\n`).join('');
  // This comes before the secrets are written, because `writeFileSync` sets the mode of new files only.
  if (existsSync(path)) chmodSync(path, OWNER_ONLY);
  writeFileSync(path, text + added, { mode: OWNER_ONLY });
  return vars;
}

/** The secrets in a project folder's `.dev.vars`; nothing is added. */
export const readSecrets = (root: string): Partial<Secrets> => named(readVars(join(root, '.dev.vars')));

const named = (vars: ReadonlyMap<string, string>): Partial<Secrets> =>
  Object.fromEntries(
    [...SECRET_NAMES, ...OPTIONAL_NAMES, REWARD_SECRET, ORS_API_KEY].flatMap((name) =>
      vars.has(name) ? [[name, vars.get(name)!]] : [],
    ),
  );
