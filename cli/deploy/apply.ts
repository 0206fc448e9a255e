/** Does the steps of a plan one after the other. Every step may be repeated: the first failure ends the run, and the next run goes on there. */
import { RollmeshError } from '../../core/errors.ts';
import { DEPLOY_CONFIG, type DeployFiles } from './deploy-files.ts';
import { type Environment, PULL_CONSUMER, type Wanted } from './mesh-parts.ts';
import { databaseId, queueId } from './observe.ts';
import type { Step } from './plan.ts';
import { stepWords } from './plan-text.ts';
import { must, type RunWrangler } from './wrangler.ts';

export interface Surroundings {
  readonly run: RunWrangler;
  readonly wanted: Wanted;
  readonly account: string;
  readonly files: DeployFiles;
  /** The tag for a Worker's sources and a configuration with this database. */
  readonly tagOf: (environment: Environment, databaseId: string) => Promise<string>;
  /** Uploads the start policy through the gateway once that answers; harmless if the policy is already there. */
  readonly uploadStartPolicy: (url: string, token: string) => Promise<void>;
  /** Stores what the mesh lacks of the tasks that recipes keep in the object store; absent where none does. */
  readonly storeTasks?: (url: string, token: string) => Promise<void>;
  /** Prints a line for the operator. */
  readonly say: (line: string) => void;
}

/** Does the steps. Throws what a failing step throws, after printing which step it was. */
export async function apply(steps: readonly Step[], around: Surroundings): Promise<void> {
  const { run, wanted, files, account, say } = around;
  files.tellLearner({ CLOUDFLARE_ACCOUNT_ID: account });
  for (const [i, step] of steps.entries()) {
    say(`${i + 1}/${steps.length} ${stepWords(step)} …`);
    await perform(step, around);
  }
  await around.storeTasks?.(knownUrl(files), files.ensureSecret('LEARNER_TOKEN'));
  // Written even if there was nothing to do: a second machine may have neither file.
  files.writeConfig(await knownDatabase(around));
  files.tellLearner({
    ROLLMESH_URL: files.url ?? undefined,
    SCORED_QUEUE_ID: (await queueId(run, wanted.pullQueue)) ?? undefined,
    LEARNER_TOKEN: files.secret('LEARNER_TOKEN'),
    MESH_KEY: files.secret('MESH_KEY'),
  });
}

async function perform(step: Step, around: Surroundings): Promise<void> {
  const { run, files } = around;
  switch (step.kind) {
    case 'database':
      await must(run, ['d1', 'create', step.name]);
      return;
    case 'bucket':
      await must(run, ['r2', 'bucket', 'create', step.name]);
      return;
    case 'queue':
      await must(run, ['queues', 'create', step.name]);
      return;
    case 'pull-consumer': {
      const settings = [
        ['--visibility-timeout-secs', String(PULL_CONSUMER.visibilitySeconds)],
        ['--message-retries', String(PULL_CONSUMER.retries)],
        ['--dead-letter-queue', step.deadLetters],
      ].flat();
      await must(run, ['queues', 'consumer', 'http', 'add', step.queue, ...settings]);
      return;
    }
    case 'migrations':
      files.writeConfig(await knownDatabase(around));
      await must(run, ['d1', 'migrations', 'apply', step.database, '--remote', ...inConfig('gateway')]);
      return;
    case 'secrets': {
      const values = step.names.map((name) => [name, files.ensureSecret(name)] as const);
      const stdin = JSON.stringify(Object.fromEntries(values));
      const hidden = values.map(([, value]) => value);
      await must(run, ['secret', 'bulk', '--env', step.environment], { stdin, hidden });
      return;
    }
    case 'worker':
      await deployWorker(step.environment, around);
      return;
    case 'seed':
      await around.uploadStartPolicy(knownUrl(files), files.ensureSecret('LEARNER_TOKEN'));
  }
}

const inConfig = (environment: Environment) => ['--env', environment, '--config', DEPLOY_CONFIG];

async function deployWorker(environment: Environment, around: Surroundings): Promise<void> {
  const { run, files, tagOf } = around;
  const id = await knownDatabase(around);
  files.writeConfig(id);
  const tag = await tagOf(environment, id);
  const stdout = await must(run, ['deploy', ...inConfig(environment), '--tag', tag]);
  if (environment !== 'gateway') return;
  const url = /https:\/\/[a-z0-9.-]+\.workers\.dev/i.exec(stdout)?.[0];
  if (url && files.url === null) files.tellLearner({ ROLLMESH_URL: url });
}

async function knownDatabase({ run, wanted }: Surroundings): Promise<string> {
  const id = await databaseId(run, wanted.database);
  if (id !== null) return id;
  throw new RollmeshError('retry', 'deploy.database', `Cloudflare does not list ${wanted.database} yet.`, {
    expected: 'the D1 database, which exists',
    next: 'Run `npx rollmesh deploy` again in a minute.',
  });
}

function knownUrl(files: DeployFiles): string {
  if (files.url !== null) return files.url;
  throw new RollmeshError('give-up', 'deploy.url', 'The deployment did not say the address of the gateway.', {
    expected: 'an address under workers.dev',
    next: 'Set ROLLMESH_URL to the address of the gateway and run `npx rollmesh deploy` again.',
  });
}
