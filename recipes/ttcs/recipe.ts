/** TTCS: at test time a synthesizer writes variants of the test questions, and a solver trains on both by majority. */
import type { Game } from '../../core/game/game.ts';
import type { ProposalTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { type EvaluationTasks, HELD_OUT } from '../../core/recipe/split.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { clusterShares } from '../../core/rl/measures/average-linkage.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { charBleu } from '../../core/text/bleu.ts';
import { CONTROLS, exactReward, majorityReward } from '../../protocols/answer-rewards.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { passed, writeTasks } from '../../protocols/proposals.ts';
import {
  creditedItems,
  groupItems,
  policyUpdate,
  rewardOf,
  smallSteps,
  solverAlone,
  solverUpdate,
  trainedSolver,
} from '../../protocols/solver.ts';
import { type Vote, voteFigures, votesOf } from '../../protocols/votes.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { variantPrompt } from '../../worlds/arithmetic/variants.ts';
import { admitTasks, drawnTasks, nextTests } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { isClose, SYNTHESIZER, variantReward } from './variants.ts';

type VariedGame = Game<'solve' | 'vary'>;

/** The least number of operators of a test question, and how many of these questions there are. */
const LEAST_OPERATORS = 4;
const TESTS = 96;
/** Variants that are asked for of each test question. */
const EACH = 4;
/** Between which shares of the most frequent answer a group is trained on, ends included. */
const KEPT = { low: 0.25, high: 0.75 } as const;
/** Passes over a solver's batch. */
const EPOCHS = 2;
/** Samples of each test question behind the sampled accuracy. */
const DRAWS = 4;

const VARIANTS = {
  ttrl: 'all tasks are test questions, all groups are trained on, and nobody writes variants: TTRL',
  'no-discount': 'variants that are close to their source are paid as others are',
  'random-variants': 'in place of variants there are chains drawn at random, of two to five sums',
} as const;

/** The test questions: held-out chains of four and five sums, which are trained on. */
export const testQuestions = (asked: EvaluationTasks = HELD_OUT): string[] =>
  arithmetic
    .heldOut(asked)
    .filter((task) => arithmetic.difficulty(task) >= LEAST_OPERATORS)
    .slice(0, TESTS);

/** How many of a round's tasks are test questions; they come first. */
const testsOf = ({ tasks, variant }: RunSettings): number =>
  variant === 'ttrl' ? tasks : Math.max(1, Math.floor(tasks / (1 + EACH)));

async function propose(game: VariedGame, context: RoundContext): Promise<Proposals> {
  const { round, evaluationTasks } = context;
  const { settings } = round;
  const asked = testsOf(settings);
  const tests = game.tests(evaluationTasks);
  const given = nextTests(
    game,
    { ...context, round: { ...round, settings: { ...settings, tasks: asked } } },
    tests,
  );
  if (settings.variant === 'ttrl') return given;
  const sources = given.tasks.map(({ task }) => task);
  if (settings.variant === 'random-variants') {
    const drawn = await game.tasks(context, EACH * asked);
    return { ...given, ...admitTasks(round, [...sources, ...drawn.tasks.map(({ task }) => task)]) };
  }
  const { isHeldOut } = await game.gate(context);
  const proposed = await writeTasks(
    game,
    context,
    SYNTHESIZER,
    'vary',
    sources.map((task, s) => ({
      on: { task },
      sampleIds: Array.from({ length: EACH }, (_, i) => proposalId(round.id, SYNTHESIZER, EACH * s + i)),
    })),
    // Test questions are trained on in any case; others that are held out are not.
    { isHeldOut: (task) => isHeldOut(task) && !tests.includes(task) },
  );
  return {
    ...given,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...sources.map((task) => ({ task, proposal: null })), ...passed(proposed)]),
  };
}

const votes = ({ family }: VariedGame, groups: readonly ScoredGroup[], tools: ProposalTools): Vote[] =>
  votesOf(rendered(family, tools), groups, tools.decode);

/** A variant as it was written, and the test question that it was written for, as texts. */
const textsOf = ({ said, question }: VariedGame, { ids, about }: Sample, tools: ProposalTools) => ({
  text: said(tools.decode(ids), tools),
  source: question(about!),
});

