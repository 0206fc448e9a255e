/**
 * dpo: direct preference optimisation (Rafailov et al. 2023) on pairs of answers from files. Its variants are the losses that came after it,
 * on the same pairs.
 */
import * as v from 'valibot';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { wrongInput } from '../../core/errors.ts';
import type {
  LearnTools,
  PreferenceObjective,
  PreferencePair,
  RoundRecords,
  TrainingPlan,
  TurnPreferencePart,
} from '../../core/plan/training-plan.ts';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import { arXiv, type EpisodeMethod, type Recipe } from '../../core/recipe/recipe.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { returnOf } from '../../protocols/episode-credit.ts';
import { exampleRound, nothingExamined, pairSpans, total } from '../../protocols/examples/round.ts';
import { exampleData, exampleEntries, trainedOn } from '../../protocols/examples/settings.ts';
import { preferencePart, START, updateOf } from '../../protocols/objectives.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';

const notNegative = v.pipe(v.number(), v.minValue(0), v.finite());
const positive = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());

const settings = v.strictObject({
  ...exampleEntries(1e-6),
  /** How strongly the loss holds the policy to the reference; default 0.1, and 2 for SimPO. */
  beta: v.exactOptional(positive),
  /** SimPO's margin. */
  gamma: v.optional(notNegative, 1),
  /** ORPO's weight of the odds-ratio term. */
  lambda: v.optional(positive, 0.1),
  /** KTO's weights of chosen and of rejected answers. */
  desirable: v.optional(notNegative, 1),
  undesirable: v.optional(notNegative, 1),
  /** Weight of the chosen answer's negative log-likelihood beside the loss; default 0, and 1 for ORPO. */
  sft: v.exactOptional(notNegative),
});
const data = exampleData(settings);
export type DpoData = v.InferOutput<typeof data>;
type Settings = DpoData['settings'];

const VARIANTS = {
  ipo: 'IPO (Azar et al. 2023): the margin of mean log-ratios is fitted to 1/(2β)',
  kto: 'KTO (Ethayarajh et al. 2024): each answer for itself, against the KL to the reference over mismatched answers',
  simpo: 'SimPO (Meng et al. 2024): mean log-probabilities with a margin, and no reference',
  orpo: 'ORPO (Hong et al. 2024): the odds ratio beside the likelihood of the chosen answer, and no reference',
} as const;

/** The reference is version 0, the policy that the run began from. */

/**
 * KTO's baseline: the KL of the policy to the reference, nats an answer, estimated on answers to other questions: the mean over pairs of
 * log π/ref of the next pair's answers, at least 0.
 */
async function klBaseline(
  pairs: readonly PreferencePair[],
  { score }: Pick<LearnTools, 'score'>,
): Promise<number> {
  if (pairs.length < 2) return 0;
  const mismatched = pairs.flatMap(({ chosen }, i) => {
    const next = pairs[(i + 1) % pairs.length]!;
    return [next.chosen, next.rejected].map(({ ids }) => ({ prompt: chosen.prompt, ids }));
  });
  const own = await score(MAIN_SET, mismatched);
  const reference = await score(MAIN_SET, mismatched, START.version);
  return Math.max(0, (total(own.map(total)) - total(reference.map(total))) / mismatched.length);
}

async function objectiveOf(
  variant: string | undefined,
  { beta, gamma, lambda, desirable, undesirable }: Settings,
  pairs: readonly PreferencePair[],
  tools: Pick<LearnTools, 'score'>,
): Promise<PreferenceObjective> {
  switch (variant) {
    case undefined:
      return { kind: 'dpo', beta: beta ?? 0.1 };
    case 'ipo':
      return { kind: 'ipo', tau: beta ?? 0.1 };
    case 'kto':
      return {
        kind: 'kto',
        beta: beta ?? 0.1,
        baseline: await klBaseline(pairs, tools),
        desirable,
        undesirable,
      };
    case 'simpo':
      return { kind: 'simpo', beta: beta ?? 2, gamma };
    case 'orpo':
      return { kind: 'orpo', lambda };
  }
  throw wrongInput('recipe.variant', `Recipe dpo has no variant ${JSON.stringify(variant)}.`, {
    expected: `one of ${Object.keys(VARIANTS).join(', ')}`,
  });
}

export async function planPairs(
  { groups, round }: Pick<RoundRecords, 'groups' | 'round'>,
  tools: Pick<LearnTools, 'score'>,
  settings: Settings,
): Promise<TrainingPlan> {
  const whole = groups.filter(({ samples }) => samples.every(({ outcome }) => outcome === 'ok'));
  const pairs = whole.map(({ samples }): PreferencePair => {
    const [chosen, rejected] = samples.map(({ prompt, ids }) => ({ prompt, ids }));
    return { chosen: chosen!, rejected: rejected! };
  });
  const { variant } = round.settings;
  const objective = await objectiveOf(variant, settings, pairs, tools);
  const sft = settings.sft ?? (variant === 'orpo' ? 1 : 0);
  const part = { ...preferencePart(SOLVER, pairs, objective), sft };
  return {
    updates: updateOf([part], { epochs: settings.epochs }),
    figures: {
      tooLong: groups.length - whole.length,
      ...(objective.kind === 'kto' ? { baseline: objective.baseline } : {}),
    },
  };
}

const TITLE = 'Direct preference optimisation on pairs of answers';
const PAPER = arXiv(
  '2305.18290',
  'Direct Preference Optimization: Your Language Model is Secretly a Reward Model',
);

