/** What the loop needs of the mesh: the parts of the HTTP clients that it calls, so that tests can stand in for them. */
import type { GatewayClient } from '../transport/gateway-client.ts';
import type { PullQueue } from '../transport/pull-queue.ts';

export type { GroupFailure } from '../transport/gateway-client.ts';
export type { GroupStates, RoundState } from '../transport/views.ts';

export type MeshGateway = Pick<
  GatewayClient,
  'getRound' | 'getGroups' | 'getObject' | 'getPolicy' | 'getVersion' | 'putVersion' | 'report' | 'failGroup'
>;
export type ScoredQueue = Pick<PullQueue, 'pull' | 'ack' | 'retry'>;
