/** Reads the local secrets from `.dev.vars`, which the first start fills with random values. Deployed ones are set by `wrangler secret put`. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const SECRET_NAMES = ['WEBHOOK_SECRET', 'LEARNER_TOKEN', 'MESH_KEY'] as const;
/** Secrets that are read if `.dev.vars` has them; they are never generated. */
export const OPTIONAL_NAMES = [
  'WEBHOOK_SECRET_NEXT',
  'LEARNER_TOKEN_NEXT',
  'READ_TOKEN',
  'READ_TOKEN_NEXT',
  'CALLBACK_URL',
  'CALLBACK_SECRET',
] as const;
/** Signs requests to reward services: for the judge, and for a run in one process. */
const REWARD_SECRET = 'REWARD_SECRET';
export type Secrets = Readonly<Record<(typeof SECRET_NAMES)[number], string>> &
  Readonly<Partial<Record<(typeof OPTIONAL_NAMES)[number] | typeof REWARD_SECRET, string>>>;

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
  const vars = readVars(path);
  const missing = SECRET_NAMES.filter((name) => !vars.get(name));
  for (const name of missing) vars.set(name, randomBytes(32).toString('hex'));
  if (missing.length) {
    const before = existsSync(path) ? readFileSync(path, 'utf8').replace(/\n?$/, '\n') : '';
    const added = missing.map((name) => `${name}=${vars.get(name)}\n`).join('');
    // This comes before the secrets are written, because `writeFileSync` sets the mode of new files only.
    if (existsSync(path)) chmodSync(path, OWNER_ONLY);
    writeFileSync(path, before + added, { mode: OWNER_ONLY });
  } else if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, OWNER_ONLY);
  return named(vars) as Secrets;
}

/** The secrets in a project folder's `.dev.vars`; nothing is added. */
export const readSecrets = (root: string): Partial<Secrets> => named(readVars(join(root, '.dev.vars')));

const named = (vars: ReadonlyMap<string, string>): Partial<Secrets> =>
  Object.fromEntries(
    [...SECRET_NAMES, ...OPTIONAL_NAMES, REWARD_SECRET].flatMap((name) =>
      vars.has(name) ? [[name, vars.get(name)!]] : [],
    ),
  );
