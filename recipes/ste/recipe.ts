/** STE: a stylist learns in which styles to stamp clean drawings, so that an eraser that is taught on them restores pictures of the world. */
import * as v from 'valibot';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { meanCentred } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { sameExp, softmax } from '../../core/same-exp.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { finite } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { CONTROLS } from '../../protocols/answer-rewards.ts';
import { BLIND, OTHER_PICTURES, otherPictures } from '../../protocols/evaluate/other-pictures.ts';
import { evaluateSolver, heldOutAnswers } from '../../protocols/evaluate/solver.ts';
import { coinOf } from '../../protocols/gold.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { groupItems, ofFamily, policyUpdate, rewardNamed, smallSteps } from '../../protocols/solver.ts';
import {
  beneath,
  erasePrompt,
  isReal,
  madeSeen,
  otherDrawn,
  randomStyle,
  readStyle,
  realSeen,
  restored,
  type Style,
  stamps,
  stylePrompt,
} from '../../worlds/canvas/stamping.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { STOP } from '../../worlds/worked.ts';

const STYLIST = 'stylist';
const ERASER = 'eraser';
const CRITIC = 'critic';
/** Parameter sets of the stylist and of the critic; the eraser has the main one. */
const STYLE = 'style';

/** A style is worth most where the eraser's loss is so many times its running mean. */
const HARD = 2;
/** The weight of how real a picture looks, beside how hard it is. */
const REALISM = 5;
const MOMENTUM = 0.95;
/** The style of the variant `fixed`. */
const FIXED: Style = { colour: 'red', form: 'dots', amount: 'some' };

const VARIANTS = {
  uniform: 'styles are drawn by lot, and no stylist is trained',
  fixed: 'all drawings are stamped in one style',
  'no-realism': 'a style is paid by how hard it is alone',
  'no-difficulty': 'a style is paid by how real it looks alone',
  [BLIND]: 'control: the eraser is taught what was drawn on another picture than it sees',
} as const;

/** Running means: of the eraser's loss, nats a token, and of the probability that a stamped picture is real. */
const state = v.object({ loss: finite, real: finite });
type State = v.InferOutput<typeof state>;

/** 1 − |1 − e^(loss − HARD · mean)|, and not below −1. */
export const difficultyPay = (loss: number, usual: number): number =>
  Math.max(-1, 1 - Math.abs(1 - sameExp(loss - HARD * usual)));

interface Found {
  /** The eraser's loss, nats a token. */
  readonly loss: number;
  /** The probability that the stamped picture is real; null where nobody can tell yet. */
  readonly real: number | null;
}

/** What a style earns. */
export function stylePay({ loss, real }: Found, usual: State, variant?: string): number {
  const difficulty = variant === 'no-difficulty' ? 0 : difficultyPay(loss, usual.loss);
  return variant === 'no-realism' || real === null ? difficulty : difficulty + REALISM * (real - usual.real);
}

interface StyleReward extends RewardInfo {
  /** What the style of a sample earns. */
  readonly worth: (sample: string, found: Found, usual: State, variant: string | undefined) => number;
}

const rewards: Readonly<Record<'style' | 'format' | 'random', StyleReward>> = {
  style: {
    description: 'how near an eraser’s loss is to twice its mean, and how real the stamped picture looks',
    usesGold: false,
    labelFree: true,
    ownScale: true,
    worth: (_, found, usual, variant) => stylePay(found, usual, variant),
  },
  format: { ...CONTROLS.format, description: 'control: 1 for any style', ownScale: true, worth: () => 1 },
  random: {
    ...CONTROLS.random,
    description: 'control: a fair coin for any style',
    ownScale: true,
    worth: (sample) => Number(coinOf(sample)),
  },
};

/** The style in which a drawing is stamped for a sample; null where it writes none. */
function styleOf({ id, ids, outcome }: Sample, decode: LearnTools['decode'], variant?: string): Style | null {
  if (outcome !== 'ok') return null;
  if (variant === 'uniform') return randomStyle(new Random(`style/${id}`));
  if (variant === 'fixed') return FIXED;
  const read = readStyle(decode(ids));
  return read.ok ? read.value : null;
}

/** A picture and the question about it, as the critic is measured and taught. */
const shownTo = (
  encode: LearnTools['encode'],
  { seen, asked }: { readonly seen: string; readonly asked: string },
) => ({
  prompt: encode(seen),
  ids: encode(asked),
});

async function rollOut(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const samples = await samplePrompts(
    context,
    STYLIST,
    tasks.map(({ group, task }) => ({
      prompt: stylePrompt(task),
      sampleIds: rolloutIds(group, STYLIST, settings.groupSize),
      parse: readStyle,
    })),
  );
  return tasks.map((task, t) => ({ round, ...task, samples: samples[t]! }));
}

