/** r-zero: a challenger and a solver, copies of one policy, train in turns on questions that the solver's votes label. */
import type { Game } from '../../core/game/game.ts';
import type { PolicyPart, ProposalTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { clusterShares } from '../../core/rl/measures/average-linkage.ts';
import { bandPass } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { inPhases, type PhasePlay } from '../../core/round/in-phases.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { charBleu } from '../../core/text/bleu.ts';
import {
  exactReward,
  formatReward,
  majorityReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { nearStart } from '../../protocols/objectives.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import {
  creditedItems,
  groupItems,
  ofFamily,
  policyUpdate,
  rewardOf,
  SOLVER,
  smallSteps,
  trainedSolver,
} from '../../protocols/solver.ts';
import { voteFigures, votesOf } from '../../protocols/votes.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { familyGame, freely } from '../../worlds/family-game.ts';
import {
  CHALLENGER,
  challenge,
  collection,
  drawLabelled,
  type LabelReward,
  labelledSet,
  payByLabel,
} from './challenges.ts';
import { phaseOf } from './phases.ts';

/** Attempts that vote on a question. */
const ATTEMPTS = 10;
/** How many questions are asked for while collecting, for each task of a solver's round. */
const COLLECTED = 3;
/** Samples of each held-out task behind the sampled accuracy, which are several because arms differ by a few points. */
const DRAWS = 5;
/** The number of the challenger's questions that share a baseline. */
const CHALLENGE_GROUP = 4;
/** A question is kept if its label has a share within this band, bounds included. */
const BAND = [0.3, 0.8] as const;

/** Nearly all questions of the untrained challenger have this many operators; the evaluation asks longer ones. */
const REACH = 2;

/** `share` is that of the majority answer, null where the text is no question; `repeated` is the share of the batch in the question's cluster. */
export const challengerReward = (share: number | null, repeated: number): number =>
  (share === null ? -1 : bandPass(share)) - repeated;

export const solverReward = (wellFormed: boolean, agrees: boolean): number =>
  0.9 * Number(wellFormed && agrees) + 0.1 * Number(wellFormed);

/** Shares are multiples of a tenth; the tolerance keeps rounding errors from deciding at the bounds of the band. */
export const inBand = (share: number): boolean => share >= BAND[0] - 1e-9 && share <= BAND[1] + 1e-9;

/** The paper's weights over a judgment of the answer: that of the label or, in a control or an upper bound, of what replaces it. */
const weighed = (
  description: string,
  { usesGold, pay }: Pick<LabelReward, 'usesGold' | 'pay'>,
): LabelReward => ({
  description,
  usesGold,
  pay: (evidence, label) =>
    pay(evidence, label).map((right, i) => solverReward(evidence.solutions[i]!.ok, right === 1)),
});

const agreement: Pick<LabelReward, 'usesGold' | 'pay'> = {
  usesGold: false,
  pay: ({ answers }, label) => answers.map((answer) => Number(answer !== null && answer === label)),
};

/** `kl`: weight of the KL divergence to the start policy. */
const plan = (role: string, set: string, kl: number, items: PolicyPart['items']): TrainingPlan['updates'] =>
  policyUpdate(
    role,
    items,
    {
      objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.3, dualClip: 3 },
      aggregation: { mode: 'token-mean' },
      ...nearStart(kl, set),
    },
    set,
  );

