/**
 * INFUSER: a generator is paid for questions whose gradient in the solver points along the gradient of trusted questions, not for how hard they are.
 * `npx rollmesh start --recipe infuser --rounds 40` takes five minutes on two cores. Sampled accuracy should rise, with `influence` a few hundredths above 0 and `planted.influence` around 0
 * (`--variant planted`).
 */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { groupCentredBatchScaled, grpo, meanCentred } from '../../core/rl/estimators/index.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { bandPass } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerReward,
  CONTROLS,
  exactReward,
  majorityReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { coinOf } from '../../protocols/gold.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { passed, solveRate, writeTasks } from '../../protocols/proposals.ts';
import {
  creditedItems,
  groupItems,
  policyPart,
  policyUpdate,
  rewardNamed,
  SOLVER,
  smallSteps,
  solverAlone,
  solverUpdate,
  trainedSolver,
} from '../../protocols/solver.ts';
import { voteFigures, votesOf } from '../../protocols/votes.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame, freely } from '../../worlds/family-game.ts';
import { dualScaled, questionPay } from './pays.ts';

export const GENERATOR = 'generator';

/** Questions that are compared with one another: those that are written after the same example. */
const EACH = 4;
/** Samples of each held-out task behind the sampled accuracy. */
const DRAWS = 4;
/** Operators of trusted sums: from so many, and how many kinds. The untrained generator writes shorter ones. */
const TRUSTED = { from: 3, kinds: 3 } as const;

const VARIANTS = {
  difficulty: 'a question earns min(p, 1 - p), with p the share of its attempts that are paid',
  coin: 'control: a question earns 0 or 1 by a coin',
  unscaled: 'the gradients of questions are not scaled as AdamW would scale them',
  'group-std': 'the generator’s rewards are divided by the deviation of their group alone: GRPO',
  'batch-std': 'they are divided by the deviation of the whole batch',
  planted:
    'half of the questions are planted: their attempts are paid by a coin, as with a random answer key',
  'planted-difficulty': 'half of the questions are planted, and a question earns min(p, 1 - p)',
} as const;

type WrittenGame = Game<'solve' | 'propose'>;

const isDifficulty = (variant: string | undefined) => variant?.endsWith('difficulty') ?? false;

const isPlanted = (variant: string | undefined, { proposal }: Pick<RolloutGroup, 'proposal'>): boolean =>
  (variant?.startsWith('planted') ?? false) && proposal !== null && coinOf(`planted/${proposal}`);

/** Trusted questions, which come first, and those that the generator writes. */
async function propose(game: WrittenGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const asked = round.settings.tasks;
  const sets = Math.ceil(asked / EACH);
  const trusted = Math.max(1, Math.floor(asked / 2));
  const given = await game.tasks(context, game.byExample ? trusted + sets : trusted);
  const drawn = given.tasks.map(({ task }) => task);
  const measured = drawn.slice(0, trusted);
  const examples = drawn.length > trusted ? drawn.slice(trusted) : drawn;
  const ids = Array.from({ length: asked }, (_, i) => proposalId(round.id, GENERATOR, i));
  const requests = Array.from({ length: sets }, (_, s) => ({
    on: { like: game.byExample && drawn.length ? examples[s % examples.length]! : null },
    sampleIds: ids.slice(EACH * s, EACH * (s + 1)),
  }));
  const proposed = await writeTasks(game, context, GENERATOR, 'propose', requests, {
    refuse: refuseRepeated(measured),
  });
  return {
    ...given,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...measured.map((task) => ({ task, proposal: null })), ...passed(proposed)]),
  };
}

const rewards = {
  votes: {
    description:
      '1 for the answer that most attempts at a written question give, and for an exact one to a trusted question',
    usesGold: true,
    pay: (evidence) => (evidence.group.proposal === null ? exactReward : majorityReward).pay(evidence),
  },
  ...CONTROLS,
} satisfies Record<string, AnswerReward>;

const judge = (
  { family }: WrittenGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): ScoredGroup[] => {
  const { rewardFunction, variant } = context.round.settings;
  const reward = rewardNamed<AnswerReward>(rewards, rewardFunction);
  return groups.map((group) =>
    payAnswers(family, isPlanted(variant, group) ? randomReward : reward, context, group),
  );
};

/** A written question's scores; null where its attempts have no rewards. */
interface Scored {
  readonly group: ScoredGroup;
  readonly influence: Maybe;
  readonly difficulty: Maybe;
}

