/** The Worker of any stage: it opens what its bindings name, consumes its queue, and records what that used. */
import type * as v from 'valibot';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { type Registry, registry } from '../../core/recipe/registry.ts';
import type { WorkerStage } from '../../core/round/stages.ts';
import type { Messages } from '../../core/schema/round.ts';
import { provideQuickJs } from '../../core/sandbox/quickjs.ts';
import quickJs from '../../kernels/quickjs.wasm';
import { openDatabase, type Statement } from '../store/database.ts';
import { addUsed } from '../store/usage.ts';
import { consume } from './consume.ts';
import { CpuBudget, cpuBudgetMs } from './cpu-budget.ts';
import { storeUndeliverable } from './dead-letter.ts';
import { meteredD1, meteredR2 } from './metered-bindings.ts';
import { sessionOf } from './open-policy.ts';
import type { StageMesh } from './stage-mesh.ts';

// Compiled when the Worker is deployed. The gateway has none: it serves no environment whose answers are programs.
provideQuickJs(quickJs);

/** The bindings that every stage has. */
export interface StageEnv {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly RETRY_SECONDS: string;
  readonly CPU_BUDGET_SECONDS?: string;
  /** `rest`: isolates sample nothing while there are nodes; else they take from the same list. */
  readonly ISOLATES_WITH_NODES?: string;
  /** Signs requests to reward services; only the judge needs it. */
  readonly REWARD_SECRET?: string;
}

/** What a Worker is made for. */
export interface WorkerOptions {
  /** The recipes whose rounds it plays. */
  readonly recipes: readonly Recipe[];
}

export interface StageSpec<S extends WorkerStage, Env extends StageEnv> {
  readonly stage: S;
  readonly schema: v.GenericSchema<unknown, Messages[S]>;
  /**
   * Does what the messages of one round ask for; it is idempotent. It gets the stage's own bindings beside those that every stage has.
   * An error that it throws for a missing secret fails the messages and not the Worker. What it returns is written with the usage.
   */
  readonly work: (
    mesh: StageMesh,
    env: Env,
    round: string,
    messages: readonly Messages[S][],
  ) => Promise<readonly Statement[]>;
}

/** What a Worker's bindings come to, for one invocation. */
export function meshOf(env: StageEnv, recipes: Registry): StageMesh {
  const db = openDatabase(meteredD1(env.DB));
  const bucket = meteredR2(env.BUCKET);
  const budgetMs = cpuBudgetMs(env.CPU_BUDGET_SECONDS);
  return {
    recipes,
    db,
    bucket,
    session: sessionOf({ db, bucket }),
    now: () => Date.now(),
    rewardSecret: env.REWARD_SECRET,
    cpuBudgetMs: budgetMs,
    cpuBudget: new CpuBudget(budgetMs),
    kept: new Map(),
    besideNodes: env.ISOLATES_WITH_NODES !== 'rest',
  };
}

/** Makes a stage's Worker. Throws `wrong-input` where two of the recipes have the same name. */
export function stageWorker<S extends WorkerStage, Env extends StageEnv>(
  { stage, schema, work }: StageSpec<S, Env>,
  options: WorkerOptions,
): ExportedHandler<Env> {
  const recipes = registry(options.recipes);
  return {
    async queue(batch, env) {
      const mesh = meshOf(env, recipes);
      const { db, now } = mesh;
      await consume(
        {
          stage,
          schema,
          work: (round, messages) => work(mesh, env, round, messages),
          storeUndeliverable: (body, attempts, failure) =>
            storeUndeliverable(db, stage, body, attempts, failure, now()),
          account: (round, used, left) => addUsed(db, round, stage, used, left),
          retrySeconds: Number(env.RETRY_SECONDS),
        },
        batch.messages,
      );
    },
  };
}
