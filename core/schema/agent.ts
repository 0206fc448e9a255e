/** What agents and the mesh say to each other about episodes, and the record of a call. */
import * as v from 'valibot';
import { message } from '../renderer/message.ts';
import { missingReward } from './missing-reward.ts';
import { count, finite, payment } from './numbers.ts';
import { id, name } from './sample.ts';
import { completion } from './work.ts';

/** An episode is open until its agent posts a reward, or is gone for too long. */
export const EPISODE_STATES = ['open', 'rewarded', 'missing'] as const;

/** The most calls of one episode. */
export const MOST_CALLS = 128;

/** The name of an episode in addresses: its group and its number among the group's rollouts. */
export const episodeName = v.pipe(
  v.string(),
  v.regex(
    /^[0-9a-f]{32}-(?:0|[1-9]\d?)$/,
    'Expected the name of an episode, as it was told when it was opened',
  ),
  v.transform((name) => ({ group: name.slice(0, 32), sample: Number(name.slice(33)) })),
);
export type EpisodeKey = v.InferOutput<typeof episodeName>;

export const nameOfEpisode = ({ group, sample }: EpisodeKey): string => `${group}-${sample}`;

/** The name of a seat: a role of the run's recipe that agents hold. It stands in addresses. */
export const seatName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    'Expected the name of a seat: a letter, then up to 31 lower-case letters, digits and dashes',
  ),
);

/** Names of parameter sets that a seat's own weights cannot have: those of the run's other weights, and two that are kept back. */
const TAKEN = ['main', 'critic', 'model', 'optimizer'];

/**
 * Who holds an episode: one seat after the other, each trained unless it is played by exactly one version of a policy. `own`: the seat has weights
 * of its own, a parameter set by its name, which begin as the run's start; the others that are trained share theirs.
 */
export const seats = v.pipe(
  v.array(
    v.strictObject({
      name: seatName,
      policy: v.exactOptional(v.strictObject({ name, version: count })),
      own: v.exactOptional(v.literal(true)),
    }),
  ),
  v.minLength(1),
  v.maxLength(8, 'Expected at most 8 seats'),
  v.check(
    (all) => new Set(all.map((seat) => seat.name)).size === all.length,
    'Expected seats with names of their own',
  ),
  v.check((all) => all.some(({ policy }) => !policy), 'Expected at least one seat that is trained'),
  v.check(
    (all) => !all.some(({ policy, own }) => policy && own),
    'Expected weights of its own for a seat that no fixed version plays',
  ),
  v.check(
    (all) => !all.some((seat) => seat.own && TAKEN.includes(seat.name)),
    `Expected another name than ${TAKEN.join(', ')} for a seat with weights of its own`,
  ),
);
export type Seat = v.InferOutput<typeof seats>[number];

/** By this header a request to the model endpoints is one of an episode: `RUN/EPISODE`, or `RUN/EPISODE/SEAT`. */
export const EPISODE_HEADER = 'x-rollmesh-episode';
export const episodeHeader = v.pipe(
  v.string(),
  v.regex(
    /^[0-9a-f]{32}\/[0-9a-f]{32}-\d{1,2}(?:\/[a-z][a-z0-9-]{0,31})?$/,
    'Expected the value that was told when the episode was opened',
  ),
  v.transform((text) => {
    const [run, episode, seat] = text.split('/') as [string, string, string?];
    return { run, episode, seat };
  }),
);

/** Headers by which a client of the whole mesh asks in an episode. */
const episodeHeaders = v.record(v.string(), v.string());

/** What an OpenAI client needs to speak for a seat. */
const seatAccess = v.object({
  baseURL: v.string(),
  apiKey: v.string(),
  headers: episodeHeaders,
  /** The exact version that answers. */
  model: v.string(),
});

/** The body of a request for an episode. */
export const episodeOrder = v.strictObject({
  /** A name of the caller's own for this request: sent again under the same one, the same episode is its answer. */
  key: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
});

/** An episode to hold, nothing for now, or nothing any more. */
export const episodeAnswer = v.variant('state', [
  v.object({
    state: v.literal('open'),
    episode: v.string(),
    /** True where the request had opened it before: somebody may hold it already, or may have held it once. */
    again: v.exactOptional(v.literal(true)),
    run: id,
    round: count,
    /** What the run's recipe tells of the task. */
    task: v.unknown(),
    /** For an OpenAI client: its base URL and the exact version that answers. Absent where the run has several seats. */
    baseURL: v.exactOptional(v.string()),
    model: v.exactOptional(v.string()),
    /** The same for a client of the whole mesh, with the run's token as its API key. */
    headers: v.exactOptional(episodeHeaders),
    /** The episode's key. It ends the episode; where the run has one seat, it is the client's API key, too. */
    apiKey: v.string(),
    /** Where the reward is posted, with the episode's key. */
    rewardURL: v.string(),
    /** Where the run has several seats: each by its name, for a client of its own. */
    seats: v.exactOptional(v.record(v.string(), seatAccess)),
    /** Without a sign of its agent for so long the episode is missing data, seconds. */
    idleSeconds: finite,
  }),
  v.object({
    /** All episodes of the open rounds are taken: ask again later. */
    state: v.literal('wait'),
    seconds: finite,
  }),
  v.object({
    /** The run has ended. */
    state: v.literal('over'),
  }),
]);
export type EpisodeAnswer = v.InferOutput<typeof episodeAnswer>;

