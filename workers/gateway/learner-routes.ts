/** The learner's routes: it reads objects, commits versions, and reports rounds and refused groups. All of them need its token; a verifier's token reads objects, too. */
import { Hono } from 'hono';
import * as v from 'valibot';
import {
  type Committed,
  type groupFailed,
  groupFailure,
  type Pruned,
  pruneOrder,
  type RunDeleted,
  type reported,
  rollbackOrder,
  type rolledBack,
  type roundFailed,
  roundFailure,
  runLabel,
  stopOrder,
} from '../../core/schema/answers.ts';
import { manifest } from '../../core/schema/policy.ts';
import { roundReport } from '../../core/schema/report.ts';
import { id, name } from '../../core/schema/sample.ts';
import { giveUpTraining } from '../store/give-up-training.ts';
import { failGroup, getGroup } from '../store/groups.ts';
import { labelRun, markDeleted, removeSamples, removeTasks } from '../store/label-run.ts';
import { resumeRun } from '../store/pause.ts';
import { getPolicy } from '../store/policies.ts';
import { DAY_MS, judgeVersions } from '../store/retention.ts';
import { rollBack } from '../store/rollback.ts';
import { getRound, setReport } from '../store/rounds.ts';
import { getRun } from '../store/runs.ts';
import { stopRun } from '../store/stop-run.ts';
import { setUsed } from '../store/usage.ts';
import { getObject } from '../store/version-objects.ts';
import { check, readJsonBody } from './body.ts';
import { commit } from './commit.ts';
import { learnerOnly, objectReaders } from './guards.ts';
import { HttpError } from './http-error.ts';
import { hashHeader, notFound } from './parameters.ts';
import { prune } from './prune.ts';
import type { GatewayTypes } from './services.ts';
import { runView } from './views.ts';

/** Accepts only keys under rounds, policies and tasks, without empty or dots-only segments, so that no path leads elsewhere. */
const objectKey = v.pipe(
  v.string(),
  v.maxLength(512),
  v.regex(
    /^(?:rounds|policies|tasks)(?:\/(?!\.+(?:\/|$))[a-z0-9._-]{1,128})+$/,
    'Expected a key under rounds/, policies/ or tasks/',
  ),
);
/** Largest report, in bytes: it holds the reward of each of up to 5,000 proposals. */
const REPORT_LIMIT = 1024 * 1024;
/** Largest manifest, in bytes: it names every group that the version was trained on. */
const MANIFEST_LIMIT = 1024 * 1024;