/** The phases on the questions of a game. */
function challengePlay(
  game: Game<'solve' | 'propose'>,
  rewards: Readonly<Record<string, LabelReward>>,
): Required<PhasePlay> {
  const { family, said } = game;
  const votes = (groups: RoundRecords['groups'], tools: ProposalTools) =>
    votesOf(rendered(family, tools), groups, tools.decode);

  /** The share of the batch in the cluster of each question [proposals]. */
  const repeatedShares = ({ samples }: RoundRecords['proposals'], tools: ProposalTools) =>
    clusterShares(
      samples.map(({ ids }) => said(tools.decode(ids), tools)),
      charBleu,
    );

  /** Attempts are votes, which have no reward. */
  const voting: Pick<PhasePlay, 'rollOut' | 'judge'> = {
    rollOut: (context, tasks) => rollOut({ family }, context, tasks, SOLVER, ATTEMPTS),
    judge: async (context, groups) =>
      groups.map((group) => payAnswers(family, majorityReward, context, group)),
  };

  return inPhases(({ index }) => phaseOf(index), {
    challenge: {
      ...voting,
      propose: (context) => challenge(game, context, context.round.settings.tasks),
      payProposals: ({ round, proposals, groups }, tools) => {
        const voted = votes(groups, tools);
        const shares = new Map(groups.map(({ proposal }, i) => [proposal, voted[i]!.share]));
        const repeated = round.settings.variant === 'no-penalty' ? [] : repeatedShares(proposals, tools);
        return new Map(
          proposals.samples.map(({ id, outcome }, i) => [
            id,
            // A held-out question has no reward, and neither has one whose attempts are missing.
            outcome === 'held-out' || (outcome === 'ok' && !shares.has(id))
              ? null
              : challengerReward(shares.get(id) ?? null, repeated[i] ?? 0),
          ]),
        );
      },
      learn: ({ proposals, groups }, tools) => {
        const { samples } = proposals;
        const baselines = samples.map((_, i) => Math.floor(i / CHALLENGE_GROUP));
        const items = creditedItems(samples, samples.map(rewardOf), baselines, grpo);
        return {
          updates: plan(CHALLENGER, CHALLENGER, 0.01, items),
          figures: {
            ...voteFigures(family, votes(groups, tools)),
            repeated: mean(repeatedShares(proposals, tools)),
          },
        };
      },
    },
    collect: {
      ...voting,
      propose: (context) => challenge(game, context, COLLECTED * context.round.settings.tasks),
      learn: ({ round: { settings }, groups }, tools) =>
        collection(
          family,
          votes(groups, tools),
          ({ share }) => settings.variant === 'no-filter' || inBand(share),
        ),
    },
    train: {
      propose: drawLabelled,
      rollOut: (context, tasks) => rollOut({ family }, context, tasks),
      judge: (context, groups) => payByLabel(family, rewards, context, groups),
      learn: ({ groups }) => ({ updates: plan(SOLVER, MAIN_SET, 0.1, groupItems(groups, grpo)) }),
    },
  });
}

/** The rewards of the solver that need no oracle. */
const LABEL_REWARDS = {
  votes: weighed('the label that most of the solver’s own attempts gave', agreement),
  format: weighed('control: any well-formed answer', formatReward),
  random: weighed('control: a coin instead of agreement', randomReward),
} as const;

