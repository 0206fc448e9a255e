/** Search Self-Play: one policy writes questions backwards from their answers, and answers them by searching forwards. */
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { grpoByEpisode, returnOf, spread } from '../../protocols/episode-credit.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { policyUpdate, trainedSolver } from '../../protocols/solver.ts';
import { hostedSearch } from '../../worlds/hosted/search.ts';
import { answerOf, questionDifficulty, theWorld } from '../../worlds/knowledge/episode.ts';
import { readTask } from '../../worlds/knowledge/proposal.ts';
import { STOP } from '../../worlds/worked.ts';
import { rollSearch, scoreSearch } from './search-groups.ts';
import { proposeQuestions } from './search-proposals.ts';
import { evaluateSearch, PROPOSER, SOLVER, TURN_TOKENS } from './searchers.ts';
import { poolAfter, poolOf, taskPool } from './task-pool.ts';

/** The number of rounds after which the pool is emptied. */
const RESET = 10;
/** The reward of a refused question in the arm that punishes it. */
const PENALTY = -0.1;
/** The number of other proposers' documents that the reader sees among its own. */
const NOISE = 4;

const successOf = ({ samples }: ScoredGroup) =>
  mean(episodesOf(samples).flatMap((turns) => returnOf(turns) ?? []));

/**
 * 1 minus the solver's mean reward for an admitted question, and `refused` for a refused one; held-out questions and those without a group are left
 * out.
 */
export function proposerRewards(
  proposals: Proposals,
  groups: readonly ScoredGroup[],
  refused: number,
): { turns: Sample[]; reward: number }[] {
  const scored = new Map(groups.map((group) => [group.proposal, group]));
  return proposerEpisodes(proposals).flatMap((turns) => {
    const outcome = turns.at(-1)!.outcome;
    if (outcome === 'held-out') return [];
    if (outcome !== 'ok') return [{ turns, reward: refused }];
    // A missing group, for example one that failed, says nothing about its question.
    const group = scored.get(turns[0]!.id);
    return group ? [{ turns, reward: 1 - successOf(group) }] : [];
  });
}

const HOW = { ...ppoClip(0.285), ...nearStart(0.01) };

const proposerEpisodes = ({ samples }: Proposals) =>
  episodesOf(samples.filter(({ role }) => role === PROPOSER));

function payProposals({ round, proposals, groups }: RoundRecords): ReadonlyMap<string, number | null> {
  const refused = round.settings.variant === 'penalty' ? PENALTY : 0;
  return new Map([
    ...proposerEpisodes(proposals).map((turns) => [turns[0]!.id, null] as const),
    ...proposerRewards(proposals, groups, refused).map(
      ({ turns, reward }) => [turns[0]!.id, reward] as const,
    ),
  ]);
}

function learn({ round, proposals, groups, recipeState }: RoundRecords): TrainingPlan {
  const paid = proposerEpisodes(proposals).flatMap((turns) => {
    const reward = turns[0]!.rewards.reward ?? null;
    return reward === null ? [] : [{ turns, reward }];
  });
  const asked = paid.flatMap(({ turns, reward }) => spread(turns, reward));
  const fresh = groups.filter(({ proposal }) => proposal !== null).map(({ task }) => readTask(task));
  const share = (values: readonly boolean[]) => mean(values.map(Number));
  return {
    updates: [...policyUpdate(PROPOSER, asked, HOW), ...policyUpdate(SOLVER, grpoByEpisode(groups), HOW)],
    recipeState: poolAfter(recipeState, round.index, proposals, RESET),
    figures: {
      valid: share(paid.map(({ turns }) => turns.at(-1)!.outcome === 'ok')),
      hops: mean(fresh.map(({ question }) => questionDifficulty(question))),
      // By the oracle, for the report alone.
      answerable: share(fresh.map(({ question, answer }) => answerOf(theWorld(), question) === answer)),
      solverReward: mean(groups.map(successOf)),
      proposerReward: mean(paid.map(({ reward }) => reward)),
    },
  };
}

