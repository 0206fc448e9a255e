/**
 * The routes of agents: programs that hold the episodes of a run. One opens an episode with the run's token, speaks to the policy with the
 * episode's own token as to any OpenAI server, and ends it with a reward. Where a run has several seats, each is spoken for at an address
 * and with a token of its own. Whatever an agent does to an episode is refused by name once it has ended.
 */
import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type * as v from 'valibot';
import { equalInConstantTime } from '../../core/audit/provenance.ts';
import { type AgentSeats, callSampleId } from '../../core/episodes/agent-episode.ts';
import { wrongInput } from '../../core/errors.ts';
import { agentsToken, episodeToken, runToken, seatToken } from '../../core/net/agent-token.ts';
import type { Score } from '../../core/net/reward-service.ts';
import { LONGEST_CONTEXT } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { refOf } from '../../core/recipe/round-context.ts';
import {
  type AgentAccess,
  type CallOrder,
  EPISODE_HEADER,
  type EpisodeAnswer,
  type EpisodeKey,
  episodeHeader,
  episodeName,
  episodeOrder,
  nameOfEpisode,
  rewardOrder,
  type rewardTaken,
  type SeatRewards,
  type TurnRewards,
} from '../../core/schema/agent.ts';
import { id } from '../../core/schema/sample.ts';
import { nameOf } from '../../core/serving/order.ts';
import { DEEPEST, isShallow } from '../../core/text/nesting.ts';
import { expectOpen } from '../shared/agent-episodes.ts';
import {
  type AnsweredCall,
  answeredCallsOf,
  groupsHeld,
  openEpisode,
  rewardEpisode,
} from '../store/episodes.ts';
import { getGroup } from '../store/groups.ts';
import { getRound, touchRound } from '../store/rounds.ts';
import { getRun, lastRoundOf, noteAgentTold, openRoundsOf, type RunRow } from '../store/runs.ts';
import { check, parseJson, readBytes, readJsonBody } from './body.ts';
import { continueGroups } from './continue-groups.ts';
import { countRequest, learnerOnly } from './guards.ts';
import { HttpError, toldError } from './http-error.ts';
import { longestOf } from './model-routes.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes, Services } from './services.ts';
import { accounted } from './usage.ts';

const CALL_LIMIT = 1 << 20;
const ORDER_LIMIT = 4096;
/** Room for the reward of each call. */
const REWARD_LIMIT = 1 << 15;
/** When an agent that found nothing should ask again, seconds. */
const WAIT_SECONDS = 1;

/** What an episode answers to as an OpenAI server, and as vLLM. */
const ENDPOINTS: readonly CallOrder['endpoint'][] = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/completions',
  '/inference/v1/generate',
];

/** The paths of an endpoint: of the only seat, and of one of several. */
const atSeats = (endpoint: string): string[] => [
  `/episodes/:episode/${endpoint}`,
  `/episodes/:episode/seats/:seat/${endpoint}`,
];

type AgentContext = Context<GatewayTypes>;

/** Passes a bearer of one of the tokens; whoever guesses is limited, an agent is not: it asks as often as it works. */
async function expectToken(
  c: AgentContext,
  what: string,
  ...tokensOf: readonly ((secret: string) => string)[]
): Promise<void> {
  const given = /^Bearer ([0-9a-f]{64})$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  const secrets = c.var.services.secrets.learner.filter(
    (secret) => secret !== undefined && secret.length >= 16,
  );
  const tokens = secrets.flatMap((secret) => tokensOf.map((tokenOf) => tokenOf(secret!)));
  if (tokens.map((token) => equalInConstantTime(given, token)).some(Boolean)) return;
  await countRequest(c, 'strangers');
  throw noToken(what);
}

const noToken = (what: string) =>
  new HttpError(401, 'agent.token', `This needs the token of ${what}.`, {
    expected: 'Authorization: Bearer <token>, which OpenAI’s clients call the API key',
    next: 'Take it from the answer to the request that opened the episode; `rollmesh agents RUN` prints that of the run.',
  });

const episodeOf = (c: AgentContext): EpisodeKey => check(episodeName, c.req.param('episode'), 'episode.name');

