/** Plans the steps from the present state to the wanted one. Pure: the same state gives the same plan; a mesh in the wanted state gives none. */
import { RollmeshError } from '../../core/errors.ts';
import { type ByWorker, deployOrder } from '../../core/round/stages.ts';
import { type Environment, PULL_CONSUMER, SECRETS_OF, type SecretName, type Wanted } from './mesh-parts.ts';

export interface PullSettings {
  readonly visibilitySeconds: number | null;
  readonly retries: number | null;
  readonly deadLetters: string | null;
}

/** The present state on Cloudflare, and what this machine keeps about it. */
export interface MeshState {
  readonly databaseId: string | null;
  /** Names of applied migrations. */
  readonly migrations: readonly string[];
  readonly bucket: boolean;
  /** Ids of the queues that exist, by name. */
  readonly queues: Readonly<Record<string, string>>;
  readonly pull: PullSettings | null;
  /** Names of the secrets that each Worker has. */
  readonly secrets: ByWorker<readonly string[]>;
  /** The tag of the live version; null where there is no Worker, or its version is not ours. */
  readonly live: ByWorker<string | null>;
  /** The tag that the sources on this machine would get; null where it is not known yet. */
  readonly sources: ByWorker<string | null>;
  /** The gateway's address; null where it is not known here. */
  readonly url: string | null;
  /** Whether the start policy is in the mesh; null where that cannot be seen. */
  readonly seed: boolean | null;
  /** Names of the secrets whose values are known here. */
  readonly known: readonly string[];
}

export const NOTHING: MeshState = {
  databaseId: null,
  migrations: [],
  bucket: false,
  queues: {},
  pull: null,
  secrets: { judge: [], rollout: [], proposer: [], gateway: [] },
  live: { judge: null, rollout: null, proposer: null, gateway: null },
  sources: { judge: null, rollout: null, proposer: null, gateway: null },
  url: null,
  seed: null,
  known: [],
};

export type Step =
  | { readonly kind: 'database'; readonly name: string }
  | { readonly kind: 'bucket'; readonly name: string }
  | { readonly kind: 'queue'; readonly name: string }
  | { readonly kind: 'pull-consumer'; readonly queue: string; readonly deadLetters: string }
  | { readonly kind: 'migrations'; readonly database: string; readonly names: readonly string[] }
  | { readonly kind: 'secrets'; readonly environment: Environment; readonly names: readonly SecretName[] }
  | { readonly kind: 'worker'; readonly environment: Environment; readonly name: string }
  | { readonly kind: 'seed' };

export interface Plan {
  readonly steps: readonly Step[];
  /** Things that the operator should know and that this command does not change. */
  readonly notes: readonly string[];
}

/**
 * Plans the steps in the order in which they are done: first what other parts refer to, migrations before the Workers that need them,
 * and secrets before the Workers that read them.
 *
 * @throws RollmeshError `deploy.secret` where a Worker lacks a secret that another has and whose value is not known here
 */
export function plan(wanted: Wanted, state: MeshState): Plan {
  const steps: Step[] = [];
  if (state.databaseId === null) steps.push({ kind: 'database', name: wanted.database });
  if (!state.bucket) steps.push({ kind: 'bucket', name: wanted.bucket });
  for (const name of wanted.queues) if (!(name in state.queues)) steps.push({ kind: 'queue', name });
  const { pullQueue: queue, deadLetters } = wanted;
  if (!state.pull) steps.push({ kind: 'pull-consumer', queue, deadLetters });
  const due = wanted.migrations.filter((name) => !state.migrations.includes(name));
  if (due.length) steps.push({ kind: 'migrations', database: wanted.database, names: due });
  const order = deployOrder(wanted.workers);
  for (const environment of order) {
    const names = SECRETS_OF[environment].filter((name) => !state.secrets[environment]?.includes(name));
    for (const name of names) refuseUnknown(name, environment, state);
    if (names.length) steps.push({ kind: 'secrets', environment, names });
  }
  // New secrets make a version without a tag. Its Worker is deployed in the same run, so that the next run finds nothing to change.
  const touched = steps.flatMap((step) => (step.kind === 'secrets' ? [step.environment] : []));
  for (const environment of order)
    if (touched.includes(environment) || isStale(environment, state))
      steps.push({ kind: 'worker', environment, name: wanted.workers[environment]! });
  const mayUpload = state.known.includes('LEARNER_TOKEN') || isMadeHere('LEARNER_TOKEN', state);
  if (state.seed !== true && mayUpload) steps.push({ kind: 'seed' });
  return { steps, notes: notes(wanted, state, mayUpload) };
}

const holders = (name: SecretName, { secrets }: MeshState) =>
  deployOrder(secrets).filter((environment) => secrets[environment]?.includes(name));

const isMadeHere = (name: SecretName, state: MeshState) =>
  !state.known.includes(name) && holders(name, state).length === 0;

function refuseUnknown(name: SecretName, environment: Environment, state: MeshState): void {
  const source = name === 'AGENTS_TOKEN' ? 'LEARNER_TOKEN' : name;
  const [holder] = holders(source, state);
  if (holder === undefined || state.known.includes(source)) return;
  const from = source === name ? 'it, and its' : `${source}, from which that follows, and the`;
  throw new RollmeshError(
    'wrong-input',
    'deploy.secret',
    `The ${environment} lacks ${name}, the ${holder} has ${from} value is not known here.`,
    {
      expected: `the folder .deploy/ of the machine that deployed first, or ${source} in the environment`,
      next: 'Cloudflare shows no secret again: where the value is lost, set a new one in both by `wrangler secret put`.',
    },
  );
}

/** Must it be deployed? A live gateway whose address is not known here is deployed again unchanged, because that reveals the address. */
const isStale = (environment: Environment, { databaseId, live, sources, url }: MeshState) =>
  databaseId === null ||
  (live[environment] ?? null) === null ||
  live[environment] !== sources[environment] ||
  (environment === 'gateway' && url === null);

function notes({ pullQueue, deadLetters }: Wanted, state: MeshState, mayUpload: boolean): string[] {
  const told: string[] = [];
  const { pull, seed } = state;
  const wrong =
    pull &&
    (pull.visibilitySeconds !== PULL_CONSUMER.visibilitySeconds ||
      pull.retries !== PULL_CONSUMER.retries ||
      pull.deadLetters !== deadLetters);
  if (wrong)
    told.push(
      `The pull consumer of ${pullQueue} has other settings (visible again after ${pull.visibilitySeconds} s, ${pull.retries} retries, dead letters to ${pull.deadLetters ?? 'nowhere'}). To renew it: \`npx wrangler queues consumer http remove ${pullQueue}\`, then this command again.`,
    );
  if (seed !== true && !mayUpload)
    told.push(
      'Whether the start policy is there was not checked: LEARNER_TOKEN is not known here. Bring .deploy/ from the machine that deployed first.',
    );
  if (state.secrets.gateway.includes('MESH_KEY'))
    told.push(
      'The gateway still holds MESH_KEY, which an earlier deployment gave it and which it never reads: whoever gets hold of it can seal. Take it away: `npx wrangler secret delete MESH_KEY --env gateway`.',
    );
  return told;
}
