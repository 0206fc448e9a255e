/**
 * Every route of the gateway in one table: who may ask, what it does, and the schemas of query, body and answer, which are those that the
 * routes themselves check or return. A test holds the table to the routes. From it come docs/api.md and web/dashboard/openapi.json
 * (`npm run reference`), and the types of the client: a request that the table does not have does not compile.
 */
import type { Hono } from 'hono';
import type * as v from 'valibot';
import * as agent from '../../core/schema/agent.ts';
import * as answers from '../../core/schema/answers.ts';
import * as environment from '../../core/schema/environment.ts';
import { manifest } from '../../core/schema/policy.ts';
import {
  answersQuery,
  contentsQuery,
  deadLetterQuery,
  eventsQuery,
  groupsQuery,
  listQuery,
  redrawQuery,
  replayQuery,
  roundsQuery,
  sampleQuery,
} from '../../core/schema/queries.ts';
import { roundReport } from '../../core/schema/report.ts';
import * as work from '../../core/schema/work.ts';
import { chatRequest, completionRequest, tokensRequest } from '../../core/serving/order.ts';
import { responsesRequest } from '../../core/serving/responses.ts';
import { runOrder } from '../../recipes/run-order.ts';

/** Who may ask: what stands in the request's `Authorization`, or signs it. */
export const CALLERS = {
  everyone: 'No token.',
  signer: 'A signature by `WEBHOOK_SECRET`: Standard Webhooks’, or GitHub’s.',
  reader:
    '`READ_TOKEN`, or a reader’s own token; on a local mesh without `READ_TOKEN`, no token. The learner’s token opens it as well, and so does a verifier’s.',
  caller: 'As readers, but for verifiers.',
  environments: 'As callers of the models; the token may stand in `X-API-Key` as well.',
  learner: '`LEARNER_TOKEN`, which whoever runs the mesh holds.',
  agents: 'The token of a run’s agents, as `rollmesh agents RUN` prints it.',
  agent:
    'The token of the episode, as the answer to its opening told it; of its seat where an address names one.',
  node: 'The token of a node, as `rollmesh node-token create` printed it.',
} as const;
export type Caller = keyof typeof CALLERS;

type Body = v.GenericSchema | 'bytes' | 'text' | 'events';

export interface RouteReference {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As Hono has it: `:name` is a parameter, `*` the rest of the path. */
  readonly path: string;
  readonly who: Caller;
  /** One sentence. */
  readonly does: string;
  readonly query?: v.GenericSchema;
  readonly body?: Body;
  readonly answer?: Body;
  /** The status of success; 200 unless it says something else. */
  readonly status?: number;
}

type More = Pick<RouteReference, 'query' | 'body' | 'answer' | 'status'>;
const route = <
  const Method extends RouteReference['method'],
  const Path extends string,
  // biome-ignore lint/complexity/noBannedTypes: nothing more
  const Rest extends More = {},
>(
  method: Method,
  path: Path,
  who: Caller,
  does: string,
  more?: Rest,
): { readonly method: Method; readonly path: Path; readonly who: Caller; readonly does: string } & Rest => ({
  method,
  path,
  who,
  does,
  ...(more as Rest),
});

/** The endpoints of an episode, or of one of its seats. */
const callsOf = <const At extends string>(at: At, where: string) => [
  route('GET', `${at}/v1/models`, 'agent', `${where}names the version that answers, as OpenAI does.`),
  route(
    'POST',
    `${at}/v1/chat/completions`,
    'agent',
    `${where}answers a conversation, and records the answer as a part of the episode.`,
    { body: chatRequest },
  ),
  route('POST', `${at}/v1/responses`, 'agent', `${where}likewise, as OpenAI’s Responses API.`, {
    body: responsesRequest,
  }),
  route('POST', `${at}/v1/completions`, 'agent', `${where}likewise from a text or token ids.`, {
    body: completionRequest,
  }),
  route('POST', `${at}/inference/v1/generate`, 'agent', `${where}likewise from token ids, as vLLM.`, {
    body: tokensRequest,
  }),
];