/** The best and the worst episode of each group by return, as their turns; equal returns make no pair. */
const episodePairs = (groups: RoundRecords['groups']): TurnPreferencePart['pairs'] =>
  groups.flatMap(({ samples }) => {
    const episodes = episodesOf(samples);
    const pair = bestAgainstWorst(episodes.map(returnOf));
    if (!pair) return [];
    const turns = (at: number) => episodes[at]!.map(({ prompt, ids }) => ({ prompt, ids }));
    return [{ chosen: turns(pair.chosen), rejected: turns(pair.rejected) }];
  });

/** On episodes that agents hold, the loss is of whole episodes: a log-ratio is the sum over all that the policy wrote in one. */
export const dpoInEpisodes: EpisodeMethod = {
  title: TITLE,
  paper: PAPER,
  summary:
    'Of each task the best and the worst of an agent’s episodes make a pair, and the policy learns to make the better one likelier than the other, relative to the policy that it began as.',
  method: {
    setting:
      'Programs outside the mesh hold the episodes of tasks from files, in as many turns as they like.',
    roles: 'The solver answers agents, which hold several episodes of each task.',
    rewards: 'What the agent posts at the end of its episode.',
    credit:
      'Of each task the episode with the highest reward is preferred to the one with the lowest. A task whose episodes are paid alike makes no pair.',
    objective:
      'The loss of a pair is −log σ(β [log p(chosen)/p₀(chosen) − log p(rejected)/p₀(rejected)]) with β = 0.1, p₀ being version 0 and p of an episode the product over all of its answers. What the policy was asked carries no loss.',
    schedule: 'Each round goes once over its pairs, which are of its own episodes.',
  },
  differences: [
    'Pairs are of the policy’s own episodes and made anew each round; the paper’s are given.',
    'The reference is version 0 of the policy, which need not have been fine-tuned on the chosen answers.',
  ],
  figures: { pairs: 'Number of pairs that are trained on.' },
  variants: {
    'turn-mean':
      'SWEET-RL’s level (Zhou et al. 2025): an answer’s log-ratio is its mean over tokens, so that long answers count as short ones do',
  },
  sets: { [MAIN_SET]: { optimizer: smallSteps() } },
  learn: ({ groups, round }) => {
    const pairs = episodePairs(groups);
    const part: TurnPreferencePart = {
      kind: 'turn-preference',
      role: SOLVER,
      weight: 1,
      pairs,
      beta: 0.1,
      level: round.settings.variant === 'turn-mean' ? 'mean' : 'sum',
      reference: START,
    };
    return { updates: updateOf([part]), figures: { pairs: pairs.length } };
  },
};

function recipeOf(given: DpoData): Recipe {
  const { examined } = given.settings;
  return {
    ...trainedOn('dpo', given),
    title: TITLE,
    paper: PAPER,
    inEpisodes: dpoInEpisodes,
    summary:
      'A policy learns from pairs of answers, of which one is preferred, to make the preferred one likelier than the other, relative to the policy that it began as.',
    method: {
      setting:
        'Questions with a chosen and a rejected answer come from files. The policy is any that the mesh can train.',
      roles: 'Nobody samples: a round’s groups hold the tokens of both answers.',
      rewards: 'None: the files say which answer is preferred.',
      credit: 'The loss is of whole answers; the question carries no loss.',
      objective:
        'The loss of a pair is −log σ(β [log p(chosen)/p₀(chosen) − log p(rejected)/p₀(rejected)]), p₀ being version 0. The other losses are variants by their names.',
      schedule: 'Every pair is learned from once before any comes again.',
    },
    differences: [
      'The reference is version 0 of the policy, which need not have been fine-tuned on the chosen answers.',
    ],
    figures: {
      tooLong: 'Number of examples that were left out because they do not fit into the policy’s context.',
      baseline: 'Baseline of KTO: an estimate of the KL to the reference, nats per answer.',
      margin:
        'Mean log-likelihood of a token of the chosen answer less that of the rejected one, on held-out pairs, nats per token.',
      chosenLikelihood:
        'Mean log-likelihood of a token of the chosen answer on held-out pairs, nats per token.',
    },
    tasks: 32,
    groupSize: 1,
    variants: VARIANTS,
    ...exampleRound({
      name: given.name,
      tasks: given,
      examined,
      spans: pairSpans,
      examine: (examples) => {
        if (examples.length === 0) return nothingExamined();
        const means = examples.map((pair) => pair.map((tokens) => total(tokens) / tokens.length));
        const margins = means.map(([chosen, rejected]) => chosen! - rejected!);
        // The main score needs no reference: it asks whether a token of the chosen answer is likelier than one of the rejected answer.
        return evaluation(
          {
            n: examples.length,
            accuracy: margins.filter((margin) => margin > 0).length / margins.length,
            tallies: { accuracy: tallyOf(margins.map((margin) => margin > 0)) },
          },
          {
            margin: total(margins) / margins.length,
            chosenLikelihood: total(means.map(([chosen]) => chosen!)) / means.length,
          },
        );
      },
    }),
    learn: (records, tools) => planPairs(records, tools, given.settings),
  };
}

export const dpo: FromFiles = {
  reads: 'pairs',
  needs: ['pairs'],
  settings,
  data,
  make: (given) => recipeOf(v.parse(data, given)),
};
