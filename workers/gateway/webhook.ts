/**
 * POST /hooks/rounds: checks size, signature, rate limit and schema, in this order, before anything is parsed or written. What is not signed, or wrongly, is counted
 * apart, so that nobody without the secret uses up the limit of those who have it. A delivery counts once.
 */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { expectSees } from '../../core/images/patches.ts';
import type { HeadKind, PolicyRef } from '../../core/policy/policy.ts';
import { hasToSee } from '../../core/recipe/role.ts';
import type { RunStarted } from '../../core/schema/answers.ts';
import { headFile, type Manifest, type VersionFiles } from '../../core/schema/policy.ts';
import { type RoundSpec, runIdOf } from '../../core/schema/round.ts';
import { expectSameTokens, type Tokens } from '../../core/text/same-tokens.ts';
import { parseConfig } from '../../model/config.ts';
import { expectHead } from '../../model/head.ts';
import { bindingsOf, type OrderedRun, runOf, runOrder } from '../../recipes/run-order.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import { countUsed } from '../shared/meter.ts';
import { requireSecret } from '../shared/secrets.ts';
import { writeManifest } from '../store/pending-manifest.ts';
import { createPolicy, getPolicy, getVersion } from '../store/policies.ts';
import { advanceRun, getRun, orderRounds } from '../store/runs.ts';
import { committedManifest, forkVersion, loadVersion } from '../store/versions.ts';
import { check, parseJson, readBytes } from './body.ts';
import { countRequest } from './guards.ts';
import { HttpError } from './http-error.ts';
import type { GatewayTypes, Services } from './services.ts';
import { verifySignature } from './signature.ts';
import { policyOrStart } from './start-policies.ts';
import { accounted } from './usage.ts';

const BODY_LIMIT = 64 * 1024;

/** GitHub wraps our order in its own event: `repository_dispatch` carries it as client_payload. */
const githubEvent = v.object({ client_payload: v.unknown() });

/** The body and the delivery that its signature names; what has no right one is counted apart. */
async function readSigned(c: Context<GatewayTypes>, secrets: readonly string[]) {
  try {
    const bytes = await readBytes(c.req.raw, BODY_LIMIT);
    const headers = {
      standard: {
        id: c.req.header('webhook-id'),
        timestamp: c.req.header('webhook-timestamp'),
        signature: c.req.header('webhook-signature'),
      },
      github: c.req.header('x-hub-signature-256'),
      githubDelivery: c.req.header('x-github-delivery'),
    };
    const delivery = verifySignature(headers, bytes, secrets, c.var.services.now() / 1000);
    return { bytes, delivery };
  } catch (error) {
    await countRequest(c, 'unsigned');
    throw error;
  }
}

export const webhook = new Hono<GatewayTypes>().post('/hooks/rounds', async (c) => {
  const { services } = c.var;
  const [current, next] = services.secrets.webhook;
  const secrets = [
    requireSecret('WEBHOOK_SECRET', current),
    ...(next ? [requireSecret('WEBHOOK_SECRET_NEXT', next)] : []),
  ];
  const { bytes, delivery } = await readSigned(c, secrets);
  await countRequest(c, 'signed');
  const event = c.req.header('x-github-event');
  if (c.req.header('x-hub-signature-256') !== undefined && event === 'ping') return c.json({ pong: true });
  const body = parseJson(bytes);
  const asked = event === 'repository_dispatch' ? check(githubEvent, body).client_payload : body;
  const started = await accounted(
    services,
    () => {
      countUsed('requests', 1);
      return startRounds(services, delivery, runOf(services.recipes, check(runOrder, asked)));
    },
    ({ round }) => round,
  );
  return c.json(started, 202);
});

/** Throws `policy.blind` and `image.too-large` for a policy that does not see what the recipe shows. */
async function expectEyes(
  { db, bucket }: Services,
  recipe: OrderedRun['recipe'],
  ref: Pick<PolicyRef, 'name' | 'version'>,
): Promise<void> {
  if (!recipe.showsImages) return;
  const hash = (await getVersion(db, ref))?.manifestSha256 ?? null;
  const { 'config.json': bytes } = await loadVersion(bucket, ref, ['config.json'], hash);
  const { vision } = parseConfig(JSON.parse(new TextDecoder().decode(bytes)));
  expectSees(recipe.showsImages, vision, { policy: ref.name, recipe: recipe.called ?? recipe.name });
}

