/** AlphaGRPO: a policy draws, looks at its drawing and draws again, and both drawings are paid by many small questions about them. */
import { arXiv, type Described, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { sameExp } from '../../core/same-exp.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { BLIND } from '../../protocols/evaluate/other-pictures.ts';
import { within } from '../../protocols/evaluate/within-context.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { answer } from '../../protocols/roll-out.ts';
import {
  creditedItems,
  describedBy,
  policyPart,
  rewardNamed,
  rewardOf,
  SOLVER,
  solverAlone,
  trainedSolver,
} from '../../protocols/solver.ts';
import {
  askedOf,
  drawings,
  drawingTitle,
  drawPrompt,
  otherDrawing,
  painted,
  redrawPrompt,
} from '../../worlds/canvas/drawing.ts';
import { LARGEST_CANVAS, type Scene } from '../../worlds/canvas/scene.ts';

/** Answers questions about drawings. */
const EXAMINER = 'examiner';
/** Draws again after a look at what was drawn. */
const REDRAWER = 'redrawer';
const DRAWERS = [SOLVER, REDRAWER];

const VARIANTS = {
  holistic: 'a drawing earns 1 where every question has the wanted answer, and otherwise nothing',
  'no-reflection': 'nobody draws again, and as many first drawings are made',
  [BLIND]: 'control: questions are asked about other drawings',
} as const;

const questions: RewardInfo = {
  description:
    'the mean probability of the wanted answers to questions about single properties of the drawing',
  usesGold: false,
  labelFree: true,
};

const rewards = { questions, ...exactAndControls } as const;

/** What a drawing earns by the probabilities of the wanted answers [questions]. */
export const drawingPay = (probabilities: readonly number[], variant?: string): number =>
  variant === 'holistic' ? Number(probabilities.every((p) => p > 1 / 2)) : mean(probabilities);

/** The canvas that a text paints; null where it paints none. */
const sceneOf = (
  context: Pick<RoundContext, 'tokenizer'>,
  task: string,
  ids: Sample['ids'],
): Scene | null => {
  const read = drawings.parseSolution(task, context.tokenizer.decode(ids));
  return read.ok ? painted(read.value.answer) : null;
};

/** What is asked after a first drawing. */
const againPrompt = (task: string, first: Scene | null): string =>
  first ? redrawPrompt(task, first) : drawPrompt(task);

async function drawTwice(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { round } = context;
  const { groupSize, variant } = round.settings;
  const isOnce = variant === 'no-reflection';
  const count = isOnce ? groupSize : Math.ceil(groupSize / 2);
  const firstsT = await answer(
    drawings,
    context,
    SOLVER,
    tasks.map(({ group, task }) => ({ group, task, count })),
  );
  const wanted = tasks.flatMap(({ group, task }, t) =>
    isOnce
      ? []
      : firstsT[t]!.slice(0, groupSize - count).map((first, from) => ({
          group,
          task,
          from,
          count: 1,
          prompt: againPrompt(task, sceneOf(context, task, first.ids)),
        })),
  );
  const again = await answer(drawings, context, REDRAWER, wanted);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [
      ...firstsT[t]!.map((sample, episode) => ({ ...sample, turn: 0, episode })),
      ...again.flatMap(([sample], i) =>
        wanted[i]!.group === task.group ? [{ ...sample!, turn: 1, episode: wanted[i]!.from }] : [],
      ),
    ],
  }));
}

/** What the drawings of a group earn [samples]; 0 where nothing was drawn. */
async function examined(context: RoundContext, { group, task, samples }: RolloutGroup): Promise<number[]> {
  const { tokenizer, round } = context;
  const { variant } = round.settings;
  const askedS = samples.map((sample) => {
    const scene = sample.outcome === 'ok' ? sceneOf(context, task, sample.ids) : null;
    return scene ? askedOf(task, variant === BLIND ? otherDrawing(sample.id) : scene) : [];
  });
  const measured = await context.measure(
    EXAMINER,
    askedS.flat().map(({ prompt, answer }) => ({
      group,
      prompt: tokenizer.encode(prompt),
      ids: tokenizer.encode(answer),
    })),
  );
  const next = measured.values();
  return askedS.map((asked) => {
    const probabilities = asked.map(() => sameExp(next.next().value!.logProbabilities[0]!));
    return probabilities.length ? drawingPay(probabilities, variant) : 0;
  });
}

async function judgeGroup(context: RoundContext, group: RolloutGroup): Promise<ScoredGroup> {
  const named = rewardNamed<RewardInfo>(rewards, context.round.settings.rewardFunction);
  if (named !== questions) return payAnswers(drawings, named as AnswerReward, context, group);
  const paid = await examined(context, group);
  return payAnswers(drawings, { ...questions, pay: () => paid }, context, group);
}

