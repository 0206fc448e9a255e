/**
 * A round over games of several seats: deals are drawn, episodes are played, and each seat is paid what the game paid it, turn by turn and in all. A
 * seat is a role; another role may sit in for it in some episodes, as an earlier version does.
 */
import { wholeEpisodesOf } from '../core/episodes/play-episodes.ts';
import { playSeats, type Seated } from '../core/episodes/play-seats.ts';
import type { SeatedGame } from '../core/game/seated-game.ts';
import { deriveId } from '../core/random.ts';
import type { Part } from '../core/recipe/reading.ts';
import type { RoundShape } from '../core/recipe/recipe.ts';
import type { RewardInfo, RoleSettings } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { drawnTasks } from '../worlds/drawn-tasks.ts';
import {
  type BySeat,
  gameOf,
  type Match,
  matchRules,
  matchTask,
  moveOn,
  movesOf,
  openMatch,
  returnsOf,
  whyUnpaid,
} from '../worlds/games/match.ts';
import { STOP } from '../worlds/worked.ts';
import { evaluateGames, type GameExam } from './evaluate/games.ts';
import { coinOf, sealedGold } from './gold.ts';

type GameSettings = Pick<RoundContext['round']['settings'], 'variant'>;

/** Which role plays each seat of an episode. `episode`: its number in the group, from 0. */
export type Cast = (game: SeatedGame, episode: number, settings: GameSettings) => BySeat<string>;

export interface GameRound extends Omit<GameExam, 'games'> {
  /** The games that are trained on. A round's tasks are deals of each in turn. */
  readonly games: readonly SeatedGame[];
  /** Games that are evaluated and never trained on. */
  readonly heldOut?: readonly SeatedGame[];
  /** Those of them that are evaluated; default all. */
  readonly examined?: readonly SeatedGame[];
  /** Which of them a run trains on; default all. */
  readonly trainedOn?: (settings: GameSettings) => readonly SeatedGame[];
  /** Default: each seat is played by the role of its name. */
  readonly cast?: Cast;
  /** What is said of roles otherwise than by default, and roles beside the seats. */
  readonly roles?: Readonly<Record<string, Partial<RoleSettings>>>;
  /** Default 1. */
  readonly temperature?: number;
  /** How a reader is shown what is read and written. */
  readonly parts?: (text: string) => readonly Part[];
  readonly cells?: Readonly<Record<string, string>>;
}

export const GAME_REWARDS: Readonly<Record<'return' | 'format' | 'random', RewardInfo>> = {
  return: { usesGold: true, description: 'what the game paid the seat in the episode' },
  format: {
    usesGold: false,
    description: 'control: the share of the seat’s moves in the episode that the rules allow',
  },
  random: { usesGold: false, description: 'control: a fair coin for each seat' },
};

/** Each seat is played by its own role. */
export const ownSeats: Cast = ({ seats }) => Object.fromEntries(seats.map((seat) => [seat, seat]));

/** Who sits where in an episode of a task. */
export const seatedBy = (roles: BySeat<string>, idOf: (role: string) => string): BySeat<Seated> =>
  Object.fromEntries(Object.entries(roles).map(([seat, role]) => [seat, { role, id: idOf(role) }]));

export function gameRound({
  games,
  heldOut = [],
  examined = games,
  trainedOn = () => games,
  cast = ownSeats,
  roles = {},
  temperature = 1,
  parts,
  cells,
  ...exam
}: GameRound): RoundShape {
  const all = [...games, ...heldOut];
  const seats = [...new Set(all.flatMap((game) => game.seats))];
  const maxNew = Math.max(...all.map((game) => game.maxNew));
  const longest = Math.max(...all.map((game) => game.maxTurns));
  const settings = (role: string): RoleSettings => ({
    description: 'plays',
    sampling: { maxNew, temperature },
    placement: 'turn',
    shown: 'its view of the game',
    ...roles[role],
  });
  return {
    taskName: games[0]!.name,
    ...(games[0]!.tags ? { stop: STOP } : {}),
    rewards: GAME_REWARDS,
    roles: Object.fromEntries([...seats, ...Object.keys(roles)].map((role) => [role, settings(role)])),
    freezable: seats,
    propose: async (context) => {
      const drawn = trainedOn(context.round.settings);
      return drawnTasks(context, (random, index) =>
        matchTask(drawn[index % drawn.length]!, deriveId('deal', random.uint32())),
      );
    },
    rollOut: async (context, tasks) => {
      const { groupSize } = context.round.settings;
      const beginnings = tasks.flatMap(({ group, task }) =>
        Array.from({ length: groupSize }, (_, episode) => {
          const world = openMatch(all, task);
          const roles = cast(world.game, episode, context.round.settings);
          return { seats: seatedBy(roles, (role) => rolloutId(group, role, episode)), episode, world };
        }),
      );
      const played = await playSeats(context, beginnings, matchRules(longest));
      return tasks.map(
        (task: AdmittedTask, t): RolloutGroup => ({
          round: context.round.id,
          ...task,
          samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
        }),
      );
    },
    judge: (context, groups) => Promise.all(groups.map((group) => payGame(context, all, group))),
    evaluate: (context) => evaluateGames(context, { games: [...examined, ...heldOut], ...exam }),
    matches: { games: [...examined, ...heldOut], ...(exam.sides ? { sides: exam.sides } : {}) },
    describe: {
      ...(parts ? { parts: (_: string, text: string) => parts(text) } : {}),
      ...(cells ? { cells } : {}),
      title: (task) => [{ kind: 'text', text: gameOf(task) }],
    },
  };
}

