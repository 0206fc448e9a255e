/**
 * A searcher: it looks things up in the documents of a game and answers. It may be asked of what it finds whether that helps, and a reader may stand between it and
 * the documents, who reads them in parts and writes down what helps.
 */
import { wholeEpisodesOf } from '../core/episodes/play-episodes.ts';
import { playSeats, type SeatsRules } from '../core/episodes/play-seats.ts';
import type { Game, Library, Speaker, Wordings } from '../core/game/game.ts';
import type { SearchStep } from '../core/game/verbs.ts';
import type { SamplingSettings } from '../core/policy/policy.ts';
import { deriveId } from '../core/random.ts';
import { type RewardInfo, type RoleSettings, role } from '../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import { rendered, type Solution } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import type { Outcome } from '../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { tallyOf } from '../core/statistics/change.ts';
import { withEpisodeRewards } from './episode-credit.ts';
import { coinOf, sealedGold } from './gold.ts';
import { rewardNamed, SOLVER } from './solver.ts';

export const SEARCHER = 'searcher';

/** A searcher as a role. */
export const searcherRole = (
  { words }: Pick<SearchGame, 'words'>,
  description = 'searches and answers',
  more: Partial<RoleSettings> = {},
): Readonly<Record<string, RoleSettings>> => ({
  [SEARCHER]: role(description, words.search.maxNew, {
    speaksAs: SOLVER,
    shown: 'what its searches find',
    ...more,
  }),
});

/** Who reads what a searcher finds, where a recipe has one. */
export const READER = 'reader';

/** A game in which a searcher plays; it says `sift` and `digest` where one is asked that. */
export type SearchGame = Omit<Game<'search'>, 'words'> & {
  readonly words: Wordings<'search'> & Partial<Wordings<'sift' | 'digest'>>;
};

export interface Searching {
  /** Searches at most; after the last one it has to answer. */
  readonly searches: number;
  /** Is it asked whether what it found helps? */
  readonly sifts?: boolean;
  /** Does a reader digest what it finds, which it is not shown itself? */
  readonly digests?: boolean;
  /** Characters of each document that it is shown, or that the reader reads; default all. */
  readonly cut?: number;
}

/** Characters that a reader reads at once, and how often after one search; what is beyond is not read. */
const BIN = 4000;
const BINS = 4;

/** What is asked next in an episode of a task. */
type Asks = 'search' | 'sift' | 'digest';

export interface Search {
  readonly task: string;
  /** `found` is what the searcher is shown: documents, or what a reader wrote of them. */
  readonly steps: readonly SearchStep[];
  /** The documents that each search found. */
  readonly sources: readonly (readonly string[])[];
  /** What the reader still has to read of the last ones, part by part. */
  readonly unread: readonly (readonly string[])[];
  /** What was asked, turn by turn. */
  readonly asked: readonly Asks[];
  readonly next: Asks | null;
  readonly solution: Solution | null;
}

export const begunSearch = (task: string): Search => ({
  task,
  steps: [],
  sources: [],
  unread: [],
  asked: [],
  next: 'search',
  solution: null,
});

/**
 * Texts in as few parts of at most `size` characters as first-fit-decreasing finds: each text, the longest first, goes into the first part with room for it. Longer texts are
 * cut into pieces. The texts of a part are in their own order.
 */
export function packed(texts: readonly string[], size: number): string[][] {
  const pieces = texts.flatMap((text) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size)),
  );
  const bySize = pieces.map((_, i) => i).sort((a, b) => pieces[b]!.length - pieces[a]!.length || a - b);
  const bins: { room: number; readonly at: number[] }[] = [];
  for (const at of bySize) {
    const { length } = pieces[at]!;
    const bin = bins.find(({ room }) => room >= length);
    if (bin) {
      bin.room -= length;
      bin.at.push(at);
    } else bins.push({ room: size - length, at: [at] });
  }
  return bins.map(({ at }) => at.sort((a, b) => a - b).map((i) => pieces[i]!));
}

/** The documents of a game. Throws where a recipe that needs documents is played without. */
export function libraryOf({ library }: Pick<Game, 'library'>): Library {
  if (library) return library;
  throw new Error('internal: a searcher plays in a game without documents');
}

