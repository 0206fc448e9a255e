/**
 * CLEANER: searches that failed and were made up for are taken out of an episode before it is trained on.
 * The share of searches that find nothing new, `failed`, should fall faster than under `--variant grpo`, and sampled accuracy should rise.
 */
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { returnOf } from '../../protocols/episode-credit.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import {
  evaluateSearcher,
  judgeSearches,
  outcomeRewards,
  rollSearch,
  SEARCHER,
  type SearchGame,
  type Searching,
  searcherRole,
  type ToldSearch,
  toldSearches,
} from '../../protocols/searcher.ts';
import { ofFamily, policyUpdate, trainedSolver } from '../../protocols/solver.ts';
import { searching } from '../../worlds/knowledge/searching.ts';

const SEARCHING: Searching = { searches: 4 };
/** From this share of common words on, a failed search is the same idea as the one that made up for it, badly put. */
const SIMILAR = 0.5;

const VARIANTS = {
  grpo: 'episodes are trained on as they were sampled',
  'drop-failed': 'episodes in which a search failed and was made up for are left out',
  'random-splice':
    'a search that is drawn at random is taken out in place of each failed one that was made up for',
} as const;

/** Whether each search found no document that one before it had not found [searches]. */
export function failuresOf(sources: readonly (readonly string[])[]): boolean[] {
  const seen = new Set<string>();
  return sources.map((found) => {
    const isNew = found.some((document) => !seen.has(document));
    for (const document of found) seen.add(document);
    return !isNew;
  });
}

