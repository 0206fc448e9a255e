/**
 * The files that a deployment keeps on this machine, outside git: `.deploy/secrets.env` (values that Cloudflare never shows again),
 * `.deploy/learner.env` (the learner's environment), and `wrangler.deploy.toml`, wrangler.toml with the real database id.
 * wrangler.toml itself stays as it is, for the local mesh, for tests and for everybody else's account.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { RollmeshError } from '../../core/errors.ts';
import { agentsToken } from '../../core/net/agent-token.ts';
import { ENVIRONMENT_WORKER, WORKER_NAMES, type WorkerName } from '../../core/round/stages.ts';
import { entryCode } from '../../local/mesh/bundle.ts';
import { moduleFile, PUBLIC_MODULES } from '../../local/mesh/installation.ts';
import { SECRET_NAMES } from '../../local/mesh/secrets.ts';
import type { SecretName } from './mesh-parts.ts';

/** The placeholder database id in wrangler.toml; every environment has it. */
const PLACEHOLDER_ID = '00000000-0000-0000-0000-000000000001';

export const DEPLOY_CONFIG = 'wrangler.deploy.toml';
export const LEARNER_FILE = '.deploy/learner.env';
export const SECRETS_FILE = '.deploy/secrets.env';

const LEARNER_HEAD = `# The learner's environment, written by \`npx rollmesh deploy\`. QUEUE_TOKEN is yours to fill in: an API token of this account
# with Queues Read and Queues Edit (docs/deploy.md). Keep this file to yourself.
`;
const SECRETS_HEAD = `# The mesh's secrets, written by \`npx rollmesh deploy\`. Cloudflare shows none of them again: keep a copy in a safe place.
`;

/** Entry points of Workers that play recipes which are not the project's own. */
const mainOf = (worker: string) => `.deploy/workers/${worker}.mjs`;

/** wrangler.toml with the generated entry points. Throws `deploy.config` where a Worker names none. */
function withMains(config: string): string {
  const replaced = new Set<string>();
  let environment: string | undefined;
  const lines = config.split('\n').map((line) => {
    const section = /^\s*\[+([^\]]+)\]+/.exec(line)?.[1]?.trim();
    if (section !== undefined) environment = /^env\.(\w+)$/.exec(section)?.[1];
    if (environment === undefined || environment === ENVIRONMENT_WORKER || !/^\s*main\s*=/.test(line))
      return line;
    replaced.add(environment);
    return `main = ${JSON.stringify(mainOf(environment))}`;
  });
  const missing = WORKER_NAMES.find((worker) => !replaced.has(worker));
  if (missing === undefined) return lines.join('\n');
  throw new RollmeshError(
    'wrong-input',
    'deploy.config',
    `wrangler.toml has no line main = "…" in [env.${missing}].`,
    {
      expected: 'the entry point of every Worker in the section of its environment',
      next: 'Mend wrangler.toml.',
    },
  );
}

export class DeployFiles {
  readonly #root: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #recipes: readonly string[];

  /**
   * @param env the environment, where the operator may set secrets and the gateway's address; it wins over what is kept
   * @param recipes files of recipe modules that the Workers play beside the shipped recipes
   */
  constructor(
    root: string,
    env: Readonly<Record<string, string | undefined>>,
    recipes: readonly string[] = [],
  ) {
    this.#root = root;
    this.#env = env;
    this.#recipes = recipes;
  }

  /** The mesh's value of a secret; undefined where it is not known here. */
  secret(name: SecretName): string | undefined {
    if (name === 'AGENTS_TOKEN') {
      const learner = this.secret('LEARNER_TOKEN');
      return learner && agentsToken(learner);
    }
    return this.#env[name] || this.#read(SECRETS_FILE)[name] || undefined;
  }