/** By what they are about, in the order in which a newcomer needs them. */
const TABLE = {
  Runs: [
    route('POST', '/hooks/rounds', 'signer', 'Orders rounds of a recipe; a delivery counts once.', {
      body: runOrder,
      answer: answers.runStarted,
      status: 202,
    }),
    route('GET', '/api/runs', 'reader', 'Lists the newest runs with their progress.', {
      query: listQuery,
      answer: answers.runListing,
    }),
    route('GET', '/api/runs/:id', 'reader', 'Shows the settings and the state of a run.', {
      answer: answers.runState,
    }),
    route(
      'POST',
      '/api/runs/:id/stop',
      'learner',
      'Ends a run: its open round fails with the reason, and what was trained stays.',
      { body: answers.stopOrder, answer: answers.runState },
    ),
    route(
      'POST',
      '/api/runs/:id/resume',
      'learner',
      'Opens a paused run again: its rounds go on where they were interrupted. A run that is not paused stays as it is.',
      { answer: answers.runState },
    ),
    route('PUT', '/api/runs/:id/label', 'learner', 'Names, tags, hides or shows a run.', {
      body: answers.runLabel,
      answer: answers.runState,
    }),
    route(
      'DELETE',
      '/api/runs/:id',
      'learner',
      'Deletes a run that has no open round: its samples, a part in each call; the versions that it trained stay.',
      { answer: answers.runDeleted },
    ),
    route(
      'GET',
      '/api/events',
      'reader',
      'Tells by server-sent events (`change`) that a round of the run, or of any run, has moved.',
      { query: eventsQuery, answer: 'events' },
    ),
  ],
  Rounds: [
    route('GET', '/api/rounds', 'reader', 'Lists rounds, newest first.', {
      query: roundsQuery,
      answer: answers.roundListing,
    }),
    route(
      'GET',
      '/api/rounds/:id',
      'reader',
      'Shows a round: its specification, report, usage, cost and failed groups.',
      { answer: answers.roundState },
    ),
    route('GET', '/api/rounds/:id/groups', 'reader', 'Lists the groups of a round and their states.', {
      query: groupsQuery,
      answer: answers.groupListing,
    }),
    route(
      'GET',
      '/api/rounds/:id/groups/:group',
      'reader',
      'Shows a group: its task, samples as text, judgments and rewards.',
      { answer: answers.groupContent },
    ),
    route('GET', '/api/rounds/:id/contents', 'reader', 'Lists the contents of groups from an index on.', {
      query: contentsQuery,
      answer: answers.contentListing,
    }),
    route('GET', '/api/rounds/:id/proposals', 'reader', 'Lists what was proposed, and why it was refused.', {
      answer: answers.proposalListing,
    }),
    route('GET', '/api/rounds/:id/shares', 'reader', 'Says how much of a round each node sampled.', {
      answer: work.roundShares,
    }),
    route(
      'GET',
      '/api/samples/:id',
      'reader',
      'Shows one sample; where rounds are large it is found with its round alone.',
      {
        query: sampleQuery,
        answer: answers.foundSample,
      },
    ),
    route(
      'GET',
      '/api/images/:sha256',
      'reader',
      'Reads an image that a prompt shows, as a portable pixmap (PPM).',
      { answer: 'bytes' },
    ),
    route(
      'POST',
      '/api/samples/:id/redraw',
      'reader',
      'Samples a recorded sample again and says whether it has the same tokens and log-probabilities.',
      { query: redrawQuery, answer: answers.redrawnSample },
    ),
    route(
      'POST',
      '/api/rounds/:id/held-out',
      'reader',
      'Has a version answer a few held-out tasks of the run.',
      { query: answersQuery, answer: answers.heldOutListing },
    ),
  ],
  'Recipes and policies': [
    route('GET', '/api/recipes/:name', 'reader', 'Describes a recipe: roles, rewards, figures, charts.', {
      answer: answers.recipeAnswer,
    }),
    route('GET', '/api/policies', 'reader', 'Lists the policies with their newest versions.', {
      answer: answers.policyListing,
    }),
    route('GET', '/api/policies/:name', 'reader', 'Lists the versions of a policy.', {
      answer: answers.policyVersions,
    }),
    route(
      'POST',
      '/api/policies/:name/rollback',
      'learner',
      'Makes an older version the newest one and withdraws those after it.',
      { body: answers.rollbackOrder, answer: answers.rolledBack },
    ),
    route(
      'POST',
      '/api/policies/:name/prune',
      'learner',
      'Removes the files of versions that nothing needs.',
      {
        body: answers.pruneOrder,
        answer: answers.pruned,
      },
    ),
  ],
  'Models (see [endpoints.md](endpoints.md))': [
    route('GET', '/v1/models', 'caller', 'Lists the policies, as OpenAI lists models.', {}),
    route('GET', '/v1/models/:model', 'caller', 'Shows a policy, as OpenAI shows a model.', {}),
    route(
      'POST',
      '/v1/chat/completions',
      'caller',
      'Answers a conversation; in an episode, where the header `X-Rollmesh-Episode` names one.',
      { body: chatRequest },
    ),
    route(
      'POST',
      '/v1/responses',
      'caller',
      'Answers a conversation, as OpenAI’s Responses API; in an episode likewise.',
      { body: responsesRequest },
    ),
    route(
      'POST',
      '/v1/completions',
      'caller',
      'Goes on from texts or from token ids; in an episode likewise.',
      {
        body: completionRequest,
      },
    ),
    route(
      'POST',
      '/inference/v1/generate',
      'caller',
      'Takes token ids, returns token ids, as vLLM does; in an episode likewise.',
      {
        body: tokensRequest,
      },
    ),
  ],
  'Agents (see [agents.md](agents.md))': [
    route(
      'GET',
      '/api/runs/:id/agents',
      'learner',
      'Tells where agents open the episodes of a run, and the token.',
      {
        answer: agent.agentAccess,
      },
    ),
    route('POST', '/agents/runs/:run/episodes', 'agents', 'Opens the next episode that nobody has held.', {
      body: agent.episodeOrder,
      answer: agent.episodeAnswer,
    }),
    ...callsOf('/agents/episodes/:episode', 'Where the run has one seat: '),
    ...callsOf('/agents/episodes/:episode/seats/:seat', 'As one of several seats: '),
    route('POST', '/agents/episodes/:episode/reward', 'agent', 'Ends the episode with its rewards.', {
      body: agent.rewardOrder,
      answer: agent.rewardTaken,
    }),
  ],
  'Environments (see [environments.md](environments.md))': [
    route('GET', '/environments/health', 'environments', 'Says that environments are served.', {}),
    route('GET', '/environments/list_environments', 'environments', 'Lists the environments.', {}),
    route(
      'GET',
      '/environments/:environment/splits',
      'environments',
      'Lists the splits of an environment: training, and held out.',
      { answer: environment.environmentSplits },
    ),
    route('GET', '/environments/:environment/tools', 'environments', 'Lists the tools of an environment.', {
      answer: environment.environmentTools,
    }),
    route('POST', '/environments/:environment/num_tasks', 'environments', 'Counts the tasks of a split.', {
      body: environment.splitOrder,
      answer: environment.environmentTaskCount,
    }),
    route('POST', '/environments/:environment/task', 'environments', 'Shows a task.', {
      body: environment.taskOrder,
      answer: environment.environmentTask,
    }),
    route(
      'POST',
      '/environments/create_session',
      'environments',
      'Names a session, as an event; nothing is stored yet.',
      { answer: 'events' },
    ),
    route(
      'POST',
      '/environments/create',
      'environments',
      'Begins a session of a task under the name in `X-Session-ID`, once.',
      { body: environment.sessionOrder, answer: environment.sessionBegun },
    ),
    route(
      'GET',
      '/environments/:environment/prompt',
      'environments',
      'Shows what a session’s policy reads first.',
      {
        answer: environment.environmentBlocks,
      },
    ),
    route('GET', '/environments/:environment/task_tools', 'environments', 'Lists the tools of a session.', {
      answer: environment.environmentTools,
    }),
    route(
      'POST',
      '/environments/:environment/call',
      'environments',
      'Calls a tool once; with the number of a call tells its output again.',
      { body: environment.callOrder, answer: 'events' },
    ),
    route('POST', '/environments/ping', 'environments', 'Keeps a session alive.', {}),
    route('POST', '/environments/delete', 'environments', 'Ends a session.', {
      answer: environment.sessionBegun,
    }),
    route('POST', '/environments/delete_session', 'environments', 'Ends a session, too.', {
      answer: environment.sessionBegun,
    }),
  ],
  'Nodes (see [nodes.md](nodes.md))': [
    route('GET', '/api/nodes', 'reader', 'Lists the nodes: state, versions, audits.', {
      answer: work.nodeListing,
    }),
    route('POST', '/api/nodes', 'learner', 'Makes the token of a new node; it is told once.', {
      body: work.nodeOrder,
      answer: work.nodeMade,
      status: 201,
    }),
    route('POST', '/api/nodes/:name/revoke', 'learner', 'Revokes a node’s token and takes back its leases.', {
      answer: work.nodeRevoked,
    }),
    route(
      'POST',
      '/api/nodes/:id/shut-out',
      'learner',
      'Shuts a node out; its groups since the last clean audit are drawn again.',
      { body: work.shutOutOrder, answer: work.nodeShutOut },
    ),
    route('POST', '/api/nodes/audited', 'learner', 'Notes what an audit found about nodes.', {
      body: work.auditedNodes,
    }),
    route('GET', '/api/rounds/:id/work', 'learner', 'Lists which node answered which request of a round.', {
      answer: work.roundWork,
    }),
    route('POST', '/api/work/lease', 'node', 'Leases sampling requests.', {
      body: work.leaseOrder,
      answer: work.leaseAnswer,
    }),
    route('POST', '/api/work/heartbeat', 'node', 'Prolongs a lease.', {
      body: work.leaseName,
      answer: work.heartbeatAnswer,
    }),
    route('POST', '/api/work/release', 'node', 'Gives a lease back; without a lease: the node leaves.', {
      body: work.leaseName,
    }),
    route('GET', '/api/work/files/:lease/:sha256', 'node', 'Reads a file that a leased request names.', {
      answer: 'bytes',
    }),
    route('POST', '/api/work/result', 'node', 'Answers a leased request, sealed by the node’s key.', {
      body: work.workResult,
      answer: work.workTaken,
    }),
    route(
      'POST',
      '/api/work/results',
      'node',
      'Answers several requests of a lease; each is taken or refused by itself.',
      {
        body: work.workResults,
        answer: work.workResultsTaken,
      },
    ),
  ],
  'The learner': [
    route(
      'GET',
      '/api/objects/*',
      'learner',
      'Reads an object under rounds/, policies/ or tasks/; with `x-sha256` the one of that hash, where several were stored under the key. A verifier’s token reads it as well.',
      { answer: 'bytes' },
    ),
    route(
      'PUT',
      '/api/policies/:name/versions/:n/files/:file',
      'learner',
      'Stores a file of a version; `x-sha256` is its hash.',
      { body: 'bytes', answer: answers.storedFile, status: 201 },
    ),
    route(
      'POST',
      '/api/policies/:name/versions/:n/files/:file/parts',
      'learner',
      'Begins to store a file in parts, or finds what is stored of it; `x-sha256` is the hash of the whole file here and below.',
      { body: answers.uploadOrder, answer: answers.uploadState },
    ),
    route(
      'PUT',
      '/api/policies/:name/versions/:n/files/:file/parts/:part',
      'learner',
      'Stores a part, from 1; all but the last have `partBytes`.',
      { body: 'bytes', answer: answers.storedPart, status: 201 },
    ),
    route(
      'POST',
      '/api/policies/:name/versions/:n/files/:file/parts/join',
      'learner',
      'Stores the file that the parts make.',
      { answer: answers.storedFile, status: 201 },
    ),
    route(
      'PUT',
      '/api/policies/:name/versions/:n',
      'learner',
      'Commits a version by its manifest, and begins the round that follows.',
      { body: manifest, answer: answers.committed, status: 201 },
    ),
    route('POST', '/api/tasks/missing', 'learner', 'Says which objects of tasks are not stored.', {
      body: answers.tasksOrder,
      answer: answers.missingTasks,
    }),
    route(
      'PUT',
      '/api/tasks/:sha256',
      'learner',
      'Stores an object of tasks under its hash, for the stages of runs on large files.',
      { body: 'bytes', answer: answers.storedTasks, status: 201 },
    ),
    route('POST', '/api/rounds/:id/report', 'learner', 'Stores the report of a round.', {
      body: roundReport,
      answer: answers.reported,
    }),
    route('POST', '/api/rounds/:id/failure', 'learner', 'Gives up a round that cannot be trained.', {
      body: answers.roundFailure,
      answer: answers.roundFailed,
    }),
    route('POST', '/api/rounds/:id/groups/:group/failure', 'learner', 'Refuses a group, with the reason.', {
      body: answers.groupFailure,
      answer: answers.groupFailed,
    }),
  ],
  'The mesh itself': [
    route('GET', '/healthz', 'everyone', 'Says that the gateway answers.', {}),
    route('GET', '/metrics', 'reader', 'Tells the figures of the mesh in Prometheus’ text format.', {
      answer: 'text',
    }),
    route('GET', '/api/dead-letters', 'reader', 'Lists messages that failed too often.', {
      query: deadLetterQuery,
      answer: answers.deadLetterListing,
    }),
    route(
      'POST',
      '/api/dead-letters/replay',
      'learner',
      'Sends dead letters again where a round waits, the newest hundred; `before` goes on where the answer before ended.',
      {
        query: replayQuery,
        answer: answers.replayListing,
      },
    ),
    route('POST', '/api/dead-letters/:id/replay', 'learner', 'Sends one dead letter again.', {
      answer: answers.replayed,
      status: 202,
    }),
  ],
} satisfies Readonly<Record<string, readonly RouteReference[]>>;

