/** TTRL: the policy is trained on the test tasks without their labels; the answer with most votes is taken as the label. */
import type { Game } from '../../core/game/game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { rendered, type TaskFamily } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { CONTROLS, exactReward, majorityReward } from '../../protocols/answer-rewards.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { heldOutAnswers } from '../../protocols/evaluate/solver.ts';
import { within } from '../../protocols/evaluate/within-context.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { groupItems, SOLVER, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { LABEL_FIGURES, labelFigures, testTasks } from '../../protocols/test-time.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { nextTests } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';

/** The share of a group's votes that is trained on. */
const TRAINED_SHARE = 0.5;
/** Passes over a batch, which make as many updates as four times the rounds would. */
const EPOCHS = 4;
/** The number of votes in the start policy's majority, with which the trained policy's single answer is compared. */
const EXAM_VOTES = 64;

/** A family, and those of its tasks that are trained and evaluated on. */
interface Tested {
  readonly family: TaskFamily;
  readonly tests: (asked: EvaluationTasks) => readonly string[];
}

/** The votes that are trained on; the majority counts all votes. */
const trainedVotes = (group: ScoredGroup): ScoredGroup => ({
  ...group,
  samples: group.samples.slice(0, Math.ceil(group.samples.length * TRAINED_SHARE)),
});

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: solverUpdate(groupItems(groups.map(trainedVotes), grpo), {
    ...ppoClip(),
    ...nearStart(0.001),
  }).map((update) => ({ ...update, epochs: EPOCHS })),
  figures: labelFigures(groups),
});

/** Accuracy of the start policy's majority vote. */
async function startVote({ family: given, tests: testsOf }: Tested, { atStart: start }: EvaluationContext) {
  const family = rendered(given, start);
  const tests = testsOf(start.evaluationTasks);
  const said = await asked(within(start), SOLVER, tests, {
    prompt: (task) => family.solverPrompt(task),
    key: (task) => ['vote', task],
    samples: EXAM_VOTES,
  });
  return mean(
    tests.map((task, t) => {
      const parses = said[t]!.map(({ text }) => family.parseSolution(task, text));
      const vote = majority(parses.map((parsed) => (parsed.ok ? parsed.value.answer : null)));
      return Number(vote !== null && family.answerIsExact(task, { steps: [], answer: vote.answer }));
    }),
  );
}

/** What became of each test task: it was wrong at first and is right now, or the other way round. */
async function examine(tested: Tested, context: EvaluationContext) {
  const { family } = tested;
  const asked = { seed: 'greedy', temperature: 0 };
  const tests = tested.tests(context.evaluationTasks);
  const solver = { family, role: SOLVER, tasks: tests };
  const right = async (stage: Parameters<typeof heldOutAnswers>[1]) =>
    (await heldOutAnswers(solver, stage, asked)).map(
      (parsed, i) => parsed.ok && family.answerIsExact(tests[i]!, parsed.value),
    );
  const before = await context.once('before', () => right(context.atStart));
  const now = await right(context);
  return {
    vote: await context.once('vote', () => startVote(tested, context)),
    learned: mean(now.map((exact, i) => Number(exact && !before[i]))),
    corrupted: mean(now.map((exact, i) => Number(!exact && before[i]))),
  };
}

/** The stages over the test tasks of a game. */
function stages(game: Game<'solve'>) {
  const { family, tests } = game;
  return solverAlone({
    family,
    tests,
    rewards: { majority: majorityReward, gold: exactReward, ...CONTROLS },
    tasks: (context) => nextTests(game, context, tests(context.evaluationTasks)),
    examine: (context) => examine({ family, tests }, context),
  });
}

const described = {
  name: 'ttrl',
  title: 'Test-time reinforcement learning',
  paper: { title: 'TTRL: Test-Time Reinforcement Learning', year: 2025, source: 'arXiv:2504.16084' },
  summary:
    'A solver trains on the test tasks themselves, without their labels: many answers to each vote, the majority’s answer is paid, and half of the answers are trained on.',
  method: {
    setting:
      'The test tasks themselves, chains of two to four operators, are trained on without their labels. The start policy answers seven of ten at once, without steps.',
    roles: 'The solver is the only role. It answers each test task 32 times.',
    rewards:
      '1 for the answer that most of the 32 votes give, otherwise 0. A wrong label still pays other wrong answers nothing, so that rewards are right more often than labels are.',
    credit:
      'The advantage of an answer is its reward minus the mean of the half that is trained on, divided by that half’s deviation (GRPO); the other half only votes.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'Each round takes the next 24 tasks of a walk through the test set, shuffled anew each time around, and goes over its batch four times.',
  },
  differences: [
    '32 votes and 16 trained samples a task instead of 64 and 32, and 24 tasks a round instead of 8; the halves are kept.',
    'A constant step size after a short warm-up instead of a cosine, and four passes over each batch instead of one: updates cost less here than rollouts.',
    'The test set is the 375 held-out chains of two to four operators, each met about twice; the paper goes some 80 times over a set of AIME’s size, and longer runs collapse there too.',
    'The start answers seven of ten tasks at once, without steps. Most of the gain is a choice of strategy: where the majority is right it mostly wrote its steps, so that answers with steps are paid; they then win votes that answers without steps had won.',
  ],
  figures: {
    ...LABEL_FIGURES,
    vote: 'Share of the test tasks at which the majority of version 0’s answers is exact.',
    learned: 'Share of the test tasks that version 0 answered wrong and this version answers right.',
    corrupted: 'Share of the test tasks that version 0 answered right and this version answers wrong.',
  },
  sets: trainedSolver(),
  learn,
} satisfies Described;

const written: RecipeOver<'solve'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({ ...described, ...stages(game) }),
  ownReward: 'the votes of its solver are the reward',
  ownOrder: 'it walks through all held-out questions',
};

export const ttrl = played(written, familyGame(arithmetic, { tests: testTasks }));
