/** GenEvolve: a drawer with a tool is paid for its drawings, and taught by itself after a lesson: what the best attempt at a request had ahead of the worst. */
import { episodesOf, playEpisodes } from '../../core/episodes/play-episodes.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { arXiv, type Described, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, ok, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { CONTROLS } from '../../protocols/answer-rewards.ts';
import { grpoByEpisode, returnOf, withEpisodeRewards } from '../../protocols/episode-credit.ts';
import { BLIND, OTHER_PICTURES } from '../../protocols/evaluate/other-pictures.ts';
import { heldOutFigures } from '../../protocols/evaluate/solver.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { ofFamily, policyPart, trainedSolver } from '../../protocols/solver.ts';
import { type TaughtSample, teacherPass } from '../../protocols/teacher-pass.ts';
import { drawingTitle } from '../../worlds/canvas/drawing.ts';
import {
  type Attempt,
  attemptAfter,
  attemptOf,
  BEGUN,
  lessonOf,
  MARK_GRID,
  MOST_TURNS,
  markPicture,
  otherMark,
  requestPrompt,
  requests,
  scoreOf,
} from '../../worlds/canvas/requests.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';

const DRAWER = 'drawer';
/** The best and the worst attempt differ by so much, or there is no lesson. */
export const GAP = 0.2;
/** The weight of the teacher beside the policy gradient. */
const TEACHER = 1;

const VARIANTS = {
  grpo: 'rewards alone, and no teacher',
  'teacher-alone': 'rewards choose the best and the worst attempt, and train nothing',
  'best-alone': 'the lesson says what the best attempt had, and nothing of the worst',
  'shuffled-lesson': 'the teacher reads the lesson of the next request',
  [BLIND]: 'control: the tool shows another mark than the one that is asked for',
} as const;

const rewards: Readonly<Record<'share' | 'format' | 'random', RewardInfo>> = {
  share: {
    description: 'the share of what is wanted or drawn that is both',
    usesGold: true,
  },
  format: { usesGold: false, description: 'control: 1 for an attempt that ends with a drawing' },
  random: CONTROLS.random,
};

interface Asked {
  readonly id: string;
  readonly task: string;
}

/** Attempts at requests, side by side. `blind`: what the tool shows is another mark. */
const play = (
  context: RoundContext,
  asked: readonly Asked[],
  { blind, temperature }: { readonly blind: boolean; readonly temperature?: number },
) =>
  playEpisodes(
    context,
    DRAWER,
    asked.map(({ id, task }) => ({ id, prompt: requestPrompt(task), world: { id, task, attempt: BEGUN } })),
    {
      maxTurns: MOST_TURNS,
      answer: ({ id, task, attempt: before }, text) => {
        const { attempt, ends, outcome } = attemptAfter(before, text);
        const shown = blind ? otherMark(task, id) : task;
        return { world: { id, task, attempt }, reply: ends ? null : markPicture(shown), outcome };
      },
      ...(temperature === undefined ? {} : { sampling: { temperature } }),
    },
  );

async function rollOut(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const { groupSize, variant } = settings;
  const played = await play(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: groupSize }, (_, i) => ({ id: rolloutId(group, DRAWER, i), task })),
    ),
    { blind: variant === BLIND },
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
  }));
}

const toldIn = (turns: readonly Sample[], decode: LearnTools['decode']): Attempt =>
  attemptOf(turns.map(({ ids }) => decode(ids)));

function judgeGroup(context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { rewardFunction } = context.round.settings;
  const attempts = episodesOf(group.samples).map((turns) => ({
    turns,
    attempt: toldIn(turns, context.tokenizer.decode),
  }));
  const scores = sealedGold(
    context,
    attempts.map(({ attempt }) => scoreOf(group.task, attempt)),
  );
  const paid =
    rewardFunction === 'random'
      ? attempts.map(({ turns }) => Number(coinOf(turns[0]!.id)))
      : rewardFunction === 'format'
        ? attempts.map(({ attempt }) => Number(attempt.program !== null))
        : scores();
  return withEpisodeRewards(
    group,
    attempts.map(({ turns, attempt }, i) => ({
      turns,
      rewards: { reward: paid[i]! },
      exact:
        attempt.program !== null &&
        requests.answerIsExact(group.task, { steps: [], answer: attempt.program }),
    })),
  );
}

/** The lesson of a group's attempts; null where the best and the worst are too near each other, or nothing can be told. */
export function lessonIn(
  { samples }: Pick<ScoredGroup, 'samples'>,
  decode: LearnTools['decode'],
  variant?: string,
): string | null {
  const paid = episodesOf(samples).flatMap((turns) => {
    const reward = returnOf(turns);
    return reward === null ? [] : [{ reward, attempt: toldIn(turns, decode) }];
  });
  const [first] = paid;
  if (!first) return null;
  const best = paid.reduce((a, b) => (b.reward > a.reward ? b : a));
  const worst = paid.reduce((a, b) => (b.reward < a.reward ? b : a));
  if (best.reward - worst.reward < GAP) return null;
  return lessonOf(best.attempt, variant === 'best-alone' ? BEGUN : worst.attempt) || null;
}

/** All turns of the groups that have a lesson, with what the teacher reads before each. */
export function taughtIn(
  groups: RoundRecords['groups'],
  tools: Pick<LearnTools, 'decode' | 'encode'>,
  variant?: string,
): TaughtSample[] {
  const lessons = groups.map((group) => lessonIn(group, tools.decode, variant));
  return groups.flatMap(({ samples }, g) => {
    const lesson = lessons[variant === 'shuffled-lesson' ? (g + 1) % groups.length : g];
    if (!lesson) return [];
    const read = tools.encode(lesson);
    return samples.map((sample) => ({ sample, context: [...read, ...sample.prompt] }));
  });
}