export const ROUTES: Readonly<Record<string, readonly RouteReference[]>> = TABLE;

type Route = (typeof TABLE)[keyof typeof TABLE][number];

/** The parameters of a path by name; the rest of a path is one, `key`. */
type Params<Path extends string> = Path extends `${string}*`
  ? 'key'
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? Name | Params<Rest>
    : Path extends `${string}:${infer Name}`
      ? Name
      : never;

type Sent<T> = T extends readonly (infer Each)[]
  ? readonly Sent<Each>[]
  : T extends object
    ? { readonly [Field in keyof T]: Sent<T[Field]> }
    : T;

/** What hono's client wants to be given for a route. */
type Input<R extends Route> = ([Params<R['path']>] extends [never]
  ? unknown
  : { param: Record<Params<R['path']>, string> }) &
  (R extends { query: infer Query extends v.GenericSchema } ? { query: v.InferInput<Query> } : unknown) &
  (R extends { body: infer Fields extends v.GenericSchema } ? { json: Sent<v.InferInput<Fields>> } : unknown);

/** As hono writes the rest of a path. */
type InFull<Path extends string> = Path extends `${infer Start}*` ? `${Start}:key{.+}` : Path;

/** The gateway as hono's client knows it (`hc`). Answers are left open: the client checks what it reads. */
export type Gateway = Hono<
  object,
  {
    [Path in Route['path'] as InFull<Path>]: {
      [R in Extract<Route, { path: Path }> as `$${Lowercase<R['method']>}`]: {
        input: Input<R> & object;
        output: unknown;
        outputFormat: 'json';
        status: 200;
      };
    };
  },
  '/'
>;
