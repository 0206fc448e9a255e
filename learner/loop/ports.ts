/** The parts of the mesh's HTTP clients that the learner's loop calls, as types, so that tests can replace them. */
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { PullQueue } from '../../workers/api/pull-client.ts';

export type { GroupFailure, GroupStates, RoundState } from '../../core/schema/answers.ts';

export type MeshGateway = Pick<
  GatewayClient,
  | 'getRound'
  | 'getGroups'
  | 'getObject'
  | 'getPolicy'
  | 'getVersion'
  | 'getTasks'
  | 'getRoundWork'
  | 'noteAudited'
  | 'shutOutNode'
  | 'putVersion'
  | 'report'
  | 'failGroup'
  | 'failRound'
>;
export type ScoredQueue = Pick<PullQueue, 'pull' | 'ack' | 'retry'>;
