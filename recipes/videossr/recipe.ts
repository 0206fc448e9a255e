/** VideoSSR: a policy is paid for what it says of clips whose frames were damaged, stamped or shuffled, so that nobody has to label anything. */
import type { ProposalTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { rendered, solutionOf } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, payAnswers } from '../../protocols/answer-rewards.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { BLIND, OTHER_PICTURES, otherPictures } from '../../protocols/evaluate/other-pictures.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { within } from '../../protocols/evaluate/within-context.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import {
  describedBy,
  groupItems,
  ofFamily,
  rewardNamed,
  rewardOf,
  SOLVER,
  solverUpdate,
  trainedSolver,
} from '../../protocols/solver.ts';
import { CLIP, canvasClips } from '../../worlds/canvas/clips.ts';
import { kindOf, PUZZLES, type PuzzleKind } from '../../worlds/frames/puzzles.ts';
import { KINDS_OF, numbersOf, type Posed, posedIn, puzzlePrompt, type WatchedGame } from './pose.ts';
import { smoothScore } from './scores.ts';

/** Held-out clips on each of which one puzzle is posed in an evaluation. */
const EXAMINED = 100;

const VARIANTS = {
  'stretch-only': 'puzzles are all about damaged frames',
  'counts-only': 'puzzles are all about how many shapes were put on the frames',
  'order-only': 'puzzles are all about the order of the frames',
  [BLIND]: 'control: the frames of another puzzle are shown than of the one that is paid',
} as const;

const rewards = {
  smooth: {
    description: 'how near an answer about frames is to what was done to them, 0 to 1',
    usesGold: false,
    labelFree: true,
    ownScale: true,
  },
  strict: {
    description: '1 for an answer about frames that says exactly what was done to them',
    usesGold: false,
    labelFree: true,
    ownScale: true,
  },
  ...CONTROLS,
} as const;

const posedOf = (
  game: WatchedGame,
  { settings }: RoundContext['round'],
  { group, task }: Pick<AdmittedTask, 'group' | 'task'>,
) =>
  posedIn(game, task, group, {
    ...(settings.variant && KINDS_OF[settings.variant] ? { kinds: KINDS_OF[settings.variant]! } : {}),
    blind: settings.variant === BLIND,
  });

/** What an answer is worth; null is none. */
export function puzzlePay(
  { sought, answer }: Pick<Posed, 'sought' | 'answer'>,
  said: string | null,
  isStrict: boolean,
): number {
  if (said === null) return 0;
  return isStrict ? Number(said === answer.join(',')) : smoothScore(sought, numbersOf(said), answer);
}

