/**
 * Accounts for what the gateway uses. Work for the mesh itself is added to the round's usage; work for the learner is returned to the
 * learner in a header, and the learner adds up what its round took. Reading by anybody else belongs to no round.
 */
import type { SQL } from 'drizzle-orm';
import { createMiddleware } from 'hono/factory';
import { addUsage, NOTHING_USED, type Usage } from '../../core/cost/usage.ts';
import type { UsageStage } from '../../core/round/stages.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { countUsed, metered, takeUsed } from '../shared/meter.ts';
import type { Statement } from '../store/database.ts';
import { addToUsage, addUsed } from '../store/usage.ts';
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

/** What was used for a round after its last write began: it is written with the next one, and lost where there is none. */
const owed = new Map<string, Usage>();
const OWED_ROUNDS = 64;

/**
 * Runs `work`, which writes what it used to the round's usage together with its own result: `statement` gives what to write, provided that
 * a condition holds. One call of D1 in place of two.
 */
export async function accountedWithin<T>(
  round: string,
  work: (statement: (provided: SQL) => readonly Statement[]) => Promise<T>,
): Promise<T> {
  let due = NOTHING_USED;
  const { result, used } = await metered(
    () =>
      work((provided) => {
        due = addUsage(takeUsed(), owed.get(round) ?? NOTHING_USED);
        owed.delete(round);
        return [addToUsage(round, STAGE, due, provided)];
      }),
    { exact: false },
  );
  // A write that failed is still owed, and so is what was used beside it.
  const left = result.status === 'rejected' ? addUsage(used, due) : used;
  const oldest = owed.keys().next();
  if (owed.size >= OWED_ROUNDS && !oldest.done) owed.delete(oldest.value);
  owed.set(round, addUsage(left, owed.get(round) ?? NOTHING_USED));
  if (result.status === 'rejected') throw result.reason;
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