const described = {
  name: 'r-zero',
  title:
    'A challenger at the edge of what its solver can do, and a solver that trains on its own majority votes',
  paper: arXiv('2508.05004', 'R-Zero: Self-Evolving Reasoning LLM from Zero Data'),
  summary:
    'Challenger and solver start as copies of one policy and train in turns. The challenger is paid for questions whose majority answer about half of the solver’s attempts give, less a penalty for questions that resemble others of the batch. The solver trains on the questions that are neither too easy nor too hard for it, with its own majority answers as labels.',
  method: {
    setting:
      'Questions are arithmetic chains; nobody supplies a question or an answer. Challenger and solver start as copies of one policy, which writes short sums, one of them far more often than the others, and slips the more the longer a chain is. The evaluation asks for chains of three to five operators.',
    roles:
      'The challenger writes questions from one fixed prompt. The solver attempts each ten times, and the answer that most attempts give is the question’s label. In the solver’s own rounds it answers labelled questions five times each.',
    rewards:
      'The challenger earns min(p, 1 - p), where p is the share of the attempts that give the label, less the share of the batch that its question clusters with by BLEU; text that is no question earns -1 less that share. Held-out questions have no reward. The solver earns 0.9 for the label and 0.1 for form.',
    credit:
      'The challenger’s rewards are normalised within groups of four questions, the solver’s within the answers to a question (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.3], a dual clip at 3 and a mean over tokens, plus a k3 estimate of the KL divergence to version 0 of weight 0.01 for the challenger and 0.1 for the solver.',
    schedule:
      'The two train in turns, each against the other frozen. An iteration has seven rounds of the challenger; one that collects questions, keeps those whose label has a share of 0.3 to 0.8 and labels them; and five rounds of the solver.',
  },
  differences: [
    'Rewards follow the released code, min(p, 1 - p) and -1 for bad form; the paper has 1 - 2|p - 1/2| and 0.',
    'Ten votes for labels too, as in the paper; the code has nine.',
    'Questions are arithmetic chains without the challenger’s own answer; BLEU is taken over characters; no top-p.',
    'An iteration collects 192 questions instead of 8,000 and keeps each once, repeated or not, so that a solver, whose five rounds draw up to 64 in three updates each, meets a question two or three times, an untrained challenger’s more often. A challenger round has 64 in two updates.',
    'KL weight 0.1 instead of 0.01 for the solver, which forgets its sums otherwise, and a challenger whose steps are five times as large; it has 14 updates an iteration to the solver’s 15, in the paper 5 to 15.',
    'The start is taught for it: a challenger of short sums, one of them far more often than the others, a solver that slips the more the longer a chain is; the evaluation is of three to five operators.',
  ],
  figures: {
    agreement: 'Mean share of the attempts at a question that give its most frequent answer.',
    difficulty: 'Mean difficulty of the questions: the number of operations of a sum.',
    labelAccuracy: 'Share of the questions whose most frequent answer is exact.',
    repeated:
      'Mean share of the batch that lies in the same cluster as a question, by BLEU; high = the challenger repeats itself.',
    kept: 'Share of the questions that are kept for the solver.',
    keptAccuracy: 'Share of the kept questions whose label is exact.',
  },
  state: labelledSet,
  variants: {
    'no-penalty': 'resembling questions are not penalised',
    'no-filter': 'every question is kept, whatever the share of its label',
  },
  sets: {
    ...trainedSolver({ warmup: 5, minibatches: 3 }),
    [CHALLENGER]: { optimizer: smallSteps({ learningRate: 5e-4, warmup: 5, minibatches: 2 }) },
  },
} satisfies Described;

const written: RecipeOver<'solve' | 'propose'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'propose'], data: ['answer'] },
  over: (game) => {
    const { family, tests } = game;
    // To the questions that the challenger writes after an example nobody knows the answers.
    const rewards = game.byExample
      ? LABEL_REWARDS
      : {
          votes: LABEL_REWARDS.votes,
          oracle: weighed('upper bound: the exact answer instead of the label', exactReward),
          format: LABEL_REWARDS.format,
          random: LABEL_REWARDS.random,
        };
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [CHALLENGER]: role('writes questions, from one fixed prompt', family.maxNew.proposer, {
          speaksAs: 'proposer',
          set: CHALLENGER,
        }),
        [SOLVER]: role(
          'answers them, with or without steps, and labels them by its votes',
          family.maxNew.solver,
        ),
      },
      freezable: [CHALLENGER, SOLVER],
      ...challengePlay(game, rewards),
      evaluate: async (context) => {
        const tasks = tests(context.evaluationTasks);
        return evaluation(
          await evaluateSolver(context, { family, role: SOLVER, temperature: 1, draws: DRAWS, tasks }),
        );
      },
    };
  },
  elsewhere: {
    differences: [
      'The challenger is shown a question of the files and writes another of the same kind, where the paper’s writes from one fixed prompt without any data. The files’ reference answers are used by the evaluation alone.',
      'Rewards follow the released code, min(p, 1 - p) and -1 for bad form; the paper has 1 - 2|p - 1/2| and 0. BLEU is taken over characters.',
      'The schedule, the KL weights and the numbers of updates are those of the recipe on sums. There is no reward by an oracle, since nobody knows the answers to the challenger’s questions.',
    ],
  },
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'the files’ questions are examples for its challenger',
};

/** The evaluation asks for chains that are longer than those that the untrained challenger writes. */
const longerSums = familyGame(arithmetic, {
  words: { propose: freely(arithmetic) },
  tests: (asked) => arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) > REACH),
});

export const rZero = played(written, longerSums);
