/** ReSeek: a searcher that says of all it finds whether it helps, and is paid for saying so rightly. */

import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { discountedReturns, grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import {
  evaluateSearcher,
  libraryOf,
  rollSearch,
  SEARCHER,
  type SearchGame,
  type Searching,
  searcherRole,
  type ToldSearch,
  toldSearches,
} from '../../protocols/searcher.ts';
import { creditedItems, ofFamily, policyUpdate, rewardNamed, trainedSolver } from '../../protocols/solver.ts';
import { searching } from '../../worlds/knowledge/searching.ts';

/** What a judgment of what was found is paid: a right one, one that accepts what does not help, and one that rejects what does. */
const PAY = { right: 0.3, accepted: -0.6, rejected: -0.3 } as const;
/** Discount of what is paid in later turns, per turn. */
const GAMMA = 0.9;
const SEARCHES = 3;

const VARIANTS = {
  'no-judgments': 'the searcher is not asked whether what it found helps',
  'em-only': 'it is asked, and its judgments are paid nothing',
  symmetric: 'a wrong judgment costs 0.3, whichever way it is wrong',
} as const;

const searchingOf = (variant: string | undefined): Searching => ({
  searches: SEARCHES,
  sifts: variant !== 'no-judgments',
});

/** `said`: whether it was called useful; null where nothing that can be read was said, which is paid as a wrong "no". */
export function judgmentPay(said: boolean | null, useful: boolean, variant?: string): number {
  if (variant === 'em-only') return 0;
  if (said === useful) return PAY.right;
  return said === true && variant !== 'symmetric' ? PAY.accepted : PAY.rejected;
}

interface Evidence {
  /** Is the answer exact, and did the search that a judgment is about find it? Throws for a reward that is declared gold-free. */
  readonly exact: () => boolean;
  readonly useful: () => boolean;
  readonly coin: boolean;
  /** Whether anything was said that can be read. */
  readonly isReadable: boolean;
}

interface SearchReward extends RewardInfo {
  /** Is the answer right, or the judgment's label "yes"? */
  readonly answer: (evidence: Evidence) => boolean;
  readonly label: (evidence: Evidence, said: boolean | null) => boolean;
}

const rewards: Readonly<Record<string, SearchReward>> = {
  exact: {
    description: '1 for an exact answer; judgments are held to whether the answer is in what was found',
    usesGold: true,
    answer: ({ exact }) => exact(),
    label: ({ useful }) => useful(),
  },
  format: {
    description: 'control: any answer, and any judgment that can be read',
    usesGold: false,
    answer: ({ isReadable }) => isReadable,
    label: (_, said) => said ?? true,
  },
  random: {
    description: 'control: a fair coin says what is right, of answers and of judgments',
    usesGold: false,
    answer: ({ coin }) => coin,
    label: ({ coin }) => coin,
  },
};

/** What each turn of an episode is paid: judgments by their label, the last turn by its answer. */
function payTurns(
  game: SearchGame,
  context: RoundContext,
  task: string,
  { turns, asked, steps, solution }: ToldSearch,
  exact: boolean,
): number[] {
  const { rewardFunction, variant } = context.round.settings;
  const { answer, label } = rewardNamed(rewards, rewardFunction);
  let judged = 0;
  return turns.map(({ id, outcome }, t) => {
    const evidence = (found: readonly string[]): Evidence => ({
      exact: sealedGold(context, exact),
      useful: sealedGold(context, libraryOf(game).hold(found, task)),
      coin: coinOf(id),
      isReadable: outcome === 'ok' && (asked[t] === 'sift' || solution !== null),
    });
    if (asked[t] === 'sift') {
      const { found, useful } = steps[judged++]!;
      return judgmentPay(useful, label(evidence(found), useful), variant);
    }
    return t === turns.length - 1 ? Number(answer(evidence([]))) : 0;
  });
}

/** `reward` is what an episode's answer is paid, on each of its turns; `turn` what a turn itself is paid. */
function judgeGroup(game: SearchGame, context: RoundContext, group: RolloutGroup): ScoredGroup {
  const speaker = { renderer: context.renderer, decode: context.tokenizer.decode };
  const family = rendered(game.family, context);
  const told = toldSearches(game, speaker, group, searchingOf(context.round.settings.variant));
  const rated = told.map((search) => {
    const exact = search.solution ? family.answerIsExact(group.task, search.solution) : null;
    const pays = payTurns(game, context, group.task, search, exact === true);
    const reward = search.asked.at(-1) === 'sift' ? 0 : pays.at(-1)!;
    return search.turns.map((turn, t) => ({
      sample: { ...turn, rewards: { reward, turn: pays[t]! } },
      exact,
    }));
  });
  const answersExact = rated.flat().map(({ exact }) => exact);
  return {
    ...group,
    samples: rated.flat().map(({ sample }) => sample),
    judgments: [],
    answersExact,
    solutionsExact: answersExact,
  };
}

/** G_t = Σ_{k ≥ t} γ^(k − t) · r_k, the discounted pay of a turn and of those after it [turns]. */
export const turnReturns = (turns: readonly Pick<Sample, 'rewards'>[]): number[] =>
  discountedReturns(
    turns.map(({ rewards }) => rewards.turn!),
    { gamma: GAMMA },
  );

function learn(game: SearchGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const settings = searchingOf(round.settings.variant);
  const told = groups.flatMap((group) =>
    toldSearches(game, tools, group, settings).map((search) => ({ group: group.group, ...search })),
  );
  const turns = told
    .filter((search) => search.turns.every(({ rewards }) => typeof rewards.reward === 'number'))
    .flatMap((search) => {
      const returns = turnReturns(search.turns);
      // Searches and answers are compared with each other, and judgments with judgments.
      return search.turns.map((sample, t) => ({
        sample,
        value: returns[t]!,
        key: `${search.group}/${search.asked[t]}`,
      }));
    });
  const judged = told.flatMap((search) => search.steps.filter((_, s) => search.asked[2 * s + 1] === 'sift'));
  const rejected = told.flatMap((search) =>
    search.steps.flatMap((step, s) => (step.useful === false ? [s + 1 < search.steps.length] : [])),
  );
  return {
    updates: policyUpdate(
      SEARCHER,
      creditedItems(
        turns.map(({ sample }) => sample),
        turns.map(({ value }) => value),
        turns.map(({ key }) => key),
        grpo,
      ),
      {
        ...ppoClip(),
        ...nearStart(0.001),
      },
    ),
    figures: {
      searches: mean(told.map(({ steps }) => steps.length)),
      ...(judged.length ? { calledUseful: mean(judged.map(({ useful }) => Number(useful === true))) } : {}),
      ...(rejected.length ? { searchedAgain: mean(rejected.map(Number)) } : {}),
    },
  };
}

const described = {
  name: 'reseek',
  title: 'A searcher that judges what it finds',
  paper: arXiv(
    '2510.00568',
    'ReSeek: A Self-Correcting Framework for Search Agents with Instructive Rewards',
  ),
  summary:
    'A searcher looks things up in documents, says after each search whether what it found helps, and answers. It is paid for exact answers, and for saying rightly whether the answer is in what it found; to accept what does not help costs most.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched; a search gives the one document that shares most words with it. Questions lead over two or three documents. The start policy nearly always takes the second document for the last.',
    roles:
      'The searcher is the only role. After each of up to three searches it is asked whether what it found helps, and sees its own judgment when it goes on. In this world it is asked so by the same prompt as for its next turn: it calls what it found useful by answering.',
    rewards:
      'An exact answer earns 1. A judgment earns 0.3 where it says rightly whether the answer is in what the search found, and costs 0.6 where it accepts documents without it and 0.3 where it rejects documents with it or cannot be read.',
    credit:
      'The return of a turn is its own pay and that of the later turns of its episode, discounted by 0.9 a turn. It is compared with the same kind of turns (searches and answers, or judgments) of all episodes of the question: minus their mean, divided by their deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'Whether documents help is whether they hold the reference answer word for word, where the paper compares them with it by a reranker. Documents that lead to others without holding the answer count as no help there, too.',
    'A search of the small world gives one document, so that wrong ones come of wrong queries alone; on questions of files it gives three.',
    'What was called useless stays in the conversation with that judgment, as in the paper; each turn is asked in a prompt of its own, so that a chat template may rewrite what was said before.',
    'Turns are compared by kind within a question. The discount, the number of searches and the weights could not be checked against the paper’s.',
    'The small policy has no words for a judgment: it says one by whether it would answer now.',
  ],
  figures: {
    searches: 'Mean number of searches in an episode.',
    heldOutSearches: 'Mean number of searches in greedy episodes of held-out questions.',
    calledUseful: 'Share of the judgments that call useful what was found.',
    searchedAgain:
      'Share of the searches whose finds were called useless that are followed by another search.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'search' | 'sift'> = {
  needs: { verbs: ['search', 'sift'], data: ['answer', 'documents'] },
  over: (game) => {
    const { family } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        ...searcherRole(game, 'searches, judges what it finds, and answers', { placement: 'turn' }),
      },
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) =>
        rollSearch(game, context, tasks, searchingOf(context.round.settings.variant)),
      judge: async (context, groups) => groups.map((group) => judgeGroup(game, context, group)),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: (context) => evaluateSearcher(game, context, searchingOf(context.round.settings.variant)),
    };
  },
  ownReward: 'what it pays for judgments is a part of the method',
};

export const reseek = played(written, searching);