// A name that is none has no token either: it is told apart only once the token is right.
const ownEpisode = createMiddleware<GatewayTypes>(async function ownEpisode(c, next) {
  const [name, seat] = [c.req.param('episode') ?? '', c.req.param('seat')];
  await (seat === undefined
    ? expectToken(c, 'this episode', (secret) => episodeToken(secret, name))
    : expectToken(c, `the seat ${JSON.stringify(seat.slice(0, 40))} of this episode`, (secret) =>
        seatToken(secret, name, seat),
      ));
  await next();
});

const ownRun = createMiddleware<GatewayTypes>(async function ownRun(c, next) {
  const run = c.req.param('run') ?? '';
  await expectToken(c, 'this run’s agents', (secret) => runToken(secret, run), agentsToken);
  await next();
});

/** The run, if agents hold its episodes. */
async function runOfAgents({ db, recipes }: Services, wanted: string): Promise<RunRow> {
  const run = await getRun(db, wanted);
  if (!run) throw notFound('run', wanted);
  if (recipes.find(run.settings.recipe).agent) return run;
  throw wrongInput('run.agents', `The run ${wanted} samples by itself: its recipe has no role for agents.`, {
    expected: 'a run that was started with --agent',
  });
}

const listed = (names: readonly string[]): string => names.join(', ');

/** The seat that the address of a request names; without a name the only one. Throws `episode.seat`. */
function seatOf(c: AgentContext, { seats }: AgentSeats): string {
  const named = c.req.param('seat');
  const [only, ...others] = seats;
  if (named === undefined && others.length === 0) return only!;
  if (named !== undefined && seats.includes(named)) return named;
  throw wrongInput('episode.seat', 'An episode of this run has several seats, and the address names none.', {
    expected: `the address of one of ${listed(seats)}`,
    next: 'Give each seat a client of its own, with the baseURL and the apiKey under `seats` of the answer that opened the episode.',
  });
}

/** The rewards of the seats. Throws where one is of no seat or of one without an answer, and where a seat with an answer has none. */
function expectSeats(
  rewards: SeatRewards,
  { seats }: AgentSeats,
  answered: readonly AnsweredCall[],
): SeatRewards {
  const spoke = seats.filter((seat) => answered.some(({ role }) => role === seat));
  const named = Object.keys(rewards);
  const unknown = named.find((seat) => !seats.includes(seat));
  if (unknown !== undefined)
    throw wrongInput('episode.seat', `This run has no seat ${JSON.stringify(unknown.slice(0, 40))}.`, {
      expected: `rewards of ${listed(seats)}`,
    });
  const silent = named.find((seat) => !spoke.includes(seat));
  if (silent !== undefined)
    throw wrongInput(
      'episode.seat-silent',
      `The seat ${silent} got no answer in this episode, and is paid.`,
      {
        expected: spoke.length ? `rewards of ${listed(spoke)} alone` : 'no rewards: no seat got an answer',
      },
    );
  const unpaid = spoke.find((seat) => !named.includes(seat));
  if (unpaid === undefined) return rewards;
  throw wrongInput(
    'episode.seat-unpaid',
    `The seat ${unpaid} got answers in this episode, and has no reward.`,
    {
      expected: `rewards of ${listed(spoke)}`,
      next: 'Where it has none, say why in place of a number: "not-rated", or another kind of missing reward.',
    },
  );
}

/** Nothing to hold now: because the run has ended, or because what is open is taken. */
async function nothing({ db, now }: Services, run: RunRow): Promise<EpisodeAnswer> {
  const [open, last] = [await openRoundsOf(db, run.id), await lastRoundOf(db, run.id)];
  const over = open.length === 0 && (run.state === 'stopped' || last >= run.target);
  if (!over) return { state: 'wait', seconds: WAIT_SECONDS };
  await noteAgentTold(db, run.id, now());
  return { state: 'over' };
}

/** Locally the caller's own address of the mesh, deployed the same. */
const addressOf = (c: AgentContext): string => new URL(c.req.url).origin;

/** What answers were paid, by the numbers of their calls. Throws `episode.turn` for the id of no answer of this episode. */
function turnsPaid(
  answered: readonly AnsweredCall[],
  { group, sample }: EpisodeKey,
  paid: Readonly<Record<string, number>>,
): TurnRewards {
  const turnOf = new Map(
    answered.map(({ role, turn }) => [callSampleId(group, role, sample, turn), turn] as const),
  );
  return Object.fromEntries(
    Object.entries(paid).map(([answer, reward]) => {
      // An answer's id has a prefix that depends on the endpoint, as in chatcmpl-…
      const turn = turnOf.get(answer.slice(answer.lastIndexOf('-') + 1));
      if (turn !== undefined) return [turn, reward];
      throw wrongInput(
        'episode.turn',
        `${JSON.stringify(answer.slice(0, 80))} is no answer of the episode ${nameOfEpisode({ group, sample })}.`,
        { expected: 'the `id` of an answer that this episode got' },
      );
    }),
  );
}