/** The share of the words of two queries that both have, of all that either has. */
export function similarity(a: string, b: string): number {
  const [one, other] = [a, b].map((query) => new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
  const all = new Set([...one!, ...other!]);
  return all.size ? [...one!].filter((word) => other!.has(word)).length / all.size : 1;
}

/** A turn of a cleaned episode: a turn of the sampled one, with the call of another where only that was wrong, after these searches [kept]. */
interface CleanTurn {
  readonly turn: number;
  readonly call?: number;
  readonly kept: readonly number[];
}

/**
 * An episode of `turns` turns, of which the first are searches, without those that failed and after which another one did not. The first of them lends its text to the search
 * that made up for it where the two are similar. Failures that nothing made up for stay.
 */
export function cleaned(queries: readonly string[], failed: readonly boolean[], turns: number): CleanTurn[] {
  const clean: CleanTurn[] = [];
  const kept: number[] = [];
  let open: number[] = [];
  for (const [s, query] of queries.entries()) {
    if (failed[s]) {
      open.push(s);
      continue;
    }
    const [first] = open;
    const isSimilar = first !== undefined && similarity(queries[first]!, query) >= SIMILAR;
    clean.push({ ...(isSimilar ? { turn: first, call: s } : { turn: s }), kept: [...kept] });
    kept.push(s);
    open = [];
  }
  for (const s of open) {
    clean.push({ turn: s, kept: [...kept] });
    kept.push(s);
  }
  for (let turn = queries.length; turn < turns; turn++) clean.push({ turn, kept: [...kept] });
  return clean;
}

/**
 * The searches of an episode that are treated as failed [searches]: those that failed, or, by `random`, as many as were made up for, drawn at random. The last one is never
 * drawn: nothing would make up for it.
 */
export function takenOut(failed: readonly boolean[], random?: Random): boolean[] {
  if (!random) return [...failed];
  const madeUpFor = failed.slice(0, Math.max(0, failed.lastIndexOf(false))).filter(Boolean).length;
  const drawn = new Set(random.shuffle(failed.slice(0, -1).map((_, s) => s)).slice(0, madeUpFor));
  return failed.map((_, s) => drawn.has(s));
}

/** The turns of a cleaned episode as samples; those whose prompt or text is another than was sampled have no log-probabilities yet. */
function samplesOf(
  game: SearchGame,
  tools: LearnTools,
  search: ToldSearch,
  clean: readonly CleanTurn[],
): Sample[] {
  const { task, steps, turns } = search;
  return clean.map(({ turn, call, kept }) => {
    const sample = turns[turn]!;
    const before = kept.map((s) => steps[s]!);
    const isSame = call === undefined && before.length === turn;
    if (isSame) return sample;
    const prompt = tools.encode(
      game.words.search.ask({ task, steps: before, last: before.length >= SEARCHING.searches }, tools),
    );
    return {
      ...sample,
      prompt,
      ids: call === undefined ? sample.ids : recalled(tools, search, turn, call),
      logprobs: [],
    };
  });
}

/** A turn with the query of another in the place of its own; the other turn where its own cannot be found. */
function recalled(
  { decode, encode }: LearnTools,
  { steps, turns }: ToldSearch,
  turn: number,
  call: number,
): number[] {
  const text = decode(turns[turn]!.ids);
  const { query } = steps[turn]!;
  const at = text.lastIndexOf(query);
  return at < 0
    ? [...turns[call]!.ids]
    : encode(text.slice(0, at) + steps[call]!.query + text.slice(at + query.length));
}

async function learn(
  game: SearchGame,
  { round, groups }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const told = groups.flatMap((group) =>
    toldSearches(game, tools, group, SEARCHING).map((search) => ({ group: group.group, search })),
  );
  const episodes = told.map(({ group, search }) => {
    const queries = search.steps.map(({ query }) => query);
    const random = variant === 'random-splice' ? new Random(`cleaner/${search.turns[0]!.id}`) : undefined;
    const clean = cleaned(queries, takenOut(failuresOf(search.sources), random), search.turns.length);
    return { group, search, clean, isCleaned: clean.length < search.turns.length };
  });
  const advantages = grpo(
    episodes.map(({ search }) => returnOf(search.turns)),
    episodes.map(({ group }) => group),
  );
  const items = episodes.flatMap(({ search, clean, isCleaned }, e): PolicyItem[] => {
    const advantage = advantages[e] ?? null;
    if (advantage === null || (variant === 'drop-failed' && isCleaned)) return [];
    const samples = variant === 'grpo' ? search.turns : samplesOf(game, tools, search, clean);
    return samples.map((sample) => ({ sample, advantage }));
  });
  const searches = told.flatMap(({ search }) => failuresOf(search.sources));
  return {
    updates: policyUpdate(SEARCHER, await scored(items, tools), { ...ppoClip(), ...nearStart(0.001) }),
    figures: {
      searches: mean(told.map(({ search }) => search.steps.length)),
      ...(searches.length ? { failed: mean(searches.map(Number)) } : {}),
      cleaned: mean(episodes.map(({ isCleaned }) => Number(isCleaned))),
    },
  };
}

/** Items whose texts were not sampled as they are, with what the policy that the round trains from says of their tokens. */
async function scored(items: readonly PolicyItem[], tools: LearnTools): Promise<PolicyItem[]> {
  const isOpen = ({ sample: { ids, logprobs } }: PolicyItem) => logprobs.length < ids.length;
  const open = items.filter(isOpen);
  if (open.length === 0) return [...items];
  const rows = await tools.score(
    MAIN_SET,
    open.map(({ sample: { prompt, ids } }) => ({ prompt, ids })),
  );
  const of = new Map(open.map((item, i) => [item, Array.from(rows[i]!)]));
  return items.map((item) => {
    const logprobs = of.get(item);
    return logprobs ? { ...item, sample: { ...item.sample, logprobs } } : item;
  });
}

const described = {
  name: 'cleaner',
  title: 'Failed searches are taken out of an episode before it is trained on',
  paper: arXiv('2601.15141', 'CLEANER: Self-Purified Trajectories Boost Agentic Reinforcement Learning'),
  summary:
    'A searcher is paid for right answers. Where a search fails and a later one makes up for it, the episode is trained on as if the failure had not been: with the later search in its place, so that a right answer does not pay the failure.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched; a search gives the one document that shares most words with it. Questions lead over two or three documents. The start policy nearly always takes the second document for the last.',
    roles: 'The searcher is the only role. It makes up to four searches and answers.',
    rewards: 'An exact answer earns 1, any other answer 0.',
    credit:
      'Episodes of a question are compared by their rewards: minus their mean, divided by their deviation (GRPO). A search has failed where it finds no document that was not found before. Failed searches before one that did not fail are taken out. Where the first of them has half of its words or more in common with the search that made up for them, its text is kept and only its query replaced; otherwise the later turn takes its place whole. All later turns are asked as if the failures had not been.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0. For turns that were changed, ratios are to the log-probabilities by the policy that the round trains from.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'The tool is a search, and fails where it finds nothing new; the paper’s is a Python interpreter that fails with an error.',
    'How similar a call is to the one that made up for it is measured by common words; the paper’s measure and its threshold could not be checked.',
    'A failure that nothing made up for stays in its episode.',
  ],
  figures: {
    searches: 'Mean number of searches in an episode.',
    heldOutSearches: 'Mean number of searches in greedy episodes of held-out questions.',
    failed: 'Share of the searches that find no document which was not found before.',
    cleaned: 'Share of the episodes from which a failed search was taken out, or would be.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'search'> = {
  needs: { verbs: ['search'], data: ['answer', 'documents'] },
  over: (game) => {
    const { family } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards: outcomeRewards,
      roles: searcherRole(game),
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => rollSearch(game, context, tasks, SEARCHING),
      judge: async (context, groups) => groups.map((group) => judgeSearches(game, context, group, SEARCHING)),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: (context) => evaluateSearcher(game, context, SEARCHING),
    };
  },
  ownReward: 'an episode’s reward is shared by turns of which some are taken out',
};

export const cleaner = played(written, searching);