/** A match told again from the turns of a record, with the seat and the pay of each turn: what it earned until the seat's next one. */
export async function retold(
  context: Pick<RoundContext, 'textOf'>,
  start: Match,
  turns: readonly Pick<Sample, 'role' | 'ids'>[],
): Promise<{ readonly match: Match; readonly seats: readonly string[]; readonly earned: readonly number[] }> {
  let match = start;
  const seats: string[] = [];
  const roundOf: number[] = [];
  while (match.readings.length && seats.length + match.readings.length <= turns.length) {
    const movers = match.readings.map(({ seat }) => seat);
    const texts = await Promise.all(
      movers.map(async (seat, i) => {
        const { role, ids } = turns[seats.length + i]!;
        const speaker = await context.textOf(role);
        return { seat, text: speaker.tokenizer.decode(ids), speaker };
      }),
    );
    roundOf.push(...movers.map(() => match.paid.length));
    seats.push(...movers);
    ({ match } = moveOn(match, movesOf(match.game, texts)));
  }
  const first = (seat: string) => seats.indexOf(seat);
  const earned = seats.map((seat, t) => {
    // What was paid before a seat's first move is paid to that move, so that its turns add up to its return.
    const from = first(seat) === t ? 0 : roundOf[t]!;
    const next = seats.findIndex((other, later) => later > t && other === seat);
    const until = next < 0 ? match.paid.length : roundOf[next]!;
    return match.paid.slice(from, until).reduce((sum, paid) => sum + (paid[seat] ?? 0), 0);
  });
  return { match, seats, earned };
}

/** Each turn with its seat's reward for the episode, and with what the turn itself earned. */
async function payGame(
  context: RoundContext,
  games: readonly SeatedGame[],
  group: RolloutGroup,
): Promise<ScoredGroup> {
  const { rewardFunction } = context.round.settings;
  const paid: Sample[] = [];
  const solved: (boolean | null)[] = [];
  for (const turns of wholeEpisodesOf(group.samples)) {
    const { match, seats, earned } = await retold(context, openMatch(games, group.task), turns);
    const why = whyUnpaid(match);
    const { together, score } = match.game;
    const success =
      why || !together || !score ? null : match.game.seats.every((seat) => score(match.state, seat) === 1);
    for (const [t, turn] of turns.entries()) {
      const seat = seats[t];
      const own = turns.filter((_, i) => seats[i] === seat);
      const control =
        rewardFunction === 'random'
          ? Number(coinOf(own[0]!.id))
          : rewardFunction === 'format'
            ? own.filter(({ outcome }) => outcome === 'ok').length / own.length
            : null;
      const given =
        control ?? (why || seat === undefined ? null : sealedGold(context, returnsOf(match)[seat])()) ?? null;
      paid.push(
        given === null
          ? { ...turn, rewards: { reward: null }, missing: { reward: why ?? 'not-rated' } }
          : { ...turn, rewards: { reward: given, ...(control === null ? { turn: earned[t]! } : {}) } },
      );
      solved.push(success);
    }
  }
  const order = new Map(group.samples.map(({ id }, i) => [id, i]));
  const sorted = paid.map((sample, i) => ({ sample, solved: solved[i]! }));
  sorted.sort((a, b) => order.get(a.sample.id)! - order.get(b.sample.id)!);
  const answersExact = sorted.map((one) => one.solved);
  return {
    ...group,
    samples: sorted.map(({ sample }) => sample),
    judgments: [],
    answersExact,
    solutionsExact: answersExact,
  };
}
