/**
 * The shape of round over a set of questions with reference answers, for any policy. Questions are drawn from files, the policy's own renderer asks
 * them, a group of samples answers each, and the reward follows from what a named checker says of each answer. There is neither a proposer nor a
 * judge.
 */
import { extractAnswer } from '../../core/checkers/extract.ts';
import type { DrawingContext } from '../../core/game/game.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Recipe, RoundShape } from '../../core/recipe/recipe.ts';
import { type RoleSettings, role } from '../../core/recipe/role.ts';
import { type EvaluationContext, type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { usesQuestion, usesReference } from '../../core/recipe/rubric.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { questionsHash, tallyOf } from '../../core/statistics/change.ts';
import { TEMPERATURE_FIGURES } from '../../core/statistics/temperatures.ts';
import { tasksHere, traitsOf } from '../../worlds/file/stored-tasks.ts';
import { checkAnswer } from '../../worlds/questions/check-answer.ts';
import { drawQuestions } from '../../worlds/questions/draw.ts';
import type { QuestionSet } from '../../worlds/questions/family.ts';
import { questionTitle, readTask, writeTask } from '../../worlds/questions/task-text.ts';
import { figuresOf } from '../evaluate/figures.ts';
import { answerQuestions, fitting } from '../evaluate/questions.ts';
import { type HeldOutSamples, temperaturesOf } from '../evaluate/temperatures.ts';
import { sealedGold } from '../gold.ts';
import { rewardNamed, SOLVER } from '../solver.ts';
import { expectRoom, type Judged, judgeByRubrics, judgeRole, type RubricJudge } from './judged-reward.ts';
import { modelRole, type RewardModel, scoreByModels } from './model-reward.ts';
import type { QuestionEvidence, QuestionReward } from './rewards.ts';
import { judgesOf, modelsOf, payByReward, type WeightedReward } from './weighted-reward.ts';

/** At most 500 held-out questions are in an evaluation unless `examined` says otherwise. */
export interface Questions extends QuestionSet {
  readonly temperature?: number;
  /** Absent = an evaluation asks for a greedy answer and one sample. */
  readonly heldOutSamples?: HeldOutSamples;
  /** The first is the default. */
  readonly rewards: Readonly<Record<string, QuestionReward | WeightedReward>>;
}

const EXAMINED = 500;

/** The outcome of each sample of a group, parsed and checked again from its ids, as every stage does. */
function checkedGroup(
  { checker, extract }: Pick<Questions, 'checker' | 'extract'>,
  renderer: Renderer,
  group: Pick<RolloutGroup, 'task' | 'samples'>,
) {
  const check = checker.prepare(readTask(group.task));
  return group.samples.map(({ prompt, ids }) => {
    const read = renderer.read(prompt, ids);
    return { ...read, tokens: ids.length, ...checkAnswer(read, check, extract) };
  });
}

async function rollOut(
  questions: Questions,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const renderer = context.renderer();
  const { round } = context;
  const prompts = tasks.map(({ group, task }) => ({
    ids: renderer.begin(readTask(task).messages).ids,
    sampleIds: Array.from({ length: round.settings.groupSize }, (_, i) => rolloutId(group, SOLVER, i)),
  }));
  const completions = await context.generate(SOLVER, prompts);
  return tasks.map((task, t) => {
    const { ids: prompt, sampleIds } = prompts[t]!;
    const samples = completions[t]!.map((completion, i): Sample => {
      const { text, ended } = renderer.read(prompt, completion.ids);
      // The record says whether the text holds an answer; whether the checker can parse that answer concerns the reward alone.
      const outcome = !ended ? 'cut-off' : extractAnswer(text, questions.extract).ok ? 'ok' : 'off-grammar';
      return sampleOf(context, SOLVER, sampleIds[i]!, prompt, completion, outcome);
    });
    return { round: round.id, ...task, samples };
  });
}

async function pay(
  questions: Pick<Questions, 'rewards'>,
  context: RoundContext,
  group: RolloutGroup,
  checked: ReturnType<typeof checkedGroup>,
  { scores, judgments }: Judged,
  measured: QuestionEvidence['measured'],
): Promise<ScoredGroup> {
  const right = checked.map(({ outcome }) => outcome === 'right');
  const reward = rewardNamed(questions.rewards, context.round.settings.rewardFunction);
  const paid = await payByReward(reward, {
    askService: context.askService,
    round: context.round.id,
    group: group.group,
    sampleIds: group.samples.map(({ id }) => id),
    answers: checked.map(({ answer }) => answer),
    rollouts: checked.map(({ text, answer, ended, tokens }) => ({ text, answer, ended, tokens })),
    judged: scores,
    measured,
    answersExact: sealedGold(context, right),
    task: sealedGold(context, readTask(group.task)),
  });
  const answersExact = checked.map(({ answer }, i) => (answer === null ? null : right[i]!));
  return {
    ...group,
    samples: group.samples.map((sample, i) => ({ ...sample, ...paid[i]! })),
    judgments: [...judgments],
    answersExact,
    solutionsExact: answersExact,
  };
}

/** Throws `rubric.context` where a judge of the run's reward has no room for an answer. */
export async function expectRoomForJudges(
  rewards: Questions['rewards'],
  context: RoundContext,
): Promise<void> {
  const reward = rewards[context.round.settings.rewardFunction];
  for (const one of reward ? judgesOf(reward) : []) await expectRoom(context, one);
}

/** Stage three: the groups with what their answers are paid by the run's reward. */
export async function payQuestions(
  questions: Pick<Questions, 'checker' | 'extract' | 'rewards'>,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const checked = groups.map((group) => checkedGroup(questions, context.renderer(), group));
  const reward = rewardNamed(questions.rewards, context.round.settings.rewardFunction);
  const judged = await judgeByRubrics(context, judgesOf(reward), groups, checked);
  const measured = await scoreByModels(context, modelsOf(reward), groups);
  return Promise.all(
    groups.map((group, g) => pay(questions, context, group, checked[g]!, judged[g]!, measured[g]!)),
  );
}

/** The roles of those who grade answers, judges by a rubric and reward models, each with the version that plays it. */
export function graderRoles(rewards: Questions['rewards']): Pick<Recipe, 'roles' | 'bindings'> {
  const judges = Object.values(rewards).flatMap(judgesOf);
  const byRole = <T>(of: (judge: RubricJudge) => T) =>
    Object.fromEntries(judges.map((judge) => [judgeRole(judge.name), of(judge)]));
  const models = Object.values(rewards).flatMap(modelsOf);
  const byModelRole = <T>(of: (model: RewardModel) => T) =>
    Object.fromEntries(models.map((model) => [modelRole(model.name), of(model)]));
  const bound = {
    ...byRole(({ policy }) => ({ fixed: policy })),
    ...byModelRole(({ policy }) => ({ fixed: policy })),
  };
  const judgeSettings = byRole(
    ({ name, policy, rubric, rubric: { maxNew, temperature } }): RoleSettings => ({
      description: `grades answers by the rubric ${name}; it is ${policy.name}@${policy.version} and is not trained`,
      sampling: { maxNew, temperature },
      ...(usesReference(rubric) ? { seesGold: true as const } : {}),
      ...(usesQuestion(rubric) ? { readsQuestion: true as const } : {}),
    }),
  );
  const modelSettings = byModelRole(
    ({ policy }): RoleSettings =>
      role(
        `pays by its class head and writes nothing; it is ${policy.name}@${policy.version} and is not trained`,
        1,
        { measures: 'classes' },
      ),
  );
  return {
    roles: { ...judgeSettings, ...modelSettings },
    ...(Object.keys(bound).length ? { bindings: () => bound } : {}),
  };
}

/** What the figures of an evaluation on questions mean. */
export const QUESTION_FIGURES = {
  accuracyLow: 'Lower end of the 95 % interval of held-out greedy accuracy, a share.',
  accuracyHigh: 'Upper end of the 95 % interval of held-out greedy accuracy, a share.',
  tokens: 'Mean number of tokens in an answer: sampled ones in a round, greedy ones in an evaluation.',
  tooLong:
    'Number of held-out questions that were left out because they do not fit into the policy’s context.',
  ...TEMPERATURE_FIGURES,
} as const;

async function examine(questions: Questions, role: string, context: EvaluationContext): Promise<Evaluation> {
  const { tasks, checker, extract, maxNew, temperature = 1, examined = EXAMINED, heldOutSamples } = questions;
  const { heldOut, most } = context.evaluationTasks;
  // Pilots, by which settings are chosen, are evaluated on questions of the training side.
  const side = heldOut ? tasks.heldOut : tasksHere(tasks);
  const renderer = context.renderer();
  const { fit, tooLong } = fitting(side.slice(0, Math.min(examined, most)), renderer, {
    maxPositions: context.contextLength,
    maxNew,
  });
  if (fit.length === 0) return evaluation({ n: 0, accuracy: 0 }, { tooLong });
  const policy: Pick<Policy, 'generate'> = {
    generate: (prompts, settings) => context.generate(role, prompts, settings),
  };
  const asked = { checker, extract, maxNew, seed: 0 };
  const answered = await answerQuestions(policy, renderer, fit, { ...asked, samples: 1, temperature });
  const { greedy, sampled } = figuresOf(answered);
  const invalid = Object.values(greedy.invalid).reduce((sum, part) => sum + part, 0);
  const { share: accuracy, low, high } = greedy.accuracy;
  return evaluation(
    {
      n: answered.length,
      questions: questionsHash(fit.map(writeTask)),
      accuracy,
      sampled: sampled?.accuracy.share ?? null,
      formatRate: 1 - invalid,
      tallies: {
        accuracy: tallyOf(answered.map((question) => question.greedy.outcome === 'right')),
        sampled: tallyOf(answered.map(({ samples }) => samples[0]!.outcome === 'right')),
      },
    },
    {
      ...{ accuracyLow: low, accuracyHigh: high, tokens: greedy.tokens },
      ...(tooLong ? { tooLong } : {}),
      ...(heldOutSamples ? await temperaturesOf(heldOutSamples, accuracy, policy, renderer, fit, asked) : {}),
    },
  );
}

/** `examined`: the role that answers the held-out questions. */
export function questionRound(
  questions: Questions,
  examined: string = SOLVER,
): RoundShape & Pick<Recipe, 'bindings'> {
  const { name, tasks, maxNew, temperature = 1, rewards } = questions;
  const isRated = traitsOf(tasks)?.isRated ?? tasksHere(tasks).every(({ difficulty }) => difficulty !== null);
  const { roles: graders, ...bound } = graderRoles(rewards);
  return {
    taskName: name,
    rewards,
    ...bound,
    roles: {
      [SOLVER]: { description: 'answers questions', sampling: { maxNew, temperature } },
      ...graders,
    },
    propose: async (context: DrawingContext) => {
      const { round } = context;
      await expectRoomForJudges(rewards, context);
      return drawQuestions(context, {
        sources: tasks.sources,
        rooms: (task) => [{ prompt: context.renderer().begin(readTask(task).messages).text, tokens: maxNew }],
        count: round.settings.tasks,
        weightOf: context.weightOf,
      });
    },
    rollOut: (context, admitted) => rollOut(questions, context, admitted),
    judge: (context, groups) => payQuestions(questions, context, groups),
    evaluate: (context) => examine(questions, examined, context),
    describe: {
      title: questionTitle,
      ...(isRated ? { difficulty: (task: string) => readTask(task).difficulty! } : {}),
    },
  };
}
