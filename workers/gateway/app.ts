/** The gateway's routes and what stands before them; the order here is the order in which a request may be refused. */
import { Hono } from 'hono';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { meshStatistics } from '../store/statistics.ts';
import { agentAccessRoutes, agentRoutes, episodeHeaderRoutes } from './agent-routes.ts';
import { readOn } from './body.ts';
import { deadLetterRoutes } from './dead-letter-routes.ts';
import { environmentRoutes } from './environment-routes.ts';
import { events } from './events.ts';
import { boundRequest, knowReader, limitReads, pagesOfOthers, readersOnly } from './guards.ts';
import { errorResponse } from './http-error.ts';
import { learnerRoutes } from './learner-routes.ts';
import { meshMetrics } from './mesh-metrics.ts';
import { prometheusText } from './metrics.ts';
import { modelRoutes } from './model-routes.ts';
import { nodeReadRoutes, nodeRoutes } from './node-routes.ts';
import { page, securityHeaders } from './page.ts';
import { notFound } from './parameters.ts';
import { queueDepths } from './queue-depths.ts';
import { readRoutes } from './read-routes.ts';
import { samplingRoutes } from './sampling-routes.ts';
import type { GatewayTypes, Services } from './services.ts';
import { taskRoutes, uploadRoutes } from './upload-routes.ts';
import { tellLearner } from './usage.ts';
import { webhook } from './webhook.ts';
import { workRoutes } from './work-routes.ts';

export function gatewayApp(services: Services): Hono<GatewayTypes> {
  const app = new Hono<GatewayTypes>();
  app.use(async function provide(c, next) {
    c.set('services', services);
    await next();
    if (c.res.status >= 400) await readOn(c.req.raw);
    for (const [header, value] of Object.entries(securityHeaders(c.req.path)))
      c.res.headers.set(header, value);
  });
  app.use(boundRequest);
  app.use(pagesOfOthers);
  app.onError((error, c) => {
    const { status, body } = errorResponse(error);
    if (status >= 500)
      log('error', 'request.failed', { path: c.req.path.slice(0, 200), ...failureOf(error) });
    return c.json(body, status);
  });
  app.get('/healthz', (c) => c.json({ ok: true }));
  app.route('/', webhook);
  app.route('/api/work', workRoutes);
  app.route('/agents', agentRoutes);
  app.route(
    '/',
    episodeHeaderRoutes((request, env) => app.fetch(request, env as object)),
  );
  app.use(knowReader);
  app.use(limitReads);
  app.use(tellLearner);
  app.use('/api/*', readersOnly);
  app.use('/metrics', readersOnly);
  app.get('/metrics', async (c) => {
    const [statistics, depths] = await Promise.all([meshStatistics(services.db), queueDepths(services)]);
    return c.text(prometheusText(meshMetrics(statistics, depths, services.now())), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
  app.route('/', modelRoutes);
  app.route('/environments', environmentRoutes);
  app.route('/', learnerRoutes);
  app.route('/api/policies/:name/versions/:n/files', uploadRoutes);
  app.route('/api/tasks', taskRoutes);
  app.route('/', nodeRoutes);
  app.route('/api/dead-letters', deadLetterRoutes);
  app.route('/api', readRoutes);
  app.route('/api', nodeReadRoutes);
  app.route('/api', agentAccessRoutes);
  app.route('/api', events);
  app.route('/api', samplingRoutes);
  app.all('/api/*', (c) => {
    throw notFound('route', c.req.path);
  });
  app.get('*', page);
  app.notFound((c) => {
    const { status, body } = errorResponse(notFound('route', `${c.req.method} ${c.req.path}`));
    return c.json(body, status);
  });
  return app;
}
