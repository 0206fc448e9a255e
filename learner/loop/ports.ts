/** What the loop needs of the mesh: the parts of the HTTP clients that it calls, so that tests can stand in for them. */
import type { GatewayClient } from '../../api/gateway-client.ts';
import type { PullQueue } from '../../api/pull-client.ts';

export type { GroupFailure, GroupStates, RoundState } from '../../core/schema/answers.ts';

export type MeshGateway = Pick<
  GatewayClient,
  'getRound' | 'getGroups' | 'getObject' | 'getPolicy' | 'getVersion' | 'putVersion' | 'report' | 'failGroup'
>;
export type ScoredQueue = Pick<PullQueue, 'pull' | 'ack' | 'retry'>;
