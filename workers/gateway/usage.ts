/**
 * What the gateway uses, noted where it belongs: to a round where it works for the mesh itself, and told to the learner where it works for
 * the learner, which adds up what its round took. Reading by anybody else belongs to no round.
 */
import { createMiddleware } from 'hono/factory';
import type { UsageStage } from '../../core/stages.ts';
import { addUsed } from '../../store/usage.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { countUsed, metered } from '../shared/meter.ts';
import { isLearner } from './guards.ts';
import type { GatewayTypes, Services } from './services.ts';

/** Of an answer to the learner: a JSON object, the fields of core/cost/usage.ts. */
const USAGE_HEADER = 'x-rollmesh-used';

const STAGE: UsageStage = 'gateway';

/** Runs `work` and notes what it used with the round that it returns; null = it belongs to none. */
export async function accounted<T>(
  { db }: Services,
  work: () => Promise<T>,
  roundOf: (result: T) => string | null,
): Promise<T> {
  const { result, used } = await metered(work, { exact: false });
  if (result.status === 'rejected') throw result.reason;
  const round = roundOf(result.value);
  try {
    if (round !== null) await addUsed(db, round, STAGE, used);
  } catch (error) {
    log('warn', 'gateway.unaccounted', { round, ...failureOf(error) });
  }
  return result.value;
}

export const tellLearner = createMiddleware<GatewayTypes>(async function toldLearner(c, next) {
  if (!isLearner(c)) return next();
  const { result, used } = await metered(
    () => {
      countUsed('requests', 1);
      return next();
    },
    { exact: false },
  );
  if (result.status === 'rejected') throw result.reason;
  c.res.headers.set(USAGE_HEADER, JSON.stringify(used));
});
