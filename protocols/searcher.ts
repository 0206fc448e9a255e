/** A searcher: it looks things up in the documents of a game, says of what it finds whether that helps, where it is asked, and answers. */
import { episodesOf } from '../core/episodes/play-episodes.ts';
import { playSeats, type SeatsRules } from '../core/episodes/play-seats.ts';
import type { Game, Library, Speaker, Wordings } from '../core/game/game.ts';
import type { SearchStep } from '../core/game/verbs.ts';
import type { SamplingSettings } from '../core/policy/policy.ts';
import { deriveId } from '../core/random.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import { rendered, type Solution } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import type { Outcome } from '../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../core/schema/sample.ts';
import { tallyOf } from '../core/statistics/change.ts';

export const SEARCHER = 'searcher';

/** A game in which a searcher plays; it says `sift` where one is asked that. */
export type SearchGame = Omit<Game<'search'>, 'words'> & {
  readonly words: Wordings<'search'> & Partial<Wordings<'sift'>>;
};

export interface Searching {
  /** Searches at most; after the last one it has to answer. */
  readonly searches: number;
  /** Is it asked whether what it found helps? */
  readonly sifts: boolean;
}

/** What is asked next in an episode of a task. */
type Asks = 'search' | 'sift';

export interface Search {
  readonly task: string;
  readonly steps: readonly SearchStep[];
  /** What was asked, turn by turn. */
  readonly asked: readonly Asks[];
  readonly next: Asks | null;
  readonly solution: Solution | null;
}

const begun = (task: string): Search => ({ task, steps: [], asked: [], next: 'search', solution: null });

/** The documents of a game. Throws where a recipe that needs documents is played without. */
export function libraryOf({ library }: Pick<Game, 'library'>): Library {
  if (library) return library;
  throw new Error('internal: a searcher plays in a game without documents');
}

/** The episode after a text, and the text's outcome. */
function after(
  game: SearchGame,
  speaker: Speaker,
  { searches, sifts }: Searching,
  search: Search,
  text: string,
): { readonly search: Search; readonly outcome: Outcome } {
  const { task, steps, next } = search;
  const asked = [...search.asked, next!];
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
  const step = { query, found: libraryOf(game).search(query), useful: null };
  return {
    search: { ...search, asked, steps: [...steps, step], next: sifts ? 'sift' : 'search' },
    outcome: 'ok',
  };
}

const rulesOf = (
  game: SearchGame,
  context: RoundContext,
  searching: Searching,
  sampling: Partial<SamplingSettings>,
): SeatsRules<Search> => ({
  maxTurns: (searching.sifts ? 2 : 1) * searching.searches + 1,
  sampling,
  next: ({ task, steps, next }) => {
    if (next === null) return [];
    const reads =
      next === 'sift'
        ? game.words.sift!.ask({ task, steps }, context)
        : game.words.search.ask({ task, steps, last: steps.length >= searching.searches }, context);
    return [{ seat: SEARCHER, reads, anew: true }];
  },
  answer: (search, [written]) => {
    const told = after(game, context, searching, search, written!.text);
    return { world: told.search, outcomes: [told.outcome] };
  },
});

/** Episodes of tasks, `count` of each, [tasks × count]; a turn in which the searcher is asked about what it found is `about` "sift". */
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
        seats: { [SEARCHER]: { role: SEARCHER, id: rolloutId(group, SEARCHER, i) } },
        world: begun(task),
      })),
    ),
    rulesOf(game, context, searching, sampling),
  );
  return played.map(({ world: { asked }, turns }) =>
    turns.map((turn, t) => (asked[t] === 'sift' ? { ...turn, about: 'sift' } : turn)),
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
  episodesOf(samples).map((turns) => {
    const told = turns.reduce(
      (search, { ids }) => after(game, { renderer }, searching, search, decode(ids)).search,
      begun(task),
    );
    // A text that was cut off is no answer.
    return { ...told, turns, solution: turns.at(-1)!.outcome === 'ok' ? told.solution : null };
  });

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