/** Sends the group on if all of its episodes have ended. */
async function continueHeld(services: Services, round: string, group: string): Promise<void> {
  const held = await groupsHeld(services.db, round, [group]);
  await continueGroups(
    services,
    held.map((one) => ({ round, stage: 'rollout', ...one })),
  );
}

/** The same request at the address of the episode that its header names. The run's token asks in any of the run's episodes. */
async function atEpisode(c: AgentContext, header: string): Promise<Request> {
  const { run, episode, seat } = check(episodeHeader, header, 'episode.header');
  const { db, secrets } = c.var.services;
  const url = new URL(c.req.url);
  url.pathname = `/agents/episodes/${episode}${seat ? `/seats/${seat}` : ''}${c.req.path}`;
  const asked = new Request(url, c.req.raw);
  const given = c.req.header('authorization') ?? '';
  const secret = secrets.learner.find(
    (one) => one !== undefined && equalInConstantTime(given, `Bearer ${runToken(one, run)}`),
  );
  // Another token may be the episode's own, or the seat's.
  if (secret === undefined) return asked;
  const { round } = await expectOpen(db, check(episodeName, episode, 'episode.name'));
  if (round.run !== run) throw noToken('the run of this episode');
  const key = seat ? seatToken(secret, episode, seat) : episodeToken(secret, episode);
  asked.headers.set('authorization', `Bearer ${key}`);
  return asked;
}

/** The model endpoints for requests that name an episode in a header; others go on. `ask` answers a request as the gateway does. */
export function episodeHeaderRoutes(ask: (request: Request, env: unknown) => Response | Promise<Response>) {
  const inEpisode = createMiddleware<GatewayTypes>(async function inEpisode(c, next) {
    const header = c.req.header(EPISODE_HEADER);
    return header === undefined ? next() : ask(await atEpisode(c, header), c.env);
  });
  return new Hono<GatewayTypes>()
    .get('/v1/models', inEpisode)
    .on('POST', [...ENDPOINTS], inEpisode)
    .onError(toldError);
}

