/** The routes that only read: runs, rounds, groups, policies and samples. They need no token unless a reading token is set. */
import { Hono } from 'hono';
import type * as v from 'valibot';
import type {
  ContentListing,
  FoundSample,
  GroupContent,
  groupListing,
  PolicyListing,
  PolicyVersions,
  ProposalListing,
  RecipeAnswer,
  RoundState,
  roundListing,
  runListing,
} from '../../core/schema/answers.ts';
import {
  contentsQuery,
  groupsQuery,
  listQuery,
  roundsQuery,
  sampleQuery,
} from '../../core/schema/queries.ts';
import { id, name } from '../../core/schema/sample.ts';
import { countGroups, getGroup, groupsFrom, groupsOf } from '../store/groups.ts';
import { getPolicy, listPolicies, manifestsOf, versionsOf } from '../store/policies.ts';
import { readRoundState } from '../store/round-state.ts';
import { getRound, listRounds } from '../store/rounds.ts';
import { getRun, listRuns, progressOfRuns } from '../store/runs.ts';
import { readImage } from '../store/stored-tasks.ts';
import { usageOf } from '../store/usage.ts';
import { check } from './body.ts';
import { limitSamples } from './guards.ts';
import { hashHeader, notFound } from './parameters.ts';
import { findSample, groupContents, proposalPage, readerOf } from './samples.ts';
import type { GatewayTypes } from './services.ts';
import {
  groupView,
  LISTED_VERSIONS,
  listedRunView,
  policyVersionsView,
  policyView,
  recipeView,
  roundView,
  runView,
} from './views.ts';

export const readRoutes = new Hono<GatewayTypes>()
  .get('/images/:sha256', async (c) => {
    const sha256 = check(hashHeader, c.req.param('sha256'), 'image.sha256');
    const image = await readImage(c.var.services.bucket, sha256);
    if (!image) throw notFound('image', sha256);
    // An image never changes, and who may read it may do so again.
    const headers = { 'content-type': 'image/x-portable-pixmap', 'cache-control': 'private, max-age=86400' };
    return new Response(image, { headers });
  })
  .get('/runs', async (c) => {
    const { db, recipes } = c.var.services;
    const { limit } = check(listQuery, c.req.query(), 'query');
    const rows = await listRuns(db, limit);
    const progress = await progressOfRuns(
      db,
      rows.map((row) => row.id),
    );
    return c.json<v.InferOutput<typeof runListing>>({
      runs: rows.map((row) => listedRunView(row, progress.get(row.id), recipes)),
    });
  })
  .get('/runs/:id', async (c) => {
    const wanted = check(id, c.req.param('id'), 'run.id');
    const row = await getRun(c.var.services.db, wanted);
    if (!row) throw notFound('run', wanted);
    return c.json(runView(row));
  })
  .get('/rounds', async (c) => {
    const { db } = c.var.services;
    const rows = await listRounds(db, check(roundsQuery, c.req.query(), 'query'));
    const ids = rows.map((row) => row.id);
    const [counts, used] = [await countGroups(db, ids), await usageOf(db, ids)];
    return c.json<v.InferOutput<typeof roundListing>>({
      rounds: rows.map((row) => roundView(row, counts.get(row.id), used.get(row.id))),
    });
  })
  .get('/rounds/:id', async (c) => {
    const { db } = c.var.services;
    const wanted = check(id, c.req.param('id'), 'round.id');
    const state = await readRoundState(db, wanted);
    if (!state) throw notFound('round', wanted);
    const { row, counts, usage, failed, versions, before, paused } = state;
    return c.json<RoundState>({
      ...roundView(row, counts, usage),
      report: row.report,
      spec: row.spec,
      manifests: manifestsOf(row.spec, versions),
      waitsFor: before,
      ...(paused ? { paused } : {}),
      failures: failed.map(groupView),
    });
  })
  .get('/rounds/:id/groups', async (c) => {
    const { db } = c.var.services;
    const wanted = check(id, c.req.param('id'), 'round.id');
    const { state } = check(groupsQuery, c.req.query(), 'query');
    if (!(await getRound(db, wanted))) throw notFound('round', wanted);
    return c.json<v.InferOutput<typeof groupListing>>({
      groups: (await groupsOf(db, wanted, state && [state])).map(groupView),
    });
  })
  .get('/rounds/:id/groups/:group', async (c) => {
    const { db, bucket, recipes } = c.var.services;
    const round = check(id, c.req.param('id'), 'round.id');
    const group = check(id, c.req.param('group'), 'group.id');
    const [row, groupRow] = [await getRound(db, round), await getGroup(db, round, group)];
    if (!row || !groupRow) throw notFound('group', group);
    const [content] = await groupContents(bucket, readerOf(recipes, { db, bucket }, row), row, [groupRow]);
    return c.json<GroupContent>(content!);
  })
  .get('/rounds/:id/contents', async (c) => {
    const { db, bucket, recipes } = c.var.services;
    const wanted = check(id, c.req.param('id'), 'round.id');
    const { from, limit } = check(contentsQuery, c.req.query(), 'query');
    const row = await getRound(db, wanted);
    if (!row) throw notFound('round', wanted);
    const rows = await groupsFrom(db, wanted, from, limit);
    const groups = await groupContents(bucket, readerOf(recipes, { db, bucket }, row), row, rows);
    const last = groups.at(-1)?.index;
    const next = groups.length < limit || last === undefined ? null : last + 1;
    return c.json<ContentListing>({ groups, next });
  })
  .get('/rounds/:id/proposals', async (c) => {
    const { db, bucket, recipes } = c.var.services;
    const wanted = check(id, c.req.param('id'), 'round.id');
    const row = await getRound(db, wanted);
    if (!row) throw notFound('round', wanted);
    return c.json<ProposalListing>(await proposalPage(bucket, readerOf(recipes, { db, bucket }, row), row));
  })
  .get('/recipes/:name', (c) => {
    const wanted = check(name, c.req.param('name'), 'recipe.name');
    const recipe = c.var.services.recipes.recipes.find((candidate) => candidate.name === wanted);
    if (!recipe) throw notFound('recipe', wanted);
    return c.json<RecipeAnswer>(recipeView(recipe));
  })
  .get('/policies', async (c) =>
    c.json<PolicyListing>({ policies: (await listPolicies(c.var.services.db)).map(policyView) }),
  )
  .get('/policies/:name', async (c) => {
    const { db } = c.var.services;
    const wanted = check(name, c.req.param('name'), 'policy.name');
    const policy = await getPolicy(db, wanted);
    if (!policy) throw notFound('policy', wanted);
    const versions = await versionsOf(db, wanted, LISTED_VERSIONS);
    return c.json<PolicyVersions>(policyVersionsView(policy, versions));
  })
  .get('/samples/:id', limitSamples, async (c) => {
    const { db, bucket, recipes } = c.var.services;
    const wanted = check(id, c.req.param('id'), 'sample.id');
    const { round } = check(sampleQuery, c.req.query(), 'query');
    const found = await findSample(db, bucket, wanted, round);
    if (!found) throw notFound('sample', wanted);
    const { row, round: of, group, index, task, sample } = found;
    const place = { round: of, group, index, task };
    return c.json<FoundSample>({
      ...place,
      sample: await readerOf(recipes, { db, bucket }, row).read(sample),
    });
  });
