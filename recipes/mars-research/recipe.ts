/**
 * MARS (deep research): who searches and answers is shown what a reader writes of the documents, and both are trained.
 * Sampled accuracy should rise with `recall`, the share of answers that were found and are still in what the reader writes.
 */
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { grpoByEpisode } from '../../protocols/episode-credit.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { writtenBy } from '../../protocols/samples-of-role.ts';
import {
  evaluateSearcher,
  judgeSearches,
  libraryOf,
  outcomeRewards,
  READER,
  rollSearch,
  SEARCHER,
  type SearchGame,
  type Searching,
  searcherRole,
  toldSearches,
} from '../../protocols/searcher.ts';
import { groupItems, ofFamily, policyPart, trainedSolver } from '../../protocols/solver.ts';
import { searching } from '../../worlds/knowledge/searching.ts';

const SEARCHES = 3;
/** Characters of a document that are shown without a reader. */
const CUT = 200;

const VARIANTS = {
  truncation: `no reader: who searches is shown the first ${CUT} characters of each document`,
  'pinned-reader': 'the reader is version 0, and is not trained',
  unbalanced: 'all that the reader wrote is trained on, however much it is',
} as const;

const searchingOf = (variant: string | undefined): Searching => ({
  searches: SEARCHES,
  ...(variant === 'truncation' ? { cut: CUT } : { digests: true }),
});

/** As many items as wanted: some of them, drawn at random, or all and some of them again. */
export function resampled<T>(items: readonly T[], count: number, random: Random): T[] {
  const all: T[] = [];
  while (items.length && all.length + items.length <= count) all.push(...items);
  const drawn = random.shuffle(items.map((_, i) => i)).slice(0, count - all.length);
  return [...all, ...drawn.sort((a, b) => a - b).map((i) => items[i]!)];
}

/**
 * Both roles' items as one batch: each role's advantages are from its own samples, before any is left out, and its part weighs as its share of the batch's tokens, so
 * that the loss is a mean over all tokens.
 */
function parts(searcher: readonly PolicyItem[], reader: readonly PolicyItem[]) {
  const tokens = (items: readonly PolicyItem[]) =>
    items.reduce((sum, { sample }) => sum + sample.ids.length, 0);
  const all = tokens(searcher) + tokens(reader);
  return (
    [
      [SEARCHER, searcher],
      [READER, reader],
    ] as const
  ).map(([role, items]) => ({
    ...policyPart(role, items, { ...ppoClip(), ...nearStart(0.001) }),
    weight: all ? tokens(items) / all : 1,
  }));
}

function learn(game: SearchGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const written = (role: string) => groups.map((group) => writtenBy(group, role));
  const searcher = grpoByEpisode(written(SEARCHER));
  // A text of the reader is a rollout of its own: it is compared with all that the reader wrote for the question.
  const digests = variant === 'pinned-reader' ? [] : groupItems(written(READER), grpo);
  const reader =
    variant === 'unbalanced'
      ? digests
      : resampled(digests, searcher.length, new Random(`${round.id}/balance`));
  const told = groups.flatMap((group) => toldSearches(game, tools, group, searchingOf(variant)));
  const holds = (texts: readonly string[], task: string) => libraryOf(game).hold(texts, task);
  const finds = told.flatMap(({ task, steps, sources }) =>
    steps.filter((_, s) => holds(sources[s]!, task)).map(({ found }) => holds(found, task)),
  );
  return {
    updates: updateOf(parts(searcher, reader)),
    figures: {
      searches: mean(told.map(({ steps }) => steps.length)),
      digests: mean(told.map(({ asked }) => asked.filter((one) => one === 'digest').length)),
      ...(finds.length ? { recall: mean(finds.map(Number)) } : {}),
    },
  };
}

const described = {
  name: 'mars-research',
  title: 'A searcher, and a reader who digests documents for it',
  paper: arXiv(
    '2510.04935',
    'MARS: Co-evolving Dual-System Deep Research via Multi-Agent Reinforcement Learning',
  ),
  summary:
    'A searcher looks things up and answers, and never sees a document: a reader, the same policy by another prompt, goes through what a search finds and writes down what helps. A right answer pays all that both wrote on the way to it.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched; a search gives the one document that shares most words with it, so that there is little to digest. Questions lead over two or three documents. The start policy nearly always takes the second document for the last.',
    roles:
      'The searcher (System 2) makes up to three searches and answers. What a search finds is packed into parts of 4000 characters, as few as first-fit-decreasing finds, and four at most. The reader (System 1) reads each part with the question and the search, and what it writes is all that the searcher is shown. Both share their weights.',
    rewards: 'An episode with an exact answer earns 1, each turn of both roles the same.',
    credit:
      'The searcher’s episodes are compared within a question, and so are all texts that the reader wrote for it: minus their mean, divided by their deviation. After that the reader’s texts are drawn at random, or some of them are taken again, until they are as many as the searcher’s turns.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over the tokens of both roles, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'The one tool is a search; the paper has searches of the web and of papers, and a Python interpreter. The searcher does not state a purpose with its search: the reader is told the question and the search.',
    'Texts of the reader are drawn with equal chances, as in the first version of the paper; a later one draws them by their advantages. They match the number of the searcher’s turns, each of which is a sample here.',
    'Answers are checked exactly. How the paper judges them, and the constants of its loss, could not be checked.',
    'In its own world the reader answers the search with a name, as it would a question over one document, and the world tells that as a document. What a reader is for shows on files with longer documents alone.',
  ],
  figures: {
    searches: 'Mean number of searches in an episode.',
    heldOutSearches: 'Mean number of searches in greedy episodes of held-out questions.',
    digests: 'Mean number of texts that the reader writes in an episode.',
    recall:
      'Of the searches that found the reference answer, the share after which it is still in what the searcher is shown; for the report alone.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
  bindings: ({ variant }) => (variant === 'pinned-reader' ? { [READER]: { pinned: true } } : {}),
} satisfies Described;

const written: RecipeOver<'search' | 'digest'> = {
  needs: { verbs: ['search', 'digest'], data: ['answer', 'documents'] },
  over: (game) => {
    const { family, words } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards: outcomeRewards,
      roles: {
        ...searcherRole(game, 'searches and answers', { shown: 'what the reader writes of what it finds' }),
        [READER]: role('writes down what helps of what was found', words.digest.maxNew, {
          speaksAs: 'solver',
          shown: 'what searches find',
        }),
      },
      freezable: [SEARCHER, READER],
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) =>
        rollSearch(game, context, tasks, searchingOf(context.round.settings.variant)),
      judge: async (context, groups) =>
        groups.map((group) =>
          judgeSearches(game, context, group, searchingOf(context.round.settings.variant)),
        ),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: (context) => evaluateSearcher(game, context, searchingOf(context.round.settings.variant)),
    };
  },
  ownReward: 'an episode’s reward is shared by what two roles wrote',
};

export const marsResearch = played(written, searching);