async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { tokenizer, round } = context;
  const { variant, rewardFunction } = round.settings;
  const { worth } = rewardNamed(rewards, rewardFunction);
  const before = readState(state, await context.recipeState());
  const stampedS = groups.flatMap(({ group, task, samples }) =>
    samples.flatMap((sample) => {
      const style = styleOf(sample, tokenizer.decode, variant);
      return style ? [{ group, task, sample, style }] : [];
    }),
  );
  const losses = await context.measure(
    ERASER,
    stampedS.map(({ group, task, sample, style }) => ({
      group,
      prompt: tokenizer.encode(erasePrompt(task, style, sample.id)),
      ids: tokenizer.encode(beneath(task) + STOP),
    })),
  );
  const seen = await context.measure(
    CRITIC,
    stampedS.map(({ group, task, sample, style }) => ({
      group,
      ...shownTo(tokenizer.encode, madeSeen(task, style, sample.id)),
    })),
  );
  const found = new Map(
    stampedS.map(({ sample }, i) => {
      const { classes } = seen[i]!;
      return [
        sample.id,
        {
          loss: -mean(Array.from(losses[i]!.logProbabilities)),
          real: classes ? softmax(classes[0]!)[1]! : null,
        },
      ];
    }),
  );
  return groups.map((group) => {
    // At first the usual is that of the group alone, since groups may be judged apart.
    const usual = before ?? usualOf(group.samples.flatMap(({ id }) => found.get(id) ?? []));
    const samples = group.samples.map((sample) => {
      const one = found.get(sample.id);
      if (!one) return { ...sample, rewards: { reward: 0 } };
      const reward = worth(sample.id, one, usual, variant);
      return { ...sample, rewards: { reward, loss: one.loss, real: one.real } };
    });
    // Whether the world has the style: for monitors, since no reward knows.
    const known = samples.map((sample) => {
      const style = styleOf(sample, tokenizer.decode, variant);
      return style && isReal(style);
    });
    return { ...group, samples, judgments: [], answersExact: known, solutionsExact: known };
  });
}

/** Means of what was found; the critic is taken to know nothing where it has not said anything. */
const usualOf = (found: readonly Found[]): State => {
  const known = found.flatMap(({ real }) => real ?? []);
  return {
    loss: found.length ? mean(found.map(({ loss }) => loss)) : 0,
    real: known.length ? mean(known) : 1 / 2,
  };
};

function learn({ round, groups, recipeState }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const { decode, encode } = tools;
  const made = groups.flatMap(({ task, samples }) =>
    samples.flatMap((sample) => {
      const style = styleOf(sample, decode, variant);
      return style ? [{ task, sample, style }] : [];
    }),
  );
  const found = made.flatMap(
    ({
      sample: {
        rewards: { loss, real },
      },
    }) => (typeof loss === 'number' ? [{ loss, real: real ?? null }] : []),
  );
  const now = usualOf(found);
  const before = readState(state, recipeState);
  const running = (old: number, value: number) => MOMENTUM * old + (1 - MOMENTUM) * value;
  const isTrained = variant !== 'uniform' && variant !== 'fixed';
  return {
    updates: [
      ...updateOf([
        sftPart(
          ERASER,
          made.map(({ task, sample, style }) => ({
            prompt: encode(erasePrompt(variant === BLIND ? otherDrawn(sample.id) : task, style, sample.id)),
            ids: encode(beneath(task) + STOP),
          })),
        ),
      ]),
      ...updateOf(
        [
          {
            kind: 'classification',
            role: CRITIC,
            weight: 1,
            items: made.flatMap(({ task, sample, style }) => [
              { ...shownTo(encode, madeSeen(task, style, sample.id)), label: 0 },
              // A picture of the world is of another drawing.
              { ...shownTo(encode, realSeen(otherDrawn(`real/${sample.id}`), sample.id)), label: 1 },
            ]),
          },
        ],
        {},
        CRITIC,
      ),
      ...(isTrained
        ? policyUpdate(
            STYLIST,
            groupItems(groups, meanCentred),
            { objective: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } },
            STYLE,
          )
        : []),
    ],
    recipeState:
      before && found.length
        ? { loss: running(before.loss, now.loss), real: running(before.real, now.real) }
        : (before ?? now),
    figures: {
      ...(found.length ? { loss: now.loss } : {}),
      ...(found.some(({ real }) => real !== null) ? { looksReal: now.real } : {}),
      ...(made.length ? { real: mean(made.map(({ style }) => Number(isReal(style)))) } : {}),
    },
  };
}