/** The episode after a text, and the text's outcome. */
export function searchAfter(
  game: SearchGame,
  speaker: Speaker,
  searching: Searching,
  search: Search,
  text: string,
): { readonly search: Search; readonly outcome: Outcome } {
  const { searches, cut, sifts = false, digests = false } = searching;
  const { task, steps, next } = search;
  const asked = [...search.asked, next!];
  const found: Asks = sifts ? 'sift' : 'search';
  if (next === 'digest') {
    const { query, found: before } = steps.at(-1)!;
    const [bin, ...unread] = search.unread;
    const said = game.words.digest!.read(text, { task, query, found: bin! }, speaker);
    const last = { query, found: said.ok ? [...before, said.value] : before, useful: null };
    return {
      search: {
        ...search,
        asked,
        unread,
        steps: [...steps.slice(0, -1), last],
        next: unread.length ? 'digest' : found,
      },
      outcome: said.ok ? 'ok' : said.reason,
    };
  }
  if (next === 'sift') {
    const said = game.words.sift!.read(text, { task, steps }, speaker);
    const last = { ...steps.at(-1)!, useful: said.ok ? said.value : null };
    return {
      search: { ...search, asked, steps: [...steps.slice(0, -1), last], next: 'search' },
      outcome: said.ok ? 'ok' : said.reason,
    };
  }
  const said = game.words.search.read(text, { task, steps, last: steps.length >= searches }, speaker);
  if (!said.ok) return { search: { ...search, asked, next: null }, outcome: said.reason };
  if ('solution' in said.value)
    return { search: { ...search, asked, next: null, solution: said.value.solution }, outcome: 'ok' };
  // A search after the last one finds nothing, and ends the episode.
  if (steps.length >= searches) return { search: { ...search, asked, next: null }, outcome: 'ok' };
  const { query } = said.value;
  const source = libraryOf(game).search(query);
  const shown = cut === undefined ? source : source.map((document) => document.slice(0, cut));
  const unread = digests ? packed(shown, BIN).slice(0, BINS) : [];
  return {
    search: {
      ...search,
      asked,
      unread,
      steps: [...steps, { query, found: digests ? [] : shown, useful: null }],
      sources: [...search.sources, source],
      next: unread.length ? 'digest' : found,
    },
    outcome: 'ok',
  };
}

const rulesOf = (
  game: SearchGame,
  context: RoundContext,
  searching: Searching,
  sampling: Partial<SamplingSettings>,
): SeatsRules<Search> => ({
  maxTurns: (1 + Number(searching.sifts ?? false) + (searching.digests ? BINS : 0)) * searching.searches + 1,
  sampling,
  next: ({ task, steps, unread, next }) => {
    if (next === null) return [];
    if (next === 'digest') {
      const about = { task, query: steps.at(-1)!.query, found: unread[0]! };
      return [{ seat: READER, reads: game.words.digest!.ask(about, context), anew: true }];
    }
    const reads =
      next === 'sift'
        ? game.words.sift!.ask({ task, steps }, context)
        : game.words.search.ask({ task, steps, last: steps.length >= searching.searches }, context);
    return [{ seat: SEARCHER, reads, anew: true }];
  },
  answer: (search, [written]) => {
    const told = searchAfter(game, context, searching, search, written!.text);
    return { world: told.search, outcomes: [told.outcome] };
  },
});

/** Episodes of tasks, `count` of each, [tasks × count]; a turn in which somebody is asked about what was found is `about` "sift" or "digest". */
async function play(
  game: SearchGame,
  context: RoundContext,
  tasks: readonly Pick<AdmittedTask, 'group' | 'task'>[],
  searching: Searching,
  count: number,
  sampling: Partial<SamplingSettings> = {},
): Promise<Sample[][]> {
  const played = await playSeats(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: count }, (_, i) => ({
        seats: Object.fromEntries(
          [SEARCHER, ...(searching.digests ? [READER] : [])].map((role) => [
            role,
            { role, id: rolloutId(group, role, i) },
          ]),
        ),
        episode: i,
        world: begunSearch(task),
      })),
    ),
    rulesOf(game, context, searching, sampling),
  );
  return played.map(({ world: { asked }, turns }) =>
    turns.map((turn, t) => (asked[t] === 'search' ? turn : { ...turn, about: asked[t]! })),
  );
}

/** `round.settings.groupSize` episodes of each task; a group's samples are the turns of all of them. */
export async function rollSearch(
  game: SearchGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  searching: Searching,
): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const played = await play(game, context, tasks, searching, settings.groupSize);
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * settings.groupSize, (t + 1) * settings.groupSize).flat(),
  }));
}

/** An episode as its record tells it. */
export interface ToldSearch extends Search {
  readonly turns: readonly Sample[];
}

