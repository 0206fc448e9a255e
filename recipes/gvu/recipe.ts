/** GvU: a policy draws what is wanted, and is paid by how likely its own reading of the drawing makes the words that it was given. */
import { arXiv, type Described, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { BLIND } from '../../protocols/evaluate/other-pictures.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import {
  describedBy,
  groupItems,
  rewardNamed,
  SOLVER,
  solverAlone,
  solverUpdate,
  trainedSolver,
} from '../../protocols/solver.ts';
import {
  captionOf,
  drawings,
  drawingTitle,
  otherDrawing,
  painted,
  readPrompt,
  shapesAlone,
} from '../../worlds/canvas/drawing.ts';
import { LARGEST_CANVAS } from '../../worlds/canvas/scene.ts';

/** Reads drawings. */
const READER = 'reader';

const VARIANTS = {
  'frozen-reader': 'drawings are read by the start policy',
  'no-attributes': 'the reader is to find the shapes alone, and neither their colours nor their sizes',
  [BLIND]: 'control: the reader is shown another drawing',
} as const;

/** (Π p)^(1/L), of the log-probabilities of L tokens, nats. */
export const geometricMean = (logProbabilities: ArrayLike<number>): number =>
  Math.exp(mean(Array.from(logProbabilities)));

const likelihood: RewardInfo = {
  description: 'the geometric mean of the probabilities of the words that were wanted, read from the drawing',
  usesGold: false,
  labelFree: true,
};

const rewards = { likelihood, ...exactAndControls } as const;

/** How likely each drawing of a group makes what was wanted [samples]; 0 where nothing was drawn. */
async function readings(context: RoundContext, { group, task, samples }: RolloutGroup): Promise<number[]> {
  const { tokenizer, round } = context;
  const { variant } = round.settings;
  const wanted = variant === 'no-attributes' ? shapesAlone(task) : task;
  const drawn = samples.map((sample) => {
    const read = drawings.parseSolution(task, tokenizer.decode(sample.ids));
    const scene = sample.outcome === 'ok' && read.ok ? painted(read.value.answer) : null;
    return scene && variant === BLIND ? otherDrawing(sample.id) : scene;
  });
  const ids = tokenizer.encode(captionOf(wanted));
  const measured = await context.measure(
    READER,
    drawn.flatMap((scene) => (scene ? [{ group, prompt: tokenizer.encode(readPrompt(scene)), ids }] : [])),
  );
  const next = measured.values();
  return drawn.map((scene) => (scene ? geometricMean(next.next().value!.logProbabilities) : 0));
}

async function judgeGroup(context: RoundContext, group: RolloutGroup): Promise<ScoredGroup> {
  const named = rewardNamed<RewardInfo>(rewards, context.round.settings.rewardFunction);
  if (named !== likelihood) return payAnswers(drawings, named as AnswerReward, context, group);
  const paid = await readings(context, group);
  return payAnswers(drawings, { ...likelihood, pay: () => paid }, context, group);
}

const alone = solverAlone({ family: drawings });

const described = {
  name: 'gvu',
  title: 'Drawings that are paid by how well the policy itself reads from them what was wanted (stand-in)',
  paper: arXiv(
    '2603.06043',
    'Learning to Generate via Understanding: Understanding-Driven Intrinsic Rewarding for Unified Multimodal Models',
  ),
  summary:
    'A policy draws what words ask for, as a program of shapes and places. Its own eyes read the painted picture, and a drawing earns the geometric mean of the probabilities that they give to the words. Nobody labels anything.',
  method: {
    setting:
      'Two or three coloured shapes are wanted, such as a big red circle and a small blue cross. The start policy writes programs that often give one shape the colour of another. It reads pictures, too, and describes shapes as one policy of pictures and words.',
    roles:
      'The solver draws each picture eight times. A program paints what it wrote on a canvas of 32 × 32 pixels. The reader, the same weights, sees the canvas and is asked what is there.',
    rewards:
      'With L tokens of what was wanted, a drawing earns (Π p(token | picture, tokens before))^(1/L) by the reader, and 0 where it cannot be painted.',
    credit:
      'The advantage of a drawing is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'Each round reads its drawings by the weights that it trains from, and goes once over its batch.',
  },
  differences: [
    'A program of shapes that is painted stands in for an image model: the paper’s generator writes image tokens that a diffusion model decodes. What is tested is reward from reading, and not the quality of pictures.',
    'The reader is asked for the shapes row by row, so that a drawing also earns where its shapes stand in the order of the words.',
    'The weight of the KL term could not be checked against the paper’s.',
  ],
  needsOfTasks: { datum: 'drawings', which: 'pictures that a policy draws by a program' },
  figures: {
    rewardRight: 'Mean reward of drawings that have the shapes that were wanted, no more and no fewer.',
    rewardWrong: 'Mean reward of all other drawings.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 4e-5, warmup: 5, minibatches: 2 }),
} satisfies Described;

export const gvu: WithoutSetup = {
  ...alone,
  ...described,
  rewards,
  roles: {
    [SOLVER]: { ...alone.roles[SOLVER]!, description: 'draws what is wanted', speaksAs: 'drawer' },
    [READER]: role('reads what is drawn', 1, { speaksAs: 'solver' }),
  },
  bindings: ({ variant }) => (variant === 'frozen-reader' ? { [READER]: { pinned: true } } : {}),
  judge: (context, groups) => Promise.all(groups.map((group) => judgeGroup(context, group))),
  learn: ({ groups }) => {
    const rewardsOf = (right: boolean) =>
      groups.flatMap(({ samples, answersExact }) =>
        samples.flatMap(({ rewards: { reward } }, i) =>
          (answersExact[i] === true) === right && typeof reward === 'number' ? [reward] : [],
        ),
      );
    const [right, wrong] = [rewardsOf(true), rewardsOf(false)];
    return {
      updates: solverUpdate(groupItems(groups, grpo), { ...ppoClip(), ...nearStart(0.001) }),
      figures: {
        ...(right.length ? { rewardRight: mean(right) } : {}),
        ...(wrong.length ? { rewardWrong: mean(wrong) } : {}),
      },
    };
  },
  showsImages: LARGEST_CANVAS,
  describe: { ...describedBy(drawings), title: drawingTitle },
};