async function scored(
  { round, groups }: RoundRecords,
  tools: Pick<LearnTools, 'alignment'>,
): Promise<Scored[]> {
  const partOf = (some: readonly ScoredGroup[]) =>
    policyPart(SOLVER, groupItems(some, meanCentred), ppoClip());
  const trusted = partOf(groups.filter(({ proposal }) => proposal === null));
  const written = groups.filter(({ proposal }) => proposal !== null);
  const parts = written.map((group) => partOf([group]));
  const influences =
    trusted.items.length && parts.length
      ? await tools.alignment(MAIN_SET, parts, trusted, {
          measure: 'cosine',
          ...(round.settings.variant === 'unscaled' ? {} : { scaled: 'adam' }),
        })
      : [];
  return written.map((group, w) => {
    const rate = solveRate(group.samples);
    return {
      group,
      influence: parts[w]!.items.length ? (influences[w] ?? null) : null,
      difficulty: rate === null ? null : bandPass(rate),
    };
  });
}

/** Means over questions that have both scores, and of the influence over those that have a gradient. `name` begins the names. */
function scoreFigures(name: string, questions: readonly Scored[]): Record<string, number> {
  const both = questions.flatMap(({ influence, difficulty }) =>
    influence === null || difficulty === null ? [] : [{ influence, difficulty }],
  );
  const differing = both.filter(({ difficulty }) => difficulty > 0);
  return {
    ...(differing.length ? { [`${name}influence`]: mean(differing.map(({ influence }) => influence)) } : {}),
    ...(both.length ? { [`${name}difficultyPay`]: mean(both.map(({ difficulty }) => difficulty)) } : {}),
  };
}

async function learn(game: WrittenGame, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { round, proposals } = records;
  const { variant } = round.settings;
  const questions = await scored(records, tools);
  const scoreOf = ({ group, influence, difficulty }: Scored): Maybe => {
    if (variant === 'coin') return Number(coinOf(group.proposal!));
    return isDifficulty(variant) ? difficulty : influence;
  };
  const scores = new Map(questions.map((question) => [question.group.proposal, scoreOf(question)]));
  const pays = proposals.samples.map(({ id, outcome }) => questionPay(outcome, scores.get(id) ?? null));
  const estimator = { 'group-std': grpo, 'batch-std': groupCentredBatchScaled }[variant ?? ''] ?? dualScaled;
  const generated = creditedItems(
    proposals.samples,
    pays,
    proposals.samples.map((_, i) => Math.floor(i / EACH)),
    estimator,
  );
  const groups = questions.map(({ group }) => group);
  const [planted, others] = [true, false].map((wanted) =>
    questions.filter(({ group }) => isPlanted(variant, group) === wanted),
  ) as [Scored[], Scored[]];
  const ranks = rankCorrelation(
    ...((['influence', 'difficulty'] as const).map((score) =>
      questions.map((question) => question[score] ?? 0),
    ) as [number[], number[]]),
  );
  return {
    updates: [
      ...policyUpdate(GENERATOR, generated, ppoClip(), GENERATOR),
      ...solverUpdate(groupItems(groups, meanCentred), ppoClip()),
    ],
    figures: {
      ...voteFigures(game.family, votesOf(rendered(game.family, tools), groups, tools.decode)),
      ...scoreFigures('', others),
      ...scoreFigures('planted.', planted),
      ...(ranks === null ? {} : { ranks }),
    },
  };
}

