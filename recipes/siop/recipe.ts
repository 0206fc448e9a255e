/**
 * SIOP: a searcher that is paid for how much each search raises the support for what its group's episodes answer.
 * Sampled accuracy should rise, with `creditAtFind` above 0. Where `agreement` nears 1 and accuracy does not, the policy agrees with itself on wrong answers.
 */
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { Wordings } from '../../core/game/game.ts';
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { processGrpo } from '../../core/rl/estimators/index.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { mentions } from '../../core/text/mentions.ts';
import { grpoByEpisode, turnRewards } from '../../protocols/episode-credit.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import {
  checkedSearches,
  evaluateSearcher,
  libraryOf,
  type OutcomeReward,
  outcomeRewards,
  rollSearch,
  SEARCHER,
  type SearchGame,
  type Searching,
  searcherRole,
  type ToldSearch,
  toldSearches,
} from '../../protocols/searcher.ts';
import { ofFamily, policyUpdate, rewardNamed, trainedSolver } from '../../protocols/solver.ts';
import { searching } from '../../worlds/knowledge/searching.ts';

/** It writes nothing: version 0 says how likely it finds an answer. */
const SCORER = 'scorer';
const SEARCHING: Searching = { searches: 3 };

/** Answers of a cluster by whose likelihood it is scored. */
const REFERENCES = 3;
/** Weight of the documents beside the number of answers, and of the rise of support beside a cluster's reliability. */
const ETA = 1;
const LAMBDA = 0.5;

const VARIANTS = {
  majority: 'outcomes alone: an episode earns 1 where its answer is the most frequent one',
  broadcast: 'all turns of an episode are credited with what they were paid together',
  shuffled: 'each episode is paid by the cluster of another one, drawn at random',
} as const;

type ClusterReward = RewardInfo & Partial<Pick<OutcomeReward, 'outcome'>>;

/** Without `outcome`, turns are paid by clusters. */
const rewards: Readonly<Record<string, ClusterReward>> = {
  clusters: {
    description: 'turns are paid by what they do for the support of the answer that their episode comes to',
    usesGold: false,
    labelFree: true,
    ownScale: true,
  },
  ...outcomeRewards,
};

/** What an episode answers: the answer itself, and the text in which it does. */
interface Claim {
  readonly answer: string;
  readonly ids: TokenIds;
}

/**
 * How reliable the answer of each episode is [episodes]: q(c) ∝ m(c) · e^(η · evidence(c)), with m the share of the episodes that answer so and
 * `evidence`, from 0 to 1, of each episode that what it found speaks for its answer, as a mean over the cluster. Sums to 1 over clusters; 0 where there is no answer.
 */
