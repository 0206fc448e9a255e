/** The rollout Worker: consumes `rollmesh-rollout`, and samples again for readers. It only connects bindings; the work is in roll-out-groups.ts and sample-again.ts. */
import * as v from 'valibot';
import { registry } from '../../core/recipe/registry.ts';
import { callOrder } from '../../core/schema/agent.ts';
import { answerOrder, redrawOrder, type SamplingFailure } from '../../core/schema/answers.ts';
import { rolloutMessage } from '../../core/schema/round.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredQueue } from '../shared/metered-bindings.ts';
import { meshOf, type StageEnv, stageWorker, type WorkerOptions } from '../shared/stage-worker.ts';
import { type EnvironmentVars, type EpisodeRequests, environmentOf } from './ask-for-episodes.ts';
import { rollOutGroups } from './roll-out-groups.ts';
import { answerHeldOut, sampleAgain } from './sample-again.ts';
import { errorBody, isEndpoint } from './serving/endpoints.ts';
import { serve } from './serving/serve.ts';
import { serveCall } from './serving/serve-call.ts';

export interface RolloutEnv extends StageEnv, EnvironmentVars {
  readonly JUDGE: StageQueue<'judge'>;
  readonly ROLLOUT: StageQueue<'rollout'>;
  /** The environment Worker's. */
  readonly EPISODE?: StageQueue<'episode'>;
}

function episodesOf(env: RolloutEnv): EpisodeRequests | undefined {
  const environment = environmentOf(env);
  return environment && env.EPISODE && { queue: meteredQueue(env.EPISODE), environment };
}

/** Its routes have no address: only the gateway reaches them, through a service binding, after its own checks. */
export function rolloutWorker(options: WorkerOptions): ExportedHandler<RolloutEnv> {
  const recipes = registry(options.recipes);
  return {
    ...stageWorker<'rollout', RolloutEnv>(
      {
        stage: 'rollout',
        schema: rolloutMessage,
        work: (mesh, env, round, messages) =>
          rollOutGroups(
            {
              ...mesh,
              judgments: meteredQueue(env.JUDGE),
              rollouts: meteredQueue(env.ROLLOUT),
              episodes: episodesOf(env),
            },
            round,
            messages,
          ),
      },
      options,
    ),
    async fetch(request, env, context) {
      const mesh = meshOf(env, recipes);
      // A reader who goes away must not end work that the isolate's other messages wait for.
      const keep = <T>(work: Promise<T>): Promise<T> => {
        context.waitUntil(work.catch(() => undefined));
        return work;
      };
      const { pathname } = new URL(request.url);
      if (isEndpoint(pathname) || pathname === '/call')
        try {
          const body: unknown = await request.json();
          return await (isEndpoint(pathname)
            ? serve(mesh, pathname, body, keep)
            : serveCall(mesh, v.parse(callOrder, body), keep));
        } catch (error) {
          const { status, body } = errorBody(error);
          if (status >= 500) log('error', 'serving.failed', failureOf(error));
          return Response.json(body, { status });
        }
      try {
        const body: unknown = await request.json();
        if (pathname === '/redraw')
          return Response.json(await keep(sampleAgain(mesh, v.parse(redrawOrder, body))));
        return Response.json(await keep(answerHeldOut(mesh, v.parse(answerOrder, body))));
      } catch (error) {
        return Response.json(failureOf(error) satisfies SamplingFailure, { status: 422 });
      }
    },
  };
}