async function rollOut(
  game: WatchedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const wanted = [];
  // One clip after the other, so that few images are held at a time.
  for (const task of tasks) {
    const posed = posedOf(game, round, task);
    const family = rendered(posed.family, context);
    wanted.push({
      prompt: await puzzlePrompt(game, context, task.task, posed),
      sampleIds: rolloutIds(task.group, SOLVER, round.settings.groupSize),
      parse: (text: string) => family.parseSolution(task.task, text),
    });
  }
  const samples = await samplePrompts(context, SOLVER, wanted);
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

function judgeGroup(game: WatchedGame, context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { rewardFunction } = context.round.settings;
  const posed = posedOf(game, context.round, group);
  const named = rewardNamed<RewardInfo & Partial<AnswerReward>>(rewards, rewardFunction);
  const byScore: AnswerReward['pay'] = ({ answers }) =>
    answers.map((said) => puzzlePay(posed, said, rewardFunction === 'strict'));
  return payAnswers(posed.family, { ...named, pay: named.pay ?? byScore }, context, group);
}

const FIGURE_OF = { stretch: 'stretches', counts: 'counts', order: 'orders' } as const;
type Scored = readonly { readonly kind: PuzzleKind; readonly score: number }[];
/** The mean score of each kind that there is. `named`: the figure's name. */
const byKind = (scored: Scored, named: (figure: string) => string): Record<string, number> =>
  Object.fromEntries(
    PUZZLES.flatMap((kind) => {
      const own = scored.filter((one) => one.kind === kind);
      return own.length ? [[named(FIGURE_OF[kind]), mean(own.map(({ score }) => score))]] : [];
    }),
  );

function learn(game: WatchedGame, { round, groups }: RoundRecords, tools: ProposalTools): TrainingPlan {
  const scored = groups.flatMap((group) => {
    const posed = posedOf(game, round, group);
    const family = rendered(posed.family, tools);
    return group.samples.map((sample) => {
      const read = solutionOf(family, group.task, sample, tools);
      return {
        kind: kindOf(posed.sought),
        score: puzzlePay(posed, read.ok ? read.value.answer : null, false),
      };
    });
  });
  const isDead = ({ samples }: ScoredGroup) => new Set(samples.map(rewardOf)).size < 2;
  return {
    updates: solverUpdate(groupItems(groups, grpo), { ...ppoClip(), ...nearStart(0.001) }),
    figures: {
      ...byKind(scored, (figure) => figure),
      deadGroups: mean(groups.map((group) => Number(isDead(group)))),
    },
  };
}

/** Greedy answers to a puzzle on each of some held-out clips. */
async function examine(
  game: WatchedGame,
  context: EvaluationContext,
  tests: readonly string[],
): Promise<Record<string, number>> {
  const stage = within(context);
  const tasks = tests.slice(0, EXAMINED);
  const posed = tasks.map((task) => posedIn(game, task, `held-out/${task}`));
  const prompts: string[] = [];
  for (const [i, task] of tasks.entries()) prompts.push(await puzzlePrompt(game, context, task, posed[i]!));
  const said = await asked(stage, SOLVER, tasks, {
    prompt: (_, i) => prompts[i]!,
    key: (task) => ['puzzle', task],
    temperature: 0,
  });
  const scored = tasks.map((task, i) => {
    const { text, stopped } = said[i]![0]!;
    const read = stopped ? rendered(posed[i]!.family, context).parseSolution(task, text) : null;
    const answer = read?.ok ? read.value.answer : null;
    return { kind: kindOf(posed[i]!.sought), score: puzzlePay(posed[i]!, answer, false) };
  });
  return byKind(scored, (figure) => `heldOut${figure[0]!.toUpperCase()}${figure.slice(1)}`);
}

const described = {
  name: 'videossr',
  title: 'Puzzles that are made of the frames of clips, paid by how near an answer is',
  paper: arXiv('2511.06281', 'VideoSSR: Video Self-Supervised Reinforcement Learning'),
  summary:
    'Frames of a clip are damaged, have shapes put on them, or are shuffled, and a policy says which frames, how many shapes or which order. What was done is known, so that nobody labels anything. Smooth scores pay an answer that is nearly right, where right and wrong alone would leave whole groups without a difference.',
  method: {
    setting:
      'A clip is five drawn pictures of 40 × 24 pixels in height and width: a coloured shape falls by a row from picture to picture, and one or two others stand still. The start policy, which sees patches of 8 × 8 pixels, was taught to answer puzzles with a third of its answers drawn without a look, and what shape or colour falls. Its greedy answers have the order of all clips and the counts of most right, and the damaged frames of fewer than half.',
    roles:
      'The solver answers the puzzle of a clip eight times. One puzzle in three damages a stretch of fewer than half of the frames: mirrored, upside down, with opposite colours, or with red and blue exchanged. One puts one to three circles, squares and triangles each on the frames. One shuffles them. What falls is asked in evaluations alone.',
    rewards:
      'A stretch earns the frames that it has in common with the damaged one, divided by those of either. Counts earn the mean over the three kinds of shapes of max(0, 1 − |ŷ − y|/y). An order earns 1 − Σ|place − right place| / ⌊n²/2⌋ over the n frames. What cannot be read earns 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round draws a puzzle for each of its clips and goes once over its batch.',
  },
  differences: [
    'Five drawn pictures and a policy of 0.2 million parameters stand in for videos of 48 frames and a model of 8 billion. The paper’s code has 15 damages and trains four; here are three of these and the opposite colours, in place of a picture that is zoomed out.',
    'The paper asks for seconds, and here for numbers of frames, of which a stretch has at least one, so that the smallest overlap is a frame.',
    'Shapes are bright cyan and stand upright, up to three of each kind.',
    'What training on puzzles does for other questions is measured by what falls in a held-out clip. Nobody asks that in training, as the paper does with its 17 benchmarks.',
  ],
  figures: {
    ...OTHER_PICTURES,
    stretches: 'Mean score of the answers about damaged frames, 0 to 1.',
    counts: 'Mean score of the answers about shapes that were put on frames, 0 to 1.',
    orders: 'Mean score of the answers about the order of frames, 0 to 1.',
    deadGroups: 'Share of the groups whose answers earned all the same, of which nothing is learnt.',
    heldOutStretches: 'Mean score of greedy answers about damaged frames of held-out clips, 0 to 1.',
    heldOutCounts: 'Mean score of greedy answers about shapes on held-out clips, 0 to 1.',
    heldOutOrders: 'Mean score of greedy answers about the order of held-out clips, 0 to 1.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 5, minibatches: 2 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'watch'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'watch'], data: ['answer', 'frames'] },
  over: (game) => {
    const { family, words, tests } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [SOLVER]: role(
          'says what was done to the frames of a clip',
          Math.max(words.watch.maxNew, words.solve.maxNew),
          {
            shown: 'frames that were damaged, stamped or shuffled',
          },
        ),
      },
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => rollOut(game, context, tasks),
      judge: async (context, groups) => groups.map((group) => judgeGroup(game, context, group)),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: async (context) => {
        const tasks = tests(context.evaluationTasks);
        return evaluation(await evaluateSolver(context, { family, role: SOLVER, temperature: 1, tasks }), {
          ...(await examine(game, context, tasks)),
          ...(await otherPictures(game, context, SOLVER, tasks)),
        });
      },
    };
  },
  elsewhere: {
    method: {
      setting:
        'The pictures of each row are the frames of a clip, in their order. Evaluations ask the row’s question.',
    },
    differences: [
      'A row’s pictures are the frames of its clip. Reference answers are used by the evaluation alone, which asks the rows’ questions and poses puzzles on held-out rows.',
      ...described.differences.slice(1, 3),
    ],
  },
  ownReward: 'the score of its puzzles is the reward',
};

export const videossr = played(written, canvasClips, {
  showsImages: CLIP,
  describe: {
    ...describedBy(canvasClips.family),
    title: (task) => [{ kind: 'text', text: canvasClips.question(task) }],
  },
});