/** The episodes of a group, told again from their texts. */
export const toldSearches = (
  game: SearchGame,
  { decode, renderer }: Speaker & { readonly decode: (ids: readonly number[]) => string },
  { task, samples }: Pick<RolloutGroup, 'task' | 'samples'>,
  searching: Searching,
): ToldSearch[] =>
  wholeEpisodesOf(samples).map((turns) => {
    const told = turns.reduce(
      (search, { ids }) => searchAfter(game, { renderer }, searching, search, decode(ids)).search,
      begunSearch(task),
    );
    // A text that was cut off is no answer.
    return { ...told, turns, solution: turns.at(-1)!.outcome === 'ok' ? told.solution : null };
  });

/** What a searcher may be paid for. */
export interface SearchEvidence {
  /** Is its answer exact? Throws for a reward that is declared gold-free. */
  readonly exact: () => boolean;
  /** A fair coin. */
  readonly coin: boolean;
  readonly answered: boolean;
}

export interface OutcomeReward extends RewardInfo {
  /** Is the end of the episode paid? */
  readonly outcome: (evidence: SearchEvidence) => boolean;
}

/** Exact answers, and the controls. */
export const outcomeRewards = {
  exact: { description: '1 for an exact answer', usesGold: true, outcome: ({ exact }) => exact() },
  format: {
    description: 'control: 1 for any answer',
    usesGold: false,
    outcome: ({ answered }) => answered,
  },
  random: { description: 'control: a fair coin', usesGold: false, outcome: ({ coin }) => coin },
} as const satisfies Readonly<Record<string, OutcomeReward>>;

/** The episodes of a group, told again, with whether each answer is exact (null = there is none) and what it may be paid for. */
export function checkedSearches(
  game: SearchGame,
  context: RoundContext,
  group: Pick<RolloutGroup, 'task' | 'samples'>,
  searching: Searching,
) {
  const family = rendered(game.family, context);
  const speaker = { renderer: context.renderer, decode: context.tokenizer.decode };
  return toldSearches(game, speaker, group, searching).map((search) => {
    const { solution, turns } = search;
    const exact = solution && family.answerIsExact(group.task, solution);
    const evidence: SearchEvidence = {
      exact: sealedGold(context, exact === true),
      coin: coinOf(turns[0]!.id),
      answered: solution !== null,
    };
    return { ...search, exact, evidence };
  });
}

/** Whole episodes are paid by their end, each turn of all roles the same. */
export function judgeSearches(
  game: SearchGame,
  context: RoundContext,
  group: RolloutGroup,
  searching: Searching,
): ScoredGroup {
  const { outcome } = rewardNamed<OutcomeReward>(outcomeRewards, context.round.settings.rewardFunction);
  return withEpisodeRewards(
    group,
    checkedSearches(game, context, group, searching).map(({ turns, exact, evidence }) => ({
      turns,
      rewards: { reward: Number(outcome(evidence)) },
      exact: exact === true,
    })),
  );
}

/** Whether the answers to held-out tasks are exact after a search of one's own: greedy, and sampled. */
export async function evaluateSearcher(
  game: SearchGame,
  context: EvaluationContext,
  searching: Searching,
): Promise<Evaluation> {
  const tasks = game.tests(context.evaluationTasks);
  const family = rendered(game.family, context);
  const speaker = { renderer: context.renderer, decode: context.tokenizer.decode };
  const examined = async (temperature: number) => {
    const asked = tasks.map((task) => ({
      group: deriveId('evaluate', 'search', String(temperature), task),
      task,
    }));
    const played = await play(game, context, asked, searching, 1, { temperature });
    return played.map((samples, t) => {
      const task = tasks[t]!;
      const [told] = toldSearches(game, speaker, { task, samples }, searching);
      const solution = told?.solution ?? null;
      return {
        answered: solution !== null,
        exact: solution !== null && family.answerIsExact(task, solution),
        searches: told?.steps.length ?? 0,
      };
    });
  };
  const [greedy, sampled] = [await examined(0), await examined(1)];
  const exact = (of: typeof greedy) => of.map((one) => one.exact);
  return evaluation(
    {
      n: tasks.length,
      accuracy: mean(exact(greedy).map(Number)),
      sampled: mean(exact(sampled).map(Number)),
      formatRate: mean(greedy.map(({ answered }) => Number(answered))),
      tallies: { accuracy: tallyOf(exact(greedy)), sampled: tallyOf(exact(sampled)) },
    },
    { heldOutSearches: mean(greedy.map(({ searches }) => searches)) },
  );
}
