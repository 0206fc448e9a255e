/** A whole deployment: reads the state, plans, and applies the plan unless it is a dry run. All that it talks to is passed in. */
import { RollmeshError } from '../../core/errors.ts';
import { deployOrder } from '../../core/round/stages.ts';
import { apply, type Surroundings } from './apply.ts';
import type { Environment } from './mesh-parts.ts';
import { type Account, chooseAccount, observe } from './observe.ts';
import { type MeshState, NOTHING, type Plan, plan } from './plan.ts';
import { closingWords, factWords, planWords } from './plan-text.ts';
import type { ConnectWrangler } from './wrangler.ts';

export interface Deployment
  extends Pick<Surroundings, 'wanted' | 'files' | 'tagOf' | 'uploadStartPolicy' | 'storeTasks' | 'say'> {
  readonly connect: ConnectWrangler;
  /** The account that the operator named. */
  readonly account: string | undefined;
  /** Whether the start policy is in the mesh; null where that cannot be seen. */
  readonly hasStartPolicy: (url: string, token: string | undefined) => Promise<boolean | null>;
}

/** @throws RollmeshError with a code `deploy.…`, which says what happened and that another run goes on from there */
export async function deploy(deployment: Deployment, dryRun: boolean): Promise<Plan> {
  const { connect, files, say, wanted } = deployment;
  const account = await lookUp(deployment, dryRun);
  const state = account ? await look(deployment, account) : { ...NOTHING, known: files.knownSecrets };
  const due = plan(wanted, state);
  if (account) say(`Account ${account.name} (${account.id})`);
  if (dryRun) for (const line of factWords(state.secrets.gateway.includes('READ_TOKEN'))) say(line);
  for (const line of planWords(due)) say(line);
  if (dryRun || !account) return due;
  await apply(due.steps, { ...deployment, run: connect(account.id), account: account.id });
  for (const line of closingWords(files.url, files.hasQueueToken)) say(line);
  return due;
}

/** Reads the state; null where a dry run may not read it and so plans for an empty account. */
async function lookUp(
  { connect, account, files, say }: Deployment,
  dryRun: boolean,
): Promise<Account | null> {
  try {
    return await chooseAccount(connect, account, files.account);
  } catch (error) {
    const blind =
      error instanceof RollmeshError && (error.code === 'deploy.login' || error.code === 'deploy.offline');
    if (!dryRun || !blind) throw error;
    say(`${error.what} Nothing could be read, so this is the plan for an empty account.`);
    return null;
  }
}

async function look(deployment: Deployment, account: Account): Promise<MeshState> {
  const { connect, files, wanted, hasStartPolicy } = deployment;
  const remote = await observe(connect(account.id), wanted, (id) => files.configFor(id));
  const { url } = files;
  const isUp = url !== null && remote.live.gateway !== null;
  return {
    ...remote,
    url,
    known: files.knownSecrets,
    sources: await tags(deployment, remote.databaseId),
    seed: isUp ? await hasStartPolicy(url, files.secret('LEARNER_TOKEN')) : null,
  };
}

/** The tags of all Workers; none without a database, since there is no configuration to tag and everything is deployed anyway. */
async function tags({ tagOf, wanted }: Deployment, databaseId: string | null): Promise<MeshState['sources']> {
  if (databaseId === null) return NOTHING.sources;
  const found: [Environment, string][] = [];
  for (const environment of deployOrder(wanted.workers))
    found.push([environment, await tagOf(environment, databaseId)]);
  return { ...NOTHING.sources, ...Object.fromEntries(found) };
}