export const ssp: WithoutSetup = {
  name: 'ssp',
  title: 'Search Self-Play: questions written backwards from their answers, a reader as the gate',
  paper: arXiv(
    '2510.18821',
    'Search Self-Play: Pushing the Frontier of Agent Capability without Supervision',
  ),
  summary:
    'One policy over a fictional world of 720 one-line documents. The proposer gets a name and searches backwards from it to a question; the solver gets the question and searches forwards. The solver is paid for the name, the proposer for the solver’s failures, and a reader keeps the questions answerable.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched. No questions and no oracle are given, only names that are to be answers. The start policy’s solver nearly always takes the second hop for the last, and its proposer seldom asks about three documents.',
    roles:
      'The proposer gets a name, searches backwards from it and writes a question whose answer is that name. An exact reader admits a question if the proposer’s documents, among four of other proposers, lead to the answer. The solver searches forwards in up to four turns and answers, five episodes a question. Both roles share their weights.',
    rewards:
      'The solver earns 1 where its answer is the name that the proposer was given. The proposer earns 1 minus the solver’s mean reward, and 0 for a refused question; a held-out question has no reward.',
    credit:
      'The solver’s episodes are compared within a question (GRPO). The proposer’s reward is used as it is, without a baseline (REINFORCE). All turns of an episode carry the same advantage.',
    objective:
      'A clipped policy gradient for each role, ratios in [0.8, 1.285] and a mean over tokens, plus 0.01 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'Each round updates the proposer first and then the solver. Refused questions’ places are filled from a pool of earlier ones, which is emptied every ten rounds.',
  },
  needsOfTasks: {
    datum: 'corpus',
    which: 'documents of which a program says whether they answer a question',
  },
  differences: [
    'Answers to ask for are 180 towns, guilds and lands, and the proposer is told which of these its answer is; a search gives the one best document, where the paper gives three of Wikipedia’s.',
    'Questions are taught as paths of up to three relations from a name, as many as a proposer’s three searches find; an episode has at most four turns, the paper’s ten. The rule of ten words, that of two searches and that of ten answers are left out; a question that repeats one of its round is refused. The proposer is shown no example questions, and proposes 12 a round for the paper’s 256; a refused one stays in the batch, with an advantage of 0, and its place stays empty where the pool is: in the round after it was emptied.',
    'It begins with a solver that nearly always takes the second hop for the last and a proposer that seldom asks of three documents, both taught by demonstrations; the paper begins with general 7B models.',
    'The reader is exact, where the paper has a frozen 32B model: it takes each document by its words, and nothing else. With documents that say one thing each, foreign ones hardly matter to it; the arms of more and fewer are left out.',
  ],
  figures: {
    'greedy-1': 'Share of exact greedy answers to held-out questions over one document.',
    'sampled-1': 'Share of exact sampled answers to held-out questions over one document.',
    'greedy-2': 'Share of exact greedy answers to held-out questions over two documents.',
    'sampled-2': 'Share of exact sampled answers to held-out questions over two documents.',
    'greedy-3': 'Share of exact greedy answers to held-out questions over three documents.',
    'sampled-3': 'Share of exact sampled answers to held-out questions over three documents.',
    valid: 'Share of the proposer’s paid episodes that end in a valid question.',
    hops: 'Mean number of documents that a new question leads over.',
    answerable: 'Share of the new questions whose answer is the intended one, by the oracle.',
    solverReward: 'Share of the solver’s attempts that find the answer, mean over groups.',
    proposerReward: 'Mean reward of the proposer.',
  },
  taskName: 'knowledge',
  stop: STOP,
  rewards: {
    given: {
      usesGold: false,
      description: 'the answer that the proposer was given, to a question that the reader admitted',
    },
    format: { usesGold: false, description: 'control: any answer at all' },
    random: { usesGold: false, description: 'control: a fair coin' },
  },
  state: taskPool,
  variants: {
    'no-reader': 'no reader: every question that keeps the rules is admitted',
    penalty: 'a refused question earns -0.1 instead of 0',
  },
  sets: trainedSolver({ learningRate: 3e-4, warmup: 5, minibatches: 2 }),
  roles: {
    [PROPOSER]: role('writes questions', TURN_TOKENS.proposer, { seesGold: true }),
    [SOLVER]: role('answers them', TURN_TOKENS.solver, { shown: 'what its searches find' }),
  },
  freezable: [PROPOSER, SOLVER],
  propose: async (context) =>
    proposeQuestions(context, {
      reader: context.round.settings.variant !== 'no-reader',
      noise: NOISE,
      pool: poolOf(await context.recipeState()),
    }),
  rollOut: rollSearch,
  judge: async (context, groups) => groups.map((group) => scoreSearch(context, group)),
  payProposals,
  learn,
  evaluate: evaluateSearch,
  hosted: [hostedSearch],
  describe: { difficulty: (task) => questionDifficulty(readTask(task).question) },
};
