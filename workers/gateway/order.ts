/** Orders as they arrive by webhook: ours as they are, GitHub's in its own event. */
import * as v from 'valibot';

export { type OrderedRun, type RunOrder, runOf, runOrder } from '../../recipes/run-order.ts';

/** GitHub wraps our order: `repository_dispatch` carries it as client_payload. */
export const githubEvent = v.object({ client_payload: v.unknown() });