/** What single calls of an episode were paid, by their numbers; a call that is not there was paid nothing of its own. */
export type TurnRewards = Readonly<Record<string, number>>;

/** By seat: its reward, or why there is none. */
const seatRewards = v.record(
  v.string(),
  v.union([payment, missingReward], 'Expected a number from -1e9 to 1e9, or why the reward is missing'),
);
export type SeatRewards = Readonly<v.InferOutput<typeof seatRewards>>;

/** Valibot leaves out keys that name an object's own parts, so that a payment to one would be dropped without a word. */
const namesAnswers = (turns: unknown): boolean =>
  typeof turns === 'object' &&
  turns !== null &&
  !Object.keys(turns).some((key) => ['__proto__', 'prototype', 'constructor'].includes(key));

/**
 * The body by which an agent ends its episode: with its reward, or with why there is none; or with `rewards` for each seat that got an
 * answer. `reward` and `missing` are those of every seat.
 */
export const rewardOrder = v.pipe(
  v.strictObject({
    reward: v.exactOptional(payment),
    missing: v.exactOptional(missingReward),
    rewards: v.exactOptional(seatRewards),
    /** What single answers were paid, by the `id` of each: the part of the reward that they earned. */
    turns: v.exactOptional(
      v.pipe(
        v.custom<Record<string, unknown>>(namesAnswers, 'Expected the ids of answers'),
        v.record(v.string(), payment),
      ),
      {},
    ),
  }),
  v.check(
    ({ reward, missing, rewards }) =>
      [reward, missing, rewards].filter((given) => given !== undefined).length === 1,
    'Expected a reward, or why it is missing, or the rewards of the seats, and one of them alone',
  ),
);

export const rewardTaken = v.object({
  episode: v.string(),
  reward: v.nullable(finite),
  missing: v.exactOptional(missingReward),
  rewards: v.exactOptional(seatRewards),
});

/** How an agent gets episodes of a run. */
export const agentAccess = v.object({
  run: id,
  url: v.string(),
  token: v.string(),
  /** The seats of an episode. */
  seats: v.optional(v.array(v.string()), []),
  /** When an agent was last told that the run is over, ms since 1970; null = none was. */
  toldAt: v.optional(v.nullable(count), null),
});
export type AgentAccess = v.InferOutput<typeof agentAccess>;

/** One call as it is stored: what was asked, as token ids and as the conversation that they write, and the answer. */
export const recordedCall = v.object({
  prompt: v.array(count),
  maxNew: count,
  completion: v.object({
    ...completion.entries,
    /** What the agent was told beside the drawn tokens; absent where it asked for nothing more. */
    alternatives: v.exactOptional(v.array(v.array(v.object({ id: count, logprob: finite })))),
  }),
  /** Absent where the prompt was no conversation. */
  dialogue: v.exactOptional(
    v.object({
      messages: v.array(message),
      tools: v.exactOptional(v.array(v.record(v.string(), v.unknown()))),
      text: v.string(),
    }),
  ),
});
export type RecordedCall = v.InferOutput<typeof recordedCall>;

/** Answers of the policy in an episode of an environment at most, where nobody says otherwise. */
export const USUAL_TURNS = 16;

/** Where and how a Worker of the mesh plays episodes: an environment that somebody else hosts. */
export const environmentOrder = v.object({
  /** Without a path of an environment: `https://environments.example`. */
  url: v.string(),
  /** The most answers of the policy. */
  turns: v.pipe(count, v.minValue(1), v.maxValue(MOST_CALLS)),
  /** The tool whose one argument is the whole of each answer: for policies that know no tools. */
  answerTool: v.exactOptional(v.string()),
});
export type EnvironmentOrder = v.InferOutput<typeof environmentOrder>;

/** Asks the environment Worker to hold one more episode of a run. Under one key it is the same episode. */
export const episodeMessage = v.object({
  v: v.literal(1),
  run: id,
  key: v.string(),
  environment: environmentOrder,
});
export type EpisodeMessage = v.InferOutput<typeof episodeMessage>;

/** What the gateway asks the rollout Worker for on behalf of an episode. */
export const callOrder = v.object({
  group: id,
  sample: count,
  /** The seat that asks. */
  role: v.string(),
  endpoint: v.picklist([
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/completions',
    '/inference/v1/generate',
  ]),
  body: v.unknown(),
  /** A key of the caller's own for this request. */
  key: v.nullable(v.string()),
  /** Does the caller say that it sends the request again? */
  again: v.boolean(),
});
export type CallOrder = v.InferOutput<typeof callOrder>;