function learn({ round, groups, version }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const taught = variant === 'grpo' ? [] : taughtIn(groups, tools, variant);
  const attempts = groups.flatMap(({ samples }) => episodesOf(samples));
  const turns = groups.flatMap(({ samples }) => samples).length;
  return {
    updates: updateOf([
      ...(variant === 'teacher-alone'
        ? []
        : [policyPart(DRAWER, grpoByEpisode(groups), { ...ppoClip(), ...nearStart(0.001) })]),
      teacherPass(taught, {
        set: MAIN_SET,
        version,
        role: DRAWER,
        weight: TEACHER,
        divergence: { kind: 'reverse-kl' },
      }),
    ]),
    figures: {
      looked: mean(attempts.map((each) => Number(toldIn(each, tools.decode).looked))),
      taught: turns ? taught.length / turns : 0,
    },
  };
}

/** Attempts at held-out requests, one each, greedy, sampled and with other marks. */
async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const tasks = requests.heldOut(context.evaluationTasks);
  const drawn = async (seed: string, how: Parameters<typeof play>[2]): Promise<Attempt[]> =>
    (
      await play(
        context,
        tasks.map((task) => ({ id: deriveId('evaluate', seed, task), task })),
        how,
      )
    ).map(({ world }) => world.attempt);
  const answers = (attempts: readonly Attempt[]): ParseResult<Solution>[] =>
    attempts.map(({ program }) =>
      program === null ? invalid('off-grammar') : ok({ steps: [], answer: program }),
    );
  const greedy = await drawn('greedy', { blind: false, temperature: 0 });
  const sampled = await drawn('sampled', { blind: false });
  const blind = await drawn('other-pictures', { blind: true, temperature: 0 });
  return evaluation(heldOutFigures(requests, tasks, { greedy: answers(greedy), sampled: answers(sampled) }), {
    heldOutShare: mean(greedy.map((attempt, i) => scoreOf(tasks[i]!, attempt))),
    heldOutLooked: mean(greedy.map(({ looked }) => Number(looked))),
    otherPictures: heldOutFigures(requests, tasks, { greedy: answers(blind), sampled: answers(blind) })
      .accuracy,
  });
}

const described = {
  name: 'genevolve',
  title: 'A drawer with a tool, taught by itself after a lesson of its best and worst attempt (stand-in)',
  paper: arXiv(
    '2605.21605',
    'GenEvolve: Self-Evolving Image Generation Agents via Tool-Orchestrated Visual Experience Distillation',
  ),
  summary:
    'A drawer is asked for shapes of which it does not know one, may look that one up, and writes a program that is painted. Attempts at a request are paid by what is drawn. What the best one did and had that the worst did not becomes a lesson, which the same weights read as a teacher of the attempts’ tokens; the drawer never reads it.',
  method: {
    setting:
      'Two or three coloured shapes are wanted, and one of them is called a mark: its colour and shape differ from request to request, and a tool shows them. The start policy looks in less than half of its attempts and guesses in the others, and gives shapes the colours of others; it was taught to heed lessons.',
    roles:
      'The drawer attempts each request eight times: it looks at the picture of the mark or not, and draws. The teacher, the weights that the round trains from, writes nothing: it reads the lesson before what the drawer read.',
    rewards:
      'Of as many shapes as are wanted or drawn, whichever is more, the share that is both. What cannot be painted earns 0.',
    credit:
      'The advantage of an attempt is its reward minus the mean of its group, divided by the group’s deviation (GRPO), on both of its turns. Where the best attempt of a group earned 0.2 more than the worst, the lesson says whether it alone looked, which shapes it had that the worst had not, and which the worst had that it had not.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0, plus KL(drawer‖teacher) at every token of the attempts of groups with a lesson, as a mean over tokens.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'A program of shapes that is painted stands in for an image model, and a tool that shows what a mark is for searches of texts, of images and of skills. A program scores what is drawn, where the paper’s scores come from models.',
    'A program writes the lesson from what differs, where the paper has a language model compare two trajectories. The drawer had to be taught to heed lessons, in supervised training before.',
    'The gap from which on there is a lesson, the weight of the teacher beside rewards, and which divergence is taken could not be checked against the paper’s.',
    'Attempts begin from a start that was taught by demonstrations, as the paper’s begin from trajectories of other models.',
  ],
  needsOfTasks: { datum: 'drawings', which: 'pictures that a policy draws by a program' },
  figures: {
    ...OTHER_PICTURES,
    looked: 'Share of the attempts that looked at the mark.',
    taught: 'Share of the turns that a teacher read after a lesson.',
    heldOutShare:
      'Mean share of what is wanted or drawn that is both, of greedy drawings for held-out requests.',
    heldOutLooked: 'Share of the greedy attempts at held-out requests that looked at the mark.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 5, minibatches: 2 }),
} satisfies Described;

export const genEvolve: WithoutSetup = {
  ...ofFamily(requests),
  ...described,
  rewards,
  roles: {
    [DRAWER]: role('looks, or draws what is requested', requests.maxNew.solver, {
      shown: 'a picture of what is not known',
    }),
  },
  freezable: [DRAWER],
  propose: async (context) => familyTasks(requests)(context),
  rollOut,
  judge: async (context, groups) => groups.map((group) => judgeGroup(context, group)),
  learn,
  evaluate,
  showsImages: MARK_GRID,
  describe: {
    difficulty: (task) => requests.difficulty(task),
    title: (task) => drawingTitle(task),
  },
};