async function evaluate(context: EvaluationContext) {
  const tasks = stamps.heldOut(context.evaluationTasks);
  const solver = { family: stamps, role: ERASER, tasks };
  const greedy = await heldOutAnswers(solver, context, { seed: 'restored', temperature: 0 });
  return evaluation(await evaluateSolver(context, { ...solver, temperature: 1 }), {
    restored: mean(greedy.map((read, i) => (read.ok ? restored(tasks[i]!, read.value.answer) : 0))),
    ...(await otherPictures(
      { family: stamps, otherPicture: (_, key) => otherDrawn(key) },
      context,
      ERASER,
      tasks,
    )),
  });
}

const described = {
  name: 'ste',
  title: 'Learned styles of marks, on which an eraser is taught to restore drawings (stand-in)',
  paper: arXiv('2204.12743', 'Self-Supervised Text Erasing with Controllable Image Synthesis'),
  summary:
    'A stylist sees a clean drawing and chooses how marks are put over it; an eraser is taught to say what was drawn beneath, which is known, since the marks were put there. The stylist is paid where the eraser’s loss is twice what is usual, and where a critic takes the stamped picture for one of the world. The eraser is measured on pictures of the world alone, which nobody labelled.',
  method: {
    setting:
      'Drawings are two or three coloured shapes on 32 × 32 pixels. A style is a colour, a form of marks and an amount, 54 in all. Pictures of the world have many or some bars or posts, white or purple, and nobody is told so. The start policy restores nearly all drawings without marks and a fifth of those under marks of the world, and writes every style about equally often.',
    roles:
      'The stylist, with weights of its own, chooses eight styles for each drawing. The eraser sees each stamped picture and writes the program of the drawing beneath. The critic, the start policy with a head of two classes and weights of its own, says of a picture whether it is one of the world.',
    rewards:
      'With L the eraser’s mean negative log-probability of the tokens beneath and L̄ its running mean, in the first round that of the drawing’s own styles, a style earns 1 − |1 − e^(L − 2 L̄)|, at least −1, plus 5 (P − P̄), where P is the critic’s probability that the picture is one of the world and P̄ its running mean. Until the critic was trained once the second term is 0. What is no style earns 0.',
    credit: 'The advantage of a style is its reward minus the mean of its group.',
    objective:
      'REINFORCE for the stylist, the likelihood of the program beneath for the eraser, and cross-entropy for the critic, on as many pictures of the world as were stamped; means over tokens, and over pictures.',
    schedule:
      'Each round trains all three once over its batch. The running means move by a twentieth of the way to the round’s.',
  },
  differences: [
    'Marks over drawings stand in for text on posters, and a program of shapes for the restored picture: what is beneath is written, and not painted pixel by pixel. So there is neither a coarse and a fine stage nor the paper’s triplet loss between them.',
    'A small policy that sees the drawing writes a style as three words; the paper’s controller has a distribution for each of its parameters, with or without features of the picture.',
    'The critic tells whole pictures apart; the paper’s finds text in pictures, and a style is real where it finds text in the right place. The two terms are as in its public code, where they have other scales: L is nats a token here, and losses of pixels there.',
    'Advantages are centred within the styles of a drawing, and there is no bonus for entropy, which is 0.00001 in the code.',
  ],
  needsOfTasks: { datum: 'drawings', which: 'pictures that a policy draws by a program' },
  figures: {
    ...OTHER_PICTURES,
    restored:
      'Mean share of the shapes beneath or read that are both, of held-out pictures of the world, greedy.',
    loss: 'Mean negative log-probability that the eraser gives to what is beneath the round’s marks, nats a token.',
    looksReal: 'Mean probability that the critic gives to the round’s stamped pictures to be of the world.',
    real: 'Share of the round’s styles that pictures of the world have.',
  },
  state,
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 3e-4, warmup: 5 }) },
    [STYLE]: { optimizer: smallSteps({ learningRate: 3e-4, warmup: 5 }) },
    [CRITIC]: {
      optimizer: smallSteps({ learningRate: 1e-3, warmup: 5 }),
      head: { kind: 'classes', count: 2 },
    },
  },
} satisfies Described;

export const ste: WithoutSetup = {
  ...ofFamily(stamps),
  ...described,
  rewards,
  roles: {
    [STYLIST]: role('chooses how a drawing is stamped', 4, { set: STYLE, shown: 'a picture of its task' }),
    [ERASER]: role('says what is beneath marks', stamps.maxNew.solver),
    [CRITIC]: role('says whether a picture is of the world', 1, { set: CRITIC, speaksAs: ERASER }),
  },
  freezable: [STYLIST, ERASER],
  propose: async (context) => familyTasks(stamps)(context),
  rollOut,
  judge,
  learn,
  evaluate,
  showsImages: { rows: 4, columns: 4 },
  describe: {
    difficulty: (task) => stamps.difficulty(task),
    title: (task) => [{ kind: 'text', text: `Under marks: ${task}` }],
  },
};