/** What the variants earn, by the id of the sample; a variant that was held out or whose attempts are missing has no reward. */
function payProposals(game: VariedGame, { round, proposals, groups }: RoundRecords, tools: ProposalTools) {
  const voted = votes(game, groups, tools);
  const shares = new Map(groups.map(({ proposal }, i) => [proposal, voted[i]!.share]));
  const texts = proposals.samples.map((sample) => textsOf(game, sample, tools));
  const repeated = clusterShares(
    texts.map(({ text }) => text),
    charBleu,
  );
  return new Map(
    proposals.samples.map((sample, i) => {
      const { id, outcome } = sample;
      if (outcome === 'held-out') return [id, null];
      if (outcome !== 'ok') return [id, 0];
      const share = shares.get(id);
      if (share === undefined) return [id, null];
      const { text, source } = texts[i]!;
      const discounted = round.settings.variant !== 'no-discount' && isClose(text, source);
      return [id, variantReward(share, discounted ? charBleu(text, source) : 0, repeated[i]!)];
    }),
  );
}

/** The objective of both. */
const CLIPPED = ppoClip(0.28);

/** The synthesizer's update, with variants of one test question compared with one another. */
const synthesizerUpdate = ({ samples }: Proposals): TrainingPlan['updates'] =>
  policyUpdate(
    SYNTHESIZER,
    creditedItems(
      samples,
      samples.map(rewardOf),
      samples.map(({ about }) => about!),
      grpo,
    ),
    CLIPPED,
    SYNTHESIZER,
  );

/** A figure, where there is one. */
const named = (name: string, value: number | undefined): Record<string, number> =>
  value === undefined ? {} : { [name]: value };

/** What became of a round's test questions and variants, for the report alone; the oracle knows which labels are exact. */
function questionFigures(
  game: VariedGame,
  { round, proposals, groups }: RoundRecords,
  voted: readonly Vote[],
  tools: ProposalTools,
) {
  const isTest = (i: number) => groups[i]!.index < testsOf(round.settings);
  const [tests, made] = [voted.filter((_, i) => isTest(i)), voted.filter((_, i) => !isTest(i))];
  const written = proposals.samples.filter(({ outcome }) => outcome === 'ok');
  const likeness = written.map((sample) => {
    const { text, source } = textsOf(game, sample, tools);
    return charBleu(text, source);
  });
  const ofMade = voteFigures(game.family, made);
  return {
    ...named('testLabels', tests.length ? voteFigures(game.family, tests).labelAccuracy : undefined),
    ...named('variantLabels', made.length ? ofMade.labelAccuracy : undefined),
    ...(made.length ? { agreement: ofMade.agreement, variantSums: ofMade.difficulty } : {}),
    ...(written.length
      ? { likeness: mean(likeness), copies: mean(likeness.map((like) => Number(like === 1))) }
      : {}),
  };
}

function learn(game: VariedGame, records: RoundRecords, tools: ProposalTools): TrainingPlan {
  const { round, proposals, groups } = records;
  const voted = votes(game, groups, tools);
  const isTrained = ({ share }: Vote) =>
    round.settings.variant === 'ttrl' || (share >= KEPT.low && share <= KEPT.high);
  const trained = groups.filter((_, i) => isTrained(voted[i]!));
  const labels = voteFigures(game.family, voted.filter(isTrained)).labelAccuracy;
  return {
    updates: [
      ...synthesizerUpdate(proposals),
      ...solverUpdate(groupItems(trained, grpo), CLIPPED).map((update) => ({ ...update, epochs: EPOCHS })),
    ],
    figures: {
      ...questionFigures(game, records, voted, tools),
      trained: trained.length / groups.length,
      ...named('trainedLabels', trained.length ? labels : undefined),
    },
  };
}

