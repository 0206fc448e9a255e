/**
 * Wraps a Worker of the local mesh when a soak test asks for it: the Worker is the same, but its bindings fail as the platform's
 * do. The Workers themselves do not know of it, and it is never deployed.
 */
import worker from 'rollmesh:worker';
import type { FaultSettings } from './fault-settings.ts';
import { type FaultyEnv, openFaults } from './faulty-bindings.worker.ts';

export * from 'rollmesh:worker';

let faults: ReturnType<typeof openFaults> | undefined;

const faultsOf = (env: FaultyEnv) => {
  faults ??= openFaults(JSON.parse(env.FAULTS) as FaultSettings);
  return faults;
};

const handlers: ExportedHandler<FaultyEnv> = {
  ...(worker.fetch && {
    fetch: (request, env, context) => {
      const { bindings, clock } = faultsOf(env);
      clock();
      return worker.fetch!(request, bindings(env), context);
    },
  }),
  ...(worker.queue && {
    queue: (batch, env, context) => {
      const { bindings, clock } = faultsOf(env);
      clock();
      return worker.queue!(batch, bindings(env), context);
    },
  }),
  ...(worker.scheduled && {
    scheduled: (controller, env, context) => {
      const { bindings, clock } = faultsOf(env);
      clock();
      return worker.scheduled!(controller, bindings(env), context);
    },
  }),
};
export default handlers;
