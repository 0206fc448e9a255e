/** RLP: reinforcement inside pretraining. A thought is paid for how much likelier it makes the text that follows. */
import type { LearnTools, RoundRecords, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { raw, rloo } from '../../core/rl/estimators/index.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { coinOf } from '../../protocols/gold.ts';
import { ppoClip, sftPart } from '../../protocols/objectives.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { creditedItems, policyPart, rewardNamed, smallSteps } from '../../protocols/solver.ts';
import {
  drawPosition,
  drawSums,
  operationsOf,
  parsePosition,
  parseThought,
  THOUGHT_END,
  THOUGHT_TOKENS,
  thoughtPrompt,
} from '../../worlds/documents/sums.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { STOP } from '../../worlds/worked.ts';
import { evaluateThoughts, THINKER } from './evaluate.ts';
import {
  type Baseline,
  gainFigures,
  gainsOf,
  plainLogprobs,
  SLOW_SET,
  thoughtLogprobs,
  thoughtsExact,
} from './gain.ts';

const VARIANTS = {
  nll: 'next-token prediction on documents, as many tokens as the thoughts have; thoughts are not trained',
  uncentred: 'a thought’s gain is its advantage, without the mean of the other thoughts',
  'frozen-baseline': 'as uncentred, with gains against the start policy instead of the slower copy',
  'no-baseline': 'as uncentred, with the log-likelihood after the thought in place of the gain',
} as const;

/** Against whom the gains that are trained on are measured. */
const baselineOf = (variant: string | undefined): Baseline => {
  if (variant === 'frozen-baseline') return 'frozen';
  return variant === 'no-baseline' ? 'none' : 'slow';
};

const rewards = {
  gain: {
    description: 'how much likelier the thought makes the next digit of the document, nats',
    usesGold: false,
    /** It takes a model’s log-probabilities, which only the learner asks for. */
    pay: (): number | null => null,
  },
  format: {
    description: 'control: 1 for any well-formed thought',
    usesGold: false,
    pay: ({ outcome }: Sample): number | null => Number(outcome === 'ok'),
  },
  random: {
    description: 'control: a fair coin',
    usesGold: false,
    pay: ({ id }: Sample): number | null => Number(coinOf(id)),
  },
};

async function think(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const thoughts = await samplePrompts(
    context,
    THINKER,
    tasks.map(({ group, task }) => ({
      prompt: thoughtPrompt(parsePosition(task).before),
      sampleIds: rolloutIds(group, THINKER, settings.groupSize),
      parse: parseThought,
    })),
  );
  return tasks.map((task, t) => ({ round, ...task, samples: thoughts[t]! }));
}

async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { pay } = rewardNamed<(typeof rewards)['format']>(rewards, context.round.settings.rewardFunction);
  return groups.map((group) => {
    const exact = thoughtsExact(group, context.tokenizer);
    return {
      ...group,
      samples: group.samples.map((sample) => ({ ...sample, rewards: { reward: pay(sample) } })),
      judgments: [],
      answersExact: exact,
      solutionsExact: exact,
    };
  });
}

/** Documents of the corpus with `count` tokens after their first ones, or a few more. */
function corpus(seed: string, count: number, encode: LearnTools['encode']): SftPart['items'] {
  const random = new Random(seed);
  const items: { prompt: number[]; ids: number[] }[] = [];
  for (let tokens = 0; tokens < count; tokens += items.at(-1)!.ids.length) {
    const ids = encode(drawSums(random).text + STOP);
    items.push({ prompt: ids.slice(0, 1), ids: ids.slice(1) });
  }
  return items;
}

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { variant, rewardFunction } = round.settings;
  const withThought = await thoughtLogprobs(groups, tools);
  const gains = gainsOf(withThought, await plainLogprobs(groups, 'slow', tools));
  const baseline = baselineOf(variant);
  const paid =
    baseline === 'slow' ? gains : gainsOf(withThought, await plainLogprobs(groups, baseline, tools));
  const samples = groups.flatMap((group) => group.samples);
  const credit =
    rewardFunction === 'gain' ? paid.flat() : samples.map(({ rewards: { reward } }) => reward ?? null);
  const keys = groups.flatMap(({ group, samples: own }) => own.map(() => group));
  const centred = variant === undefined;
  const tokens = samples.reduce((sum, { ids }) => sum + ids.length, 0);
  const part =
    variant === 'nll'
      ? sftPart(THINKER, corpus(`${round.id}/corpus`, tokens, tools.encode))
      : policyPart(
          THINKER,
          creditedItems(samples, credit, keys, centred ? rloo : (rewards) => raw(rewards)),
          {
            ...ppoClip(0.28),
            aggregation: { mode: 'seq-mean-token-mean' },
          },
        );
  return { updates: [{ set: MAIN_SET, parts: [part] }], figures: gainFigures(groups, gains) };
}