const described = {
  name: 'infuser',
  title: 'Questions that are paid by what they do for trusted ones',
  paper: arXiv('2606.09052', 'INFUSER: Influence-Guided Self-Evolution Improves Reasoning'),
  summary:
    'A generator writes questions and a solver trains on its answers to them. A question earns the cosine of two gradients in the solver: of its own attempts, as the optimiser would scale it, and of attempts at a few trusted questions, which nobody trains on. What is hard and teaches nothing earns about nothing.',
  method: {
    setting:
      'Questions are arithmetic chains. The trusted ones have three to five operators and known answers. Generator and solver start as copies of one policy, which writes shorter sums, one of them far more often than the others, and slips the more the longer a chain is. The evaluation asks for held-out chains of three to five operators.',
    roles:
      'The generator, whose weights are its own, writes 32 questions from one prompt; the solver answers each eight times, and each of 16 trusted questions, too.',
    rewards:
      'An answer to a written question earns 1 if it is the one that most attempts give, an answer to a trusted question 1 if it is exact; others earn 0. A question earns ⟨γ, m⟩ / (‖γ‖·‖m‖): m is the gradient of the solver’s loss on the trusted questions, and γ = g / (√v̂ + ε) that on the attempts at the question, g, scaled by AdamW’s mean square with g² taken in. It is 0 where all attempts are paid alike. A question that came before in the round earns 0, text that is no question −1, and a held-out question nothing.',
    credit:
      'The solver’s rewards less their group’s mean, undivided. The generator’s, less the mean of four questions, are divided by their deviation plus the mean deviation of all such groups that differ (DuGRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens for both, with importance weights of at most 2. There is no KL term. Both gradients are of this loss.',
    schedule:
      'Each round measures the influences by the weights that it trains from, then trains the generator on its questions and the solver on its attempts at them, each in one pass. Trusted questions are drawn anew, and never trained on.',
  },
  differences: [
    'The paper’s generator reads a document and writes a question of several choices with its answer, by which attempts are paid. Here it writes the question alone, and the solver’s votes are its answer.',
    'The gradient of the trusted questions is that of the round’s, where the paper keeps a running mean over rounds (momentum 0.9): a version has no room for a gradient.',
    'What text that is no question earns, and the kind of deviation in DuGRPO, could not be checked against the paper’s.',
    '32 questions and 16 trusted ones a round; the paper has 128 documents with eight questions each and 800 trusted questions. Its learning rates are of another model.',
    '`--freeze generator` is the paper’s control of a fixed generator.',
  ],
  figures: {
    influence:
      'Mean influence of the written questions that are not planted and whose attempts are not all paid alike: a cosine, −1 to 1.',
    difficultyPay:
      'Mean of min(p, 1 − p) over the written questions that are not planted: what their difficulty would earn.',
    'planted.influence': 'Mean influence of the planted questions whose attempts are not all paid alike.',
    'planted.difficultyPay': 'Mean of min(p, 1 − p) over the planted questions.',
    ranks: 'Rank correlation of influence with min(p, 1 − p) over all written questions.',
    agreement: 'Mean share of the attempts at a written question that give its most frequent answer.',
    difficulty: 'Mean difficulty of the written questions: the number of operations of a sum.',
    labelAccuracy: 'Share of the written questions whose most frequent answer is exact.',
  },
  variants: VARIANTS,
  sets: {
    ...trainedSolver({ learningRate: 2e-4, warmup: 8 }),
    [GENERATOR]: { optimizer: smallSteps({ learningRate: 4e-4, warmup: 8, minibatches: 2 }) },
  },
  freezable: [GENERATOR, SOLVER],
} satisfies Described;

const written: RecipeOver<'solve' | 'propose'> = {
  needs: { verbs: ['solve', 'propose'], data: ['answer'] },
  over: (game) => {
    const alone = solverAlone({ ...game, draws: DRAWS, rewards });
    return {
      ...alone,
      ...described,
      roles: {
        [GENERATOR]: role('writes questions', game.words.propose.maxNew, {
          speaksAs: 'proposer',
          set: GENERATOR,
        }),
        ...alone.roles,
      },
      propose: (context) => propose(game, context),
      judge: async (context, groups) => judge(game, context, groups),
      learn: (records, tools) => learn(game, records, tools),
    };
  },
  elsewhere: {
    method: {
      roles:
        'The generator, whose weights are its own, is shown a question of the files and writes four others of the same kind; the solver answers each eight times, and so it does trusted questions, which are drawn from the files as well.',
    },
    differences: [
      'The generator is shown questions of the files, as in the paper’s control without documents, and writes no answer: the solver’s votes are.',
      'Reference answers are used for trusted questions and by the evaluation; the solver is trained on written questions alone.',
      ...described.differences.slice(1),
    ],
  },
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'the files’ questions are trusted ones, or examples for its generator',
};

/** Trusted questions are as long as those of the evaluation. */
const longSums = familyGame(arithmetic, {
  words: { propose: freely(arithmetic) },
  tasks: (context, count) =>
    drawnTasks(context, (random) => freshTask(random, TRUSTED.from + random.int(TRUSTED.kinds)), count),
  tests: (asked) => arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) >= TRUSTED.from),
});

export const infuser = played(written, longSums);