const described = {
  name: 'ttcs',
  title: 'Variants of the test questions make a curriculum for training on them',
  paper: arXiv('2601.22628', 'TTCS: Test-Time Curriculum Synthesis for Self-Evolving'),
  summary:
    'At test time a synthesizer writes variants of the unlabelled test questions and is paid for those on which the solver’s answers are split and which are no copies. The solver trains on test questions and variants, with its own majority as the label.',
  method: {
    setting:
      'The test questions are 96 held-out arithmetic chains of four and five sums, which are trained on without labels. The start policy writes its steps, and the later a sum comes, the more often it takes a plus for a minus or a minus for a plus: one answer in four to a test question is right, and on more than half of these questions its most frequent answer is wrong.',
    roles:
      'The synthesizer is shown a test question and writes four variants of it. The solver answers each test question and each variant twelve times; the two start as copies of one policy and have weights of their own.',
    rewards:
      'An answer earns 1 if it is the one that most attempts at its question give, otherwise 0. A variant earns (4s(1 - s))^1.2, where s is the share of that answer. If it is close to its source, with the same operators or a BLEU above one half, this is multiplied by 1 less their BLEU. The share of the batch in the variant’s cluster by BLEU is subtracted, and nothing earns less than 0; text that is no question earns 0.',
    credit:
      'Rewards are normalised within the answers to a question, and within the four variants of a test question (GRPO). Questions whose most frequent answer has a share below a quarter or above three quarters are left out.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens, for both. There is no KL term.',
    schedule:
      'Each round takes the next six of a walk through the test questions and asks for 24 variants. The attempts at these 30 questions pay the synthesizer and train the solver, whose batch is gone over twice.',
  },
  differences: [
    'Both train in every round, on the same attempts. The paper’s scripts alternate five steps of the synthesizer with fifteen of the solver.',
    'BLEU is taken over characters, and the skeleton of a chain is its operators; the paper compares texts and equations.',
    'The synthesizer may write a chain of any length, so that a variant of a hard question can be an easier one. Its start was taught copies, chains with one change, shorter ones and unrelated ones.',
    'Twelve votes a question where the paper has ten, 96 test questions and twelve rounds; the paper has benchmarks such as AIME and goes over them for longer.',
    'No arm freezes the synthesizer: the control is one that draws chains at random.',
  ],
  figures: {
    testLabels: 'Share of the round’s test questions whose most frequent answer is exact.',
    variantLabels: 'Share of the variants whose most frequent answer is exact.',
    agreement: 'Mean share of the attempts at a variant that give its most frequent answer.',
    variantSums: 'Mean number of sums of a variant.',
    likeness: 'Mean BLEU of a variant and its test question, over characters: 1 for a copy.',
    copies: 'Share of the variants that are copies of their test question.',
    trained: 'Share of the questions that the solver is trained on.',
    trainedLabels: 'Share of those questions whose most frequent answer is exact.',
  },
  variants: VARIANTS,
  sets: {
    ...trainedSolver({ learningRate: 2e-4, warmup: 8 }),
    [SYNTHESIZER]: { optimizer: smallSteps({ learningRate: 5e-4, warmup: 4, minibatches: 2 }) },
  },
  freezable: [SYNTHESIZER],
} satisfies Described;

const written: RecipeOver<'solve' | 'vary'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'vary'], data: ['answer'] },
  over: (game) => {
    const alone = solverAlone({
      ...game,
      draws: DRAWS,
      rewards: { majority: majorityReward, gold: exactReward, ...CONTROLS },
    });
    return {
      ...alone,
      ...described,
      roles: {
        [SYNTHESIZER]: role('is shown a test question and writes a variant of it', game.words.vary.maxNew, {
          speaksAs: 'proposer',
          set: SYNTHESIZER,
        }),
        ...alone.roles,
      },
      propose: (context) => propose(game, context),
      payProposals: (records, tools) => payProposals(game, records, tools),
      learn: (records, tools) => learn(game, records, tools),
    };
  },
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'it walks through all held-out questions',
};

const variedSums = familyGame(arithmetic, {
  words: {
    vary: {
      maxNew: arithmetic.maxNew.proposer,
      ask: ({ task }) => variantPrompt(task),
      read: (text) => arithmetic.parseProposal(text),
    },
  },
  tests: testQuestions,
  tasks: (context, count) => drawnTasks(context, (random) => freshTask(random, 2 + random.int(4)), count),
});

export const ttcs = played(written, variedSums);