export function reliabilities(answers: readonly (string | null)[], evidence: readonly number[]): number[] {
  const weights = new Map<string, number>();
  for (const answer of new Set(answers)) {
    if (answer === null) continue;
    const members = answers.flatMap((other, e) => (other === answer ? [evidence[e]!] : []));
    weights.set(answer, (members.length / answers.length) * Math.exp(ETA * mean(members)));
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return answers.map((answer) => (answer === null ? 0 : weights.get(answer)! / total));
}

/** ln of the mean over given answers of e to their mean log-probability. logprobs [answers][tokens], nats. */
export const logSupport = (logprobs: readonly (readonly number[])[]): number =>
  Math.log(mean(logprobs.map((tokens) => Math.exp(mean(tokens)))));

/**
 * What the turns of an episode are paid [searches + 1]: q · (ln p̂_t − ln p̂_(t−1)) for each search, and (1 − λ) · q for the answer. `supports`: ln p̂ before the first
 * search and after each [searches + 1].
 */
export const turnPays = (supports: readonly number[], reliability: number): number[] => [
  ...supports.slice(1).map((support, t) => reliability * (support - supports[t]!)),
  (1 - LAMBDA) * reliability,
];

/** The question with the first `searches` of an episode, by which an answer is asked for now. */
const askedNow = (game: SiopGame, context: RoundContext, { task, steps }: ToldSearch, searches: number) =>
  context.tokenizer.encode(
    searches === 0
      ? game.words.solve.ask({ task }, context)
      : game.words.search.ask({ task, steps: steps.slice(0, searches), last: true }, context),
  );

type SiopGame = SearchGame & { readonly words: Wordings<'solve'> };

/** What the turns of each episode of a group are paid by clusters [episodes][turns]. */
async function payByClusters(
  game: SiopGame,
  context: RoundContext,
  { group }: RolloutGroup,
  told: readonly ToldSearch[],
): Promise<number[][]> {
  const own = told.map(({ solution, turns }): Claim | null =>
    solution ? { answer: solution.answer, ids: turns.at(-1)!.ids } : null,
  );
  const claims = context.round.settings.variant === 'shuffled' ? exchanged(own, group) : own;
  const answers = claims.map((claim) => claim?.answer ?? null);
  const evidence = told.map(({ steps }, e) =>
    Number(
      steps.some(({ found }) => found.some((text) => answers[e] !== null && mentions(text, answers[e]!))),
    ),
  );
  const reliable = reliabilities(answers, evidence);
  const asked = told.flatMap((search, e) => {
    const references = claims.flatMap((claim) => (claim && claim.answer === answers[e] ? [claim.ids] : []));
    return references.length === 0
      ? []
      : Array.from({ length: search.steps.length + 1 }, (_, t) => {
          const prompt = askedNow(game, context, search, t);
          return { e, sequences: references.slice(0, REFERENCES).map((ids) => ({ group, prompt, ids })) };
        });
  });
  // Episodes of a cluster begin with the same question: each sequence is measured once.
  const all = asked.flatMap(({ sequences }) => sequences);
  const keyOf = ({ prompt, ids }: { prompt: TokenIds; ids: TokenIds }) => `${prompt.join()}/${ids.join()}`;
  const distinct = [...new Map(all.map((sequence) => [keyOf(sequence), sequence])).entries()];
  const measured = await context.measure(
    SCORER,
    distinct.map(([, sequence]) => sequence),
  );
  const of = new Map(distinct.map(([key], i) => [key, measured[i]!.logProbabilities]));
  return told.map(({ turns }, e) => {
    const supports = asked
      .filter((one) => one.e === e)
      .map(({ sequences }) => logSupport(sequences.map((sequence) => of.get(keyOf(sequence))!)));
    return supports.length ? turnPays(supports, reliable[e]!) : turns.map(() => 0);
  });
}

/** The claims of a group, each with an episode that another one came to. */
function exchanged(claims: readonly (Claim | null)[], group: string): (Claim | null)[] {
  const drawn = new Random(`siop/${group}`).shuffle(claims.filter((claim) => claim !== null)).values();
  return claims.map((claim) => claim && drawn.next().value!);
}

/** `reward` is what an episode is paid in all, on each of its turns; `turn` what a turn itself is paid. */
async function judgeGroup(game: SiopGame, context: RoundContext, group: RolloutGroup): Promise<ScoredGroup> {
  const { rewardFunction, variant } = context.round.settings;
  const { outcome } = rewardNamed(rewards, rewardFunction);
  const told = checkedSearches(game, context, group, SEARCHING);
  const vote = majority(told.map(({ solution }) => solution?.answer ?? null));
  const pays =
    outcome || variant === 'majority'
      ? told.map(({ turns, solution, evidence }) => {
          const paid = outcome ? outcome(evidence) : solution !== null && solution.answer === vote!.answer;
          return turns.map((_, t) => (t === turns.length - 1 ? Number(paid) : 0));
        })
      : await payByClusters(game, context, group, told);
  const rated = told.map(({ turns }, e) => {
    const reward = pays[e]!.reduce((sum, pay) => sum + pay, 0);
    return turns.map((turn, t) => ({ ...turn, rewards: { reward, turn: pays[e]![t]! } }));
  });
  const answersExact = told.flatMap(({ turns, exact }) => turns.map(() => exact));
  return { ...group, samples: rated.flat(), judgments: [], answersExact, solutionsExact: answersExact };
}

/** Turns are compared with all turns of the question's episodes, and each is credited with what it and the later ones of its episode come to. */
const byTurns = (groups: readonly ScoredGroup[]): PolicyItem[] => {
  const episodes = groups.flatMap(({ group, samples }) =>
    episodesOf(samples).map((turns) => ({ group, turns })),
  );
  const advantages = processGrpo(
    episodes.map(({ turns }) => turnRewards(turns)),
    episodes.map(({ group }) => group),
  );
  return episodes.flatMap(({ turns }, e) =>
    turns.flatMap((sample, t): PolicyItem[] =>
      advantages[e] ? [{ sample, advantage: advantages[e]![t]! }] : [],
    ),
  );
};

/** How much more the searches are paid that first find the reference answer than the others; for the report alone. */
function creditAtFind(game: SiopGame, { task }: ScoredGroup, { steps, turns }: ToldSearch) {
  const found = steps.findIndex((step) => libraryOf(game).hold(step.found, task));
  return steps.flatMap((_, s) => {
    const { turn: pay = null } = turns[s]!.rewards;
    return pay === null ? [] : [{ isFind: s === found, pay }];
  });
}

function learn(game: SiopGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { rewardFunction, variant } = round.settings;
  const isByTurn =
    !rewardNamed(rewards, rewardFunction).outcome && variant !== 'majority' && variant !== 'broadcast';
  const told = groups.map((group) => ({ group, searches: toldSearches(game, tools, group, SEARCHING) }));
  const all = told.flatMap(({ searches }) => searches);
  const pays = told.flatMap(({ group, searches }) =>
    searches.flatMap((search) => creditAtFind(game, group, search)),
  );
  const meanOf = (isFind: boolean) => pays.filter((one) => one.isFind === isFind).map(({ pay }) => pay);
  const [finds, others] = [meanOf(true), meanOf(false)];
  return {
    updates: policyUpdate(SEARCHER, isByTurn ? byTurns(groups) : grpoByEpisode(groups), {
      ...ppoClip(),
      ...nearStart(0.005),
    }),
    figures: {
      searches: mean(all.map(({ steps }) => steps.length)),
      agreement: mean(
        told.map(
          ({ searches }) => majority(searches.map(({ solution }) => solution?.answer ?? null))?.share ?? 0,
        ),
      ),
      ...(finds.length && others.length ? { creditAtFind: mean(finds) - mean(others) } : {}),
    },
  };
}

const described = {
  name: 'siop',
  title: 'A searcher that is paid for searches that make its group’s answers likelier',
  paper: arXiv(
    '2605.04984',
    'Self-Induced Outcome Potential: Turn-Level Credit Assignment for Agents without Verifiers',
  ),
  summary:
    'Several episodes search documents for the same question and answer it; nobody knows the answer. Episodes with the same answer are a cluster, whose reliability follows from its size and from what was found. Each search is paid for how much likelier it makes the answer of its cluster by the policy that the run began from.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched; a search gives the one document that shares most words with it. Questions lead over two or three documents and have no labels. The start policy nearly always takes the second document for the last.',
    roles:
      'The searcher makes up to three searches and answers, several episodes a question. The scorer is version 0. It writes nothing, and says how likely it finds answers of a cluster before the first search of an episode and after each.',
    rewards:
      'The reliability q of an answer is in proportion to the share of episodes that give it, times e to the power of the share of these that found a document with the answer in it. The support for an answer is the mean, over up to three texts that give it, of e to the mean log-probability of their tokens. A search earns q times the rise of the logarithm of the support, and the answer earns half of q.',
    credit:
      'What turns are paid is standardised over all turns of the question’s episodes. A turn is credited with its own and the later ones of its episode, without a discount.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.005 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'Whether documents speak for an answer is whether they hold it word for word, where the paper asks a model of entailment. Answers are of one cluster where they are equal after normalisation.',
    'The support is of the texts in which episodes answer, with all that they write there, where the paper scores the answer alone behind a fixed beginning. Before the first search the question is asked alone.',
    'The scripts’ four episodes a question are the group’s size, eight by default. Their half in the reward of the last turn, e as the base of the evidence and the weight of the KL term are kept.',
    'An episode without an answer has no cluster and is paid 0.',
  ],
  figures: {
    searches: 'Mean number of searches in an episode.',
    heldOutSearches: 'Mean number of searches in greedy episodes of held-out questions.',
    agreement: 'Share of a question’s episodes that give its most frequent answer, mean over questions.',
    creditAtFind:
      'Mean pay of the searches that first find a document with the reference answer, less that of the others; for the report alone.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
  bindings: () => ({ [SCORER]: { pinned: true } }),
} satisfies Described;

const written: RecipeOver<'search' | 'solve'> = {
  // The answers are read by the controls, the evaluation and one figure alone.
  needs: { verbs: ['search', 'solve'], data: ['answer', 'documents'] },
  over: (game) => {
    const { family } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        ...searcherRole(game, 'searches and answers', { placement: 'turn' }),
        [SCORER]: role('says how likely answers are, and writes nothing', 1, { speaksAs: 'solver' }),
      },
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => rollSearch(game, context, tasks, SEARCHING),
      judge: async (context, groups) => {
        const scored: ScoredGroup[] = [];
        for (const group of groups) scored.push(await judgeGroup(game, context, group));
        return scored;
      },
      learn: async (records, tools) => learn(game, records, tools),
      evaluate: (context) => evaluateSearcher(game, context, SEARCHING),
    };
  },
  ownReward: 'its answers are paid by how they agree',
};

export const siop = played(written, searching);