export const agentRoutes = new Hono<GatewayTypes>()
  .post('/runs/:run/episodes', ownRun, async (c) => {
    const { services } = c.var;
    const { db, now, settings, recipes, secrets } = services;
    const { key } = await readJsonBody(c.req.raw, episodeOrder, ORDER_LIMIT);
    const run = await runOfAgents(services, check(id, c.req.param('run'), 'run.id'));
    const opening = key === undefined ? crypto.randomUUID() : deriveId('opening', run.id, key);
    const opened = await openEpisode(db, run.id, opening, now());
    if (!opened) return c.json<EpisodeAnswer>(await nothing(services, run));
    const { row, again } = opened;
    const [round, group] = [await getRound(db, row.round), await getGroup(db, row.round, row.group)];
    const { agent } = recipes.find(run.settings.recipe);
    if (!round || !group || !agent) throw new Error(`internal: episode of no round ${row.round}`);
    await touchRound(db, round.id, now());
    const episode = nameOfEpisode(row);
    const own = `${addressOf(c)}/agents/episodes/${episode}`;
    const secret = secrets.learner.find((one) => one !== undefined)!;
    const modelOf = (seat: string) => nameOf(refOf(round.spec, seat));
    const headersOf = (...seat: string[]) => ({ [EPISODE_HEADER]: [run.id, episode, ...seat].join('/') });
    const [only, ...others] = agent.seats;
    const access = others.length
      ? {
          seats: Object.fromEntries(
            agent.seats.map((seat) => [
              seat,
              {
                baseURL: `${own}/seats/${seat}/v1`,
                apiKey: seatToken(secret, episode, seat),
                headers: headersOf(seat),
                model: modelOf(seat),
              },
            ]),
          ),
        }
      : { baseURL: `${own}/v1`, headers: headersOf(), model: modelOf(only!) };
    return c.json<EpisodeAnswer>({
      state: 'open',
      episode,
      ...(again ? { again } : {}),
      run: run.id,
      round: round.index,
      task: agent.taskView(group.task),
      ...access,
      rewardURL: `${own}/reward`,
      apiKey: episodeToken(secret, episode),
      idleSeconds: settings.episodeMs / 1000,
    });
  })
  .on('GET', atSeats('v1/models'), ownEpisode, async (c) => {
    const { db, bucket, recipes } = c.var.services;
    const { round } = await expectOpen(db, episodeOf(c));
    const ref = refOf(round.spec, seatOf(c, recipes.find(round.spec.settings.recipe).agent!));
    const created = Math.floor(round.createdAt / 1000);
    const longest = await longestOf({ db, bucket }, ref.name);
    const model = {
      id: nameOf(ref),
      object: 'model',
      created,
      owned_by: 'rollmesh',
      max_model_len: longest && Math.min(longest, LONGEST_CONTEXT),
      version: ref.version,
    };
    return c.json({ object: 'list', data: [model] });
  })
  .on(
    'POST',
    ENDPOINTS.flatMap((endpoint) => atSeats(endpoint.slice(1))),
    ownEpisode,
    async (c) => {
      const { db, sampler, recipes } = c.var.services;
      if (!sampler)
        throw new HttpError(501, 'sampler.missing', 'This mesh has no Worker that answers for its models.', {
          next: 'Give the gateway the service binding SAMPLER of wrangler.toml and deploy it again.',
        });
      const episode = episodeOf(c);
      const { round } = await expectOpen(db, episode);
      const role = seatOf(c, recipes.find(round.spec.settings.recipe).agent!);
      const endpoint = ENDPOINTS.find((one) => c.req.path.endsWith(one))!;
      const body = parseJson(await readBytes(c.req.raw, CALL_LIMIT));
      if (!isShallow(body))
        throw new HttpError(422, 'body.nesting', 'The body is nested too deeply.', {
          expected: `at most ${DEEPEST} levels`,
        });
      const order: CallOrder = {
        ...episode,
        role,
        endpoint,
        body,
        key: c.req.header('idempotency-key')?.slice(0, 256) ?? null,
        // OpenAI's own clients count their retries in this header.
        again: Number(c.req.header('x-stainless-retry-count') ?? 0) > 0,
      };
      const answer = await sampler.fetch(
        new Request('https://rollout/call', { method: 'POST', body: JSON.stringify(order) }),
      );
      return new Response(answer.body, {
        status: answer.status,
        headers: { 'content-type': answer.headers.get('content-type') ?? 'application/json' },
      });
    },
  )
  .post('/episodes/:episode/reward', ownEpisode, async (c) => {
    const { services } = c.var;
    const { db, now, recipes } = services;
    const episode = episodeOf(c);
    const { reward, missing, rewards, turns } = await readJsonBody(c.req.raw, rewardOrder, REWARD_LIMIT);
    const { round } = await expectOpen(db, episode);
    const agent = recipes.find(round.spec.settings.recipe).agent!;
    const answered = await answeredCallsOf(db, episode);
    const score: Score | SeatRewards = rewards ? expectSeats(rewards, agent, answered) : (reward ?? missing!);
    const posted = { score, turns: turnsPaid(answered, episode, turns) };
    await accounted(
      services,
      async () => {
        // Somebody else may have ended it since.
        if (!(await rewardEpisode(db, episode, round.id, posted, now()))) await expectOpen(db, episode);
        await continueHeld(services, round.id, episode.group);
      },
      () => round.id,
    );
    return c.json<v.InferOutput<typeof rewardTaken>>({
      episode: nameOfEpisode(episode),
      reward: reward ?? null,
      ...(missing ? { missing } : {}),
      ...(rewards ? { rewards } : {}),
    });
  })
  .onError(toldError);

/** How agents get at a run's episodes. */
export const agentAccessRoutes = new Hono<GatewayTypes>().get('/runs/:id/agents', learnerOnly, async (c) => {
  const { services } = c.var;
  const { recipes } = services;
  const run = await runOfAgents(services, check(id, c.req.param('id'), 'run.id'));
  const secret = services.secrets.learner.find((one) => one !== undefined)!;
  return c.json<AgentAccess>({
    run: run.id,
    url: `${addressOf(c)}/agents/runs/${run.id}`,
    token: runToken(secret, run.id),
    seats: [...recipes.find(run.settings.recipe).agent!.seats],
    toldAt: run.agentsToldAt,
  });
});