export const rlp: WithoutSetup = {
  name: 'rlp',
  title: 'Thoughts before tokens of a corpus, paid for what they tell about the next one',
  paper: { title: 'RLP: Reinforcement as a Pretraining Objective', year: 2025, source: 'arXiv:2510.01265' },
  summary:
    'The policy thinks before a token of a document. A thought is paid for the gain in the token’s log-likelihood after it, over what a slowly following copy of the policy gives the token without a thought. There are no questions, no answers and no verifier.',
  method: {
    setting:
      'A document holds two sums of three to five digits, whose running totals have one digit, and two names with a digit that follows from nothing, in any order. The start policy was pretrained on such documents. It has seen thoughts before some of their digits: of those before sums four in ten go through the running totals, four stop after the first one, and two are of digits drawn at random.',
    roles:
      'The thinker reads a document up to a digit, in half of the cases one that can be worked out, and thinks eight times, for 16 tokens at most.',
    rewards:
      'A thought earns log p(digit | document, thought) - log p′(digit | document) in nats, with p the policy that the round trains from and p′ an average of its versions with decay 0.9, which is shown no thought. A thought that was cut off is ended for it. No gradient flows through the reward.',
    credit:
      'The advantage is the gain minus the mean gain of the other thoughts at the same digit. The digit’s likelihood without a thought is the same for all of them and cancels: it decides what the gain says and not what is trained.',
    objective:
      'A clipped policy gradient on the tokens of thoughts, ratios in [0.8, 1.28], as a mean over each thought and then over thoughts. There is no KL term.',
    schedule:
      'Each round thinks before 32 digits and makes one pass over the thoughts, in four optimiser steps; then the average follows.',
  },
  needsOfTasks: {
    datum: 'corpus',
    which: 'documents in which some characters can be computed from those before them',
  },
  differences: [
    'Documents of some thirty tokens in a notation of their own, whose digits can be worked out or cannot be; the paper pretrains on web text and textbooks.',
    'Eight thoughts of 16 tokens at most instead of sixteen of 2,048, before one digit of a document; digits that can be worked out are half of all, and no other tokens are thought about.',
    'The average has decay 0.9 after each round of four steps; the paper’s has 0.999 after each step.',
    'The start was shown thoughts, which a language model writes by itself.',
    'The step size and the range of the ratios could not be checked against the paper’s.',
  ],
  figures: {
    gain: 'Mean gain of thoughts before digits that can be worked out, nats, against the average of the policy’s versions.',
    noiseGain: 'Mean gain of thoughts before digits that follow from nothing, nats.',
    plain: 'Held-out greedy accuracy of digits that can be worked out, predicted without a thought.',
    plainSampled: 'The same accuracy where the digit is sampled.',
    exactThoughts: 'Share of greedy thoughts before held-out sums that go through all running totals.',
    exactSampled: 'The same share of thoughts that are sampled.',
  },
  taskName: 'sums',
  stop: THOUGHT_END,
  rewards,
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ warmup: 10 }) },
    [SLOW_SET]: { optimizer: null, average: { of: MAIN_SET, decay: 0.9 } },
  },
  roles: {
    [THINKER]: role('thinks before a digit of a document', THOUGHT_TOKENS, { speaksAs: 'author' }),
  },
  propose: async (context) => drawnTasks(context, (random) => drawPosition(random)),
  rollOut: think,
  judge,
  learn,
  evaluate: evaluateThoughts,
  describe: { difficulty: operationsOf },
};