/** The share of held-out drawings that are as wanted after a look at a first one, both greedy. */
async function redrawn(context: EvaluationContext): Promise<Record<string, number>> {
  const stage = within(context);
  const tasks = drawings.heldOut(context.evaluationTasks);
  const firsts = await asked(stage, SOLVER, tasks, {
    prompt: drawPrompt,
    key: (task) => ['first', task],
    temperature: 0,
  });
  const again = await asked(stage, REDRAWER, tasks, {
    prompt: (task, i) => againPrompt(task, sceneOf(context, task, firsts[i]![0]!.ids)),
    key: (task) => ['again', task],
    temperature: 0,
  });
  const right = tasks.map((task, i) => {
    const { text, stopped } = again[i]![0]!;
    const read = stopped ? drawings.parseSolution(task, text) : null;
    return Number(read?.ok === true && drawings.answerIsExact(task, read.value));
  });
  return { redrawn: mean(right) };
}

const alone = solverAlone({ family: drawings, examine: redrawn });

const described = {
  name: 'alphagrpo',
  title: 'Drawings that are paid by many small questions, and drawn again after a look (stand-in)',
  paper: arXiv(
    '2605.12495',
    'AlphaGRPO: Unlocking Self-Reflective Multimodal Generation in UMMs via Decompositional Verifiable Reward',
  ),
  summary:
    'A policy draws what words ask for, as a program of shapes and places, looks at the painted picture and draws again. What is wanted is taken apart into questions about single properties, and a drawing earns the mean probability that a policy which sees gives their wanted answers.',
  method: {
    setting:
      'Two or three coloured shapes are wanted. The start policy writes programs that often give one shape the colour of another. After a look at such a drawing it draws a right one or the same again.',
    roles:
      'The solver draws each picture four times. A program paints each drawing on a canvas of 32 × 32 pixels, and the redrawer, the same weights, sees it and draws again. The examiner, the start policy as it was, sees a drawing and answers questions about it.',
    rewards:
      'Of each wanted shape is asked whether there is one of its colour and whether there is one of its size, and of the whole how many shapes there are. A drawing earns the mean probability of the wanted answers (yes, or the number), and 0 where it cannot be painted.',
    credit:
      'First drawings are compared with each other, and so are second ones: the reward minus the mean, divided by the deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0, on first and second drawings alike.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'A program of shapes that is painted stands in for an image model, so that no diffusion steps are trained. What is tested is the reward and not the quality of pictures.',
    'A template takes wishes apart, where the paper has a language model do it; the examiner is the start policy, which sees poorly, where the paper’s is a larger model.',
    'The variant holistic is a control of this recipe: one verdict on the whole, made of the same answers. The paper’s is a score that a model gives.',
    'How the paper weighs questions about meaning and about quality could not be checked; here all weigh the same.',
  ],
  needsOfTasks: { datum: 'drawings', which: 'pictures that a policy draws by a program' },
  figures: {
    redrawn: 'Share of held-out drawings that are as wanted after a look at a first one, both greedy.',
    firstExact: 'Share of first drawings with the shapes that were wanted, no more and no fewer.',
    secondExact: 'The same of second drawings.',
    deadGroups: 'Share of the groups of drawings that earned all the same, of which nothing is learnt.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 4e-5, warmup: 5, minibatches: 2 }),
} satisfies Described;

export const alphaGrpo: WithoutSetup = {
  ...alone,
  ...described,
  rewards,
  roles: {
    [SOLVER]: { ...alone.roles[SOLVER]!, description: 'draws what is wanted', speaksAs: 'drawer' },
    [REDRAWER]: role('looks at a drawing and draws again', drawings.maxNew.solver, {
      speaksAs: 'drawer',
      shown: 'a drawing of the solver',
    }),
    [EXAMINER]: role('answers questions about drawings', 1, { speaksAs: 'solver' }),
  },
  bindings: () => ({ [EXAMINER]: { pinned: true } }),
  rollOut: drawTwice,
  judge: (context, groups) => Promise.all(groups.map((group) => judgeGroup(context, group))),
  learn: ({ groups }) => {
    const all = groups.flatMap(({ group, samples, answersExact }) =>
      samples.map((sample, i) => ({
        sample,
        key: `${group}/${sample.role}`,
        exact: answersExact[i] === true,
      })),
    );
    const exact = (role: string) => {
      const own = all.filter(({ sample }) => sample.role === role);
      return own.length ? mean(own.map((one) => Number(one.exact))) : null;
    };
    const [first, second] = DRAWERS.map(exact);
    const keys = [...new Set(all.map(({ key }) => key))];
    const isDead = (key: string) =>
      new Set(all.filter((one) => one.key === key).map(({ sample }) => rewardOf(sample))).size < 2;
    const items = creditedItems(
      all.map(({ sample }) => sample),
      all.map(({ sample }) => rewardOf(sample)),
      all.map(({ key }) => key),
      grpo,
    );
    return {
      updates: updateOf(
        DRAWERS.map((role) =>
          policyPart(
            role,
            items.filter(({ sample }) => sample.role === role),
            { ...ppoClip(), ...nearStart(0.001) },
          ),
        ),
      ),
      figures: {
        ...(first === null || first === undefined ? {} : { firstExact: first }),
        ...(second === null || second === undefined ? {} : { secondExact: second }),
        deadGroups: mean(keys.map((key) => Number(isDead(key)))),
      },
    };
  },
  showsImages: LARGEST_CANVAS,
  describe: { ...describedBy(drawings), title: drawingTitle },
};