  /** Returns a secret, made if missing. It is written to the file first, so that a crash never leaves a mesh with a secret that nobody knows. */
  ensureSecret(name: SecretName): string {
    if (name === 'AGENTS_TOKEN') return agentsToken(this.ensureSecret('LEARNER_TOKEN'));
    const value = this.secret(name) ?? randomBytes(32).toString('hex');
    const kept = this.#read(SECRETS_FILE);
    if (kept[name] !== value) this.#write(SECRETS_FILE, SECRETS_HEAD, { ...kept, [name]: value });
    return value;
  }

  get knownSecrets(): readonly SecretName[] {
    return SECRET_NAMES.filter((name) => this.secret(name) !== undefined);
  }

  get url(): string | null {
    const named = this.#env.ROLLMESH_URL || this.#read(LEARNER_FILE).ROLLMESH_URL;
    return named ? named.replace(/\/+$/, '') : null;
  }

  /** The account in which this folder's mesh lives; undefined before the first deployment. */
  get account(): string | undefined {
    return this.#read(LEARNER_FILE).CLOUDFLARE_ACCOUNT_ID || undefined;
  }

  /** Whether the operator has filled in the token of the queue. */
  get hasQueueToken(): boolean {
    return Boolean(this.#read(LEARNER_FILE).QUEUE_TOKEN);
  }

  /** Adds values to the learner's environment file; what the operator wrote there stays. */
  tellLearner(values: Readonly<Record<string, string | undefined>>): void {
    const known = Object.entries(values).filter(([, value]) => value !== undefined);
    const before = this.#read(LEARNER_FILE);
    const after = { QUEUE_TOKEN: '', ...before, ...Object.fromEntries(known) };
    if (Object.entries(after).some(([name, value]) => before[name] !== value))
      this.#write(LEARNER_FILE, LEARNER_HEAD, after);
  }

  /** The text of wrangler.toml with this database's id. Throws `deploy.config` where the placeholder is missing. */
  configFor(databaseId: string): string {
    const text = readFileSync(join(this.#root, 'wrangler.toml'), 'utf8');
    if (!text.includes(PLACEHOLDER_ID))
      throw new RollmeshError(
        'wrong-input',
        'deploy.config',
        'wrangler.toml has lost its placeholder for the database.',
        {
          expected: `database_id = "${PLACEHOLDER_ID}" in every environment`,
          next: `Put it back: the real id goes into ${DEPLOY_CONFIG}.`,
        },
      );
    const also = this.#recipes.length ? ' and in the entry points of its Workers' : ' alone';
    const head = `# Written by \`npx rollmesh deploy\` from wrangler.toml: change that one. Differs in the database's id${also}.\n`;
    const config = text.replaceAll(PLACEHOLDER_ID, databaseId);
    return head + (this.#recipes.length ? withMains(config) : config);
  }

  /** The entry point of a Worker with the recipes; undefined where there are none, or the Worker knows none, and the project's own is deployed. */
  writeWorker(worker: WorkerName): string | undefined {
    if (this.#recipes.length === 0 || worker === ENVIRONMENT_WORKER) return undefined;
    const path = join(this.#root, mainOf(worker));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const text = `// Written by \`npx rollmesh deploy\`.\n${entryCode({ worker, recipes: this.#recipes }, (module) => moduleFile(PUBLIC_MODULES[module]!))}\n`;
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
    return path;
  }

  writeConfig(databaseId: string): void {
    const path = join(this.#root, DEPLOY_CONFIG);
    const text = this.configFor(databaseId);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
  }

  #read(file: string): Record<string, string | undefined> {
    const path = join(this.#root, file);
    return existsSync(path) ? { ...parseEnv(readFileSync(path, 'utf8')) } : {};
  }

  #write(file: string, head: string, values: Readonly<Record<string, string | undefined>>): void {
    mkdirSync(join(this.#root, '.deploy'), { recursive: true, mode: 0o700 });
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value ?? ''}\n`);
    const path = join(this.#root, file);
    writeFileSync(path, head + lines.join(''), { mode: 0o600 });
    chmodSync(path, 0o600);
  }
}