export const learnerRoutes = new Hono<GatewayTypes>()
  .get('/api/objects/*', objectReaders, async (c) => {
    const key = check(objectKey, c.req.path.slice('/api/objects/'.length), 'object.key');
    const { bucket } = c.var.services;
    const sha256 = check(v.optional(hashHeader), c.req.header('x-sha256'), 'object.sha256');
    const object = await (sha256 ? getObject(bucket, key, sha256) : bucket.get(key));
    if (!object) throw notFound('object', key);
    // A body with this content type is not compressed on its way.
    const headers = { 'content-type': 'application/octet-stream', etag: object.httpEtag };
    return new Response(object.body, { headers });
  })
  .put('/api/policies/:name/versions/:n', learnerOnly, async (c) => {
    const asked = await readJsonBody(c.req.raw, manifest, MANIFEST_LIMIT);
    if (asked.policy !== c.req.param('name') || String(asked.version) !== c.req.param('n'))
      throw new HttpError(422, 'version.path', 'The manifest is of another version than the path.', {
        expected: `policy ${c.req.param('name')}, version ${c.req.param('n')}`,
      });
    const done = await commit(c.var.services, asked);
    return c.json<Committed>(done, done.created ? 201 : 200);
  })
  .post('/api/policies/:name/rollback', learnerOnly, async (c) => {
    const policy = check(name, c.req.param('name'), 'policy.name');
    const { version, reason } = await readJsonBody(c.req.raw, rollbackOrder, 4096);
    const { db, now } = c.var.services;
    if (!(await rollBack(db, { name: policy, version }, reason, now())))
      throw notFound('usable version', `${policy}@${version}`);
    return c.json<v.InferOutput<typeof rolledBack>>({ policy, current: version });
  })
  .post('/api/policies/:name/prune', learnerOnly, async (c) => {
    const policy = check(name, c.req.param('name'), 'policy.name');
    const { keep, withdrawnDays, dryRun } = await readJsonBody(c.req.raw, pruneOrder, 4096);
    const { services } = c.var;
    if (!(await getPolicy(services.db, policy))) throw notFound('policy', policy);
    const rule = { keep, withdrawnMs: withdrawnDays * DAY_MS };
    const versions = await judgeVersions(services.db, policy, rule, services.now());
    const removed = dryRun ? [] : await prune(services, policy, rule);
    return c.json<Pruned>({ policy, dryRun, versions: [...versions], removed: [...removed] });
  })
  .post('/api/runs/:id/stop', learnerOnly, async (c) => {
    const run = check(id, c.req.param('id'), 'run.id');
    const { reason } = await readJsonBody(c.req.raw, stopOrder, 4096);
    const { db, now } = c.var.services;
    if (!(await stopRun(db, run, reason, now()))) throw notFound('run', run);
    return c.json(runView((await getRun(db, run))!));
  })
  .post('/api/runs/:id/resume', learnerOnly, async (c) => {
    const run = check(id, c.req.param('id'), 'run.id');
    const { db, now } = c.var.services;
    if (!(await getRun(db, run))) throw notFound('run', run);
    // What its open rounds miss is sent by the clock: its rounds count as stalled since before the mesh began.
    await resumeRun(db, run, now());
    return c.json(runView((await getRun(db, run))!));
  })
  .put('/api/runs/:id/label', learnerOnly, async (c) => {
    const run = check(id, c.req.param('id'), 'run.id');
    const label = await readJsonBody(c.req.raw, runLabel, 4096);
    const { db } = c.var.services;
    if (!(await labelRun(db, run, label))) throw notFound('run', run);
    return c.json(runView((await getRun(db, run))!));
  })
  .delete('/api/runs/:id', learnerOnly, async (c) => {
    const run = check(id, c.req.param('id'), 'run.id');
    const { db, bucket, now, recipes } = c.var.services;
    if (!(await getRun(db, run))) throw notFound('run', run);
    if (!(await markDeleted(db, run, now())))
      throw new HttpError(409, 'run.open', `A round of run ${run} is under way.`, {
        expected: 'a run without an open round',
        next: 'Stop it first: `rollmesh stop RUN`.',
      });
    const removed = await removeSamples(db, bucket, run);
    if (!removed.left) await removeTasks(db, bucket, run, recipes.recipes);
    return c.json<RunDeleted>({ run, ...removed });
  })
  .post('/api/rounds/:id/report', learnerOnly, async (c) => {
    const round = check(id, c.req.param('id'), 'round.id');
    const report = await readJsonBody(c.req.raw, roundReport, REPORT_LIMIT);
    const { db } = c.var.services;
    if (!(await getRound(db, round))) throw notFound('round', round);
    await setReport(db, round, report, [
      ...(report.used ? [setUsed(round, 'learner', report.used)] : []),
      // Kept under the round that they came before, so that a report which is sent again counts once.
      ...(report.idle ? [setUsed(round, 'idle', report.idle)] : []),
    ]);
    return c.json<v.InferOutput<typeof reported>>({ round });
  })
  .post('/api/rounds/:id/failure', learnerOnly, async (c) => {
    const round = check(id, c.req.param('id'), 'round.id');
    const { attempts, ...why } = await readJsonBody(c.req.raw, roundFailure, 4096);
    const { db, now } = c.var.services;
    const row = await getRound(db, round);
    if (!row) throw notFound('round', round);
    if (row.state === 'training') await giveUpTraining(db, round, { ...why, attempts, at: now() });
    return c.json<v.InferOutput<typeof roundFailed>>({ round, state: (await getRound(db, round))!.state });
  })
  .post('/api/rounds/:id/groups/:group/failure', learnerOnly, async (c) => {
    const round = check(id, c.req.param('id'), 'round.id');
    const group = check(id, c.req.param('group'), 'group.id');
    const why = await readJsonBody(c.req.raw, groupFailure, 4096);
    const { db, now } = c.var.services;
    if (!(await getGroup(db, round, group))) throw notFound('group', group);
    await failGroup(db, round, group, ['rollout', 'scored'], why, now());
    const { state } = (await getGroup(db, round, group))!;
    return c.json<v.InferOutput<typeof groupFailed>>({ round, group, state });
  });