async function startRounds(services: Services, delivery: string, run: OrderedRun): Promise<RunStarted> {
  const { db, now } = services;
  const { settings, recipe, rounds } = run;
  if ((await getRun(db, runIdOf(settings)))?.deletedAt)
    throw new HttpError(409, 'run.deleted', 'The run with these settings was deleted.', {
      expected: 'settings of a run that is new, or still there',
      next: 'Choose another seed; or train its policy on by naming it: `--policy NAME`.',
    });
  await ensurePolicy(services, run);
  await expectEyes(services, recipe, { name: settings.policy, version: 0 });
  const roles = bindingsOf(recipe, settings);
  for (const [role, { fixed }] of Object.entries(roles)) {
    if (!fixed) continue;
    await expectVersion(services, role, fixed);
    const { teaches, measures } = recipe.roles[role]!;
    if (hasToSee(recipe.roles[role]!)) await expectEyes(services, recipe, fixed);
    if (teaches || measures) await expectTokens(services, settings.policy, fixed);
    if (measures) await expectHeadOf(services, fixed, measures);
  }
  if (!(await orderRounds(db, { delivery, settings, roles, rounds, now: now() })))
    throw new HttpError(409, 'delivery.replay', 'This delivery was taken before.', {
      next: 'Nothing to do; sign again to ask for more rounds.',
    });
  const id = runIdOf(settings);
  const open = await advanceRun(db, id, now());
  for (const round of open) await sendProposal(services, round);
  const first = open[0]?.id ?? null;
  log('info', 'run.ordered', { run: id, round: first, rounds });
  return { run: id, round: first, rounds: (await getRun(db, id))?.target ?? rounds };
}

/** Throws `policy.missing` where the version that plays a role is not in the mesh. */
async function expectVersion(
  services: Services,
  role: string,
  { name, version }: { name: string; version: number },
) {
  const { db } = services;
  await policyOrStart(services, name);
  const row = await getVersion(db, { name, version });
  if (row && row.withdrawn === null && row.prunedAt === null) return;
  const known = row ? `was ${row.withdrawn === null ? 'removed' : 'withdrawn'}` : 'is not there';
  throw new RollmeshError(
    'wrong-input',
    'policy.missing',
    `The policy ${name}@${version}, which plays the role ${role}, ${known}.`,
    {
      expected: 'a version of a policy that is in the mesh',
      next: 'Run `npx rollmesh policy list`, or import it: `npx rollmesh policy import DIR --name NAME`.',
    },
  );
}

/** Throws `head.missing` where a version that is to measure has no such head. */
async function expectHeadOf({ db, bucket }: Services, ref: PolicyRef, kind: HeadKind) {
  const hash = (await getVersion(db, ref))?.manifestSha256 ?? null;
  const { files } = await committedManifest(bucket, ref, hash);
  const head = headFile(ref.set);
  const wanted = ['config.json', ...(files[head] ? [head] : [])] as const;
  const loaded: VersionFiles = await loadVersion(bucket, ref, wanted, hash);
  const config = JSON.parse(new TextDecoder().decode(loaded['config.json']));
  expectHead(ref, kind, parseConfig(config), loaded[head]);
}

/** Throws `policy.tokens` for a teacher or a reward model with other tokens than the policy that is trained. */
async function expectTokens({ db, bucket }: Services, student: string, teacher: PolicyRef) {
  const tokens = async (ref: PolicyRef): Promise<Tokens> => {
    const hash = (await getVersion(db, ref))?.manifestSha256 ?? null;
    const { files } = await committedManifest(bucket, ref, hash);
    const { 'config.json': config } = await loadVersion(bucket, ref, ['config.json'], hash);
    return { tokenizer: files['tokenizer.json']?.sha256, config };
  };
  // All versions of a policy have one tokenizer, and version 0 is never pruned.
  expectSameTokens(await tokens({ name: student, version: 0 }), await tokens(teacher), teacher);
}

/**
 * Sends a round's propose message. Sending it twice is harmless, so a send that fails is left to the clock. `again`: some of it may have been
 * written before.
 */
export async function sendProposal(
  { queues }: Services,
  round: RoundSpec,
  again: boolean = false,
): Promise<void> {
  try {
    await sendAll(queues.propose, 'propose', [{ v: 1, round: round.id, ...(again ? { begun: true } : {}) }]);
  } catch (error) {
    log('warn', 'propose.unsent', { round: round.id, cause: error instanceof Error ? error.message : null });
  }
}

/** The start policy that a mesh may replace by one of its own choice. */
const DEFAULT_START = 'arithmetic-base';

/** Makes a policy for a run that names none; it begins from version 0 of the recipe's start policy. */
async function ensurePolicy(services: Services, run: OrderedRun): Promise<void> {
  const { db, bucket, settings, now } = services;
  const { policy } = run.settings;
  if (await (run.named ? policyOrStart(services, policy) : getPolicy(db, policy))) return;
  const { startPolicy: start } = run.recipe;
  const from = start === DEFAULT_START ? settings.defaultStartPolicy : start;
  if (run.named)
    throw new RollmeshError('wrong-input', 'policy.missing', `There is no policy ${policy}.`, {
      next: 'Import it: `npx rollmesh policy import DIR --name NAME`.',
    });
  if (!(await policyOrStart(services, from)))
    throw new RollmeshError(
      'wrong-input',
      'policy.start',
      `The start policy ${from} of recipe ${run.settings.recipe} is not stored in this mesh.`,
      {
        expected: 'a start policy; a local mesh stores the shipped ones when they are first asked for',
        next: `Import it: \`npx rollmesh policy import models/${start} --name ${from}\`.`,
      },
    );
  const source = { name: from, version: 0 };
  const noted = (await getVersion(db, source))?.manifestSha256 ?? null;
  const forked: Manifest = await forkVersion(bucket, source, noted, policy);
  await writeManifest(db, bucket, forked);
  await createPolicy(db, forked, now());
}
