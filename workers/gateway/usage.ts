/**
 * Accounts for what the gateway uses. Work for the mesh itself is added to the round's usage; work for the learner is returned to the
 * learner in a header, and the learner adds up what its round took. Reading by anybody else belongs to no round.
 */
import { createMiddleware } from 'hono/factory';
import type { UsageStage } from '../../core/stages.ts';
import { addUsed } from '../../store/usage.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { countUsed, metered } from '../shared/meter.ts';
import { isLearner } from './guards.ts';
import type { GatewayTypes, Services } from './services.ts';

/** Header of an answer to the learner: a JSON object with the fields of core/cost/usage.ts. */
const USAGE_HEADER = 'x-rollmesh-used';

const STAGE: UsageStage = 'gateway';

/** Runs `work` and adds what it used to the round that `roundOf` gives for its result; null = it belongs to no round. */
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
