/** The texts of a deployment: its steps, and what the operator does next with the running mesh. They name files and show no secret. */
import { PRICES } from '../../core/cost/prices.ts';
import { LEARNER_FILE, SECRETS_FILE } from './deploy-files.ts';
import { PULL_CONSUMER } from './mesh-parts.ts';
import type { Plan, Step } from './plan.ts';

export function stepWords(step: Step): string {
  switch (step.kind) {
    case 'database':
      return `create the D1 database ${step.name}`;
    case 'bucket':
      return `create the R2 bucket ${step.name}`;
    case 'queue':
      return `create the queue ${step.name}`;
    case 'pull-consumer':
      return `let the learner pull ${step.queue} (visible again after ${PULL_CONSUMER.visibilitySeconds} s, ${PULL_CONSUMER.retries} retries, dead letters to ${step.deadLetters})`;
    case 'migrations':
      return `apply to ${step.database}: ${step.names.join(', ')}`;
    case 'secrets':
      return `set in the ${step.environment}: ${step.names.join(', ')}`;
    case 'worker':
      return `deploy the Worker ${step.name}`;
    case 'seed':
      return 'upload the start policy through the gateway, unless it is there';
  }
}

export const PRICE = `Price  beyond what the plan includes: CPU time $${PRICES.perMillion.cpuMs} per million ms, R2 writes $${PRICES.perMillion.r2ClassA}, queue operations $${PRICES.perMillion.queueOperations}, D1 rows written $${PRICES.perMillion.d1RowsWritten} per million (docs/deploy.md); a learner that waits costs about $6 a month.`;

/** What an owner asks before anything else: which plan it takes, what it costs, and who can read. Which plan an account has, `--check` finds. */
export const factWords = (hasReadToken: boolean): string[] => [
  'Plan   Workers Paid, $5 a month: an account on the free plan ends a Worker after 10 ms of CPU time, and sampling takes seconds.',
  PRICE,
  hasReadToken
    ? 'Reads  by whoever has READ_TOKEN, readers with a token of their own, the learner and verifiers.'
    : 'Reads  by the learner, verifiers and readers with a token of their own (npx rollmesh node-token create NAME --reader). READ_TOKEN would open them to whoever has it (npx wrangler secret put READ_TOKEN --env gateway).',
];

export function planWords({ steps, notes }: Plan): string[] {
  const list = steps.map((step, i) => `  ${i + 1}. ${stepWords(step)}`);
  return [...(list.length ? ['The plan:', ...list] : ['Nothing to change.']), ...notes];
}

export const closingWords = (url: string | null, hasQueueToken: boolean): string[] => [
  '',
  `webhook  ${url === null ? 'set ROLLMESH_URL to the address of the gateway' : `${url}/hooks/rounds`}`,
  `         signed with WEBHOOK_SECRET of ${SECRETS_FILE}: npx rollmesh trigger ${url ?? 'URL'} --recipe trio`,
  `learner  npx rollmesh learner --env ${LEARNER_FILE}`,
  `         ROLLMESH_URL, LEARNER_TOKEN, MESH_KEY, CLOUDFLARE_ACCOUNT_ID and SCORED_QUEUE_ID are in ${LEARNER_FILE}`,
  ...(hasQueueToken
    ? []
    : [`         still missing there: QUEUE_TOKEN, an API token with Queues Read and Edit (docs/deploy.md)`]),
];
