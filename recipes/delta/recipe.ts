/**
 * DelTA: GRPO whose tokens weigh more where their gradients tell right answers from wrong ones, and less where both have them.
 * `npx rollmesh start --recipe delta --rounds 40` takes a few minutes on two cores. Sampled accuracy should rise. Tokens that both sides have (`weightShared`) should weigh less than others
 * (`weightApart`); in the first rounds here they weigh about the same.
 */
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { assignments, dealtAnew, gradientsOf, selfNormalised, topHalf, weightsOf } from './token-weights.ts';

const MAX_TOKENS = 64;

const VARIANTS = {
  dapo: 'every token weighs the same: the clipped objective of DAPO',
  'top-half': 'the half of the tokens that weigh most is trained alone, each by the whole advantage',
  'bottom-half': 'the other half is trained alone, each token by the whole advantage',
  'own-centroid':
    'a token weighs more the nearer it is to the centroid of its own side, wherever the other one is',
  shuffled: 'control: the same weights, dealt at random to the tokens of answers with an advantage',
} as const;

/** Values [tokens of all items] cut into those of each item. */
function perItem(items: readonly PolicyItem[], values: readonly number[]): number[][] {
  let at = 0;
  return items.map(({ sample: { ids } }) => {
    at += ids.length;
    return values.slice(at - ids.length, at);
  });
}

/** Of each item's tokens, by its sample's id, how many an answer of the other side in its group begins with, too. */
function sharedBeginnings(groups: readonly ScoredGroup[], items: readonly PolicyItem[]): Map<string, number> {
  const advantages = new Map(items.map(({ sample, advantage }) => [sample.id, advantage as number]));
  return new Map(
    groups.flatMap(({ samples }) =>
      samples.map(({ id, ids }): [string, number] => {
        const mine = advantages.get(id) ?? 0;
        const others = samples.filter((other) => mine * (advantages.get(other.id) ?? 0) < 0);
        const shared = others.map((other) => {
          const parts = ids.findIndex((token, t) => token !== other.ids[t]);
          return parts < 0 ? ids.length : parts;
        });
        return [id, Math.max(0, ...shared)];
      }),
    ),
  );
}

/** Means of weights [items][tokens] over tokens that both sides have at that place, and over the others. */
function weightFigures(
  groups: readonly ScoredGroup[],
  items: readonly PolicyItem[],
  weights: readonly (readonly number[])[],
): Record<string, number> {
  const shared = sharedBeginnings(groups, items);
  const sided = items.flatMap(({ sample, advantage }, i) =>
    advantage === 0 ? [] : [{ beginning: shared.get(sample.id)!, own: weights[i]! }],
  );
  const [both, apart] = [
    sided.flatMap(({ beginning, own }) => own.slice(0, beginning)),
    sided.flatMap(({ beginning, own }) => own.slice(beginning)),
  ];
  return {
    ...(both.length ? { weightShared: mean(both) } : {}),
    ...(apart.length ? { weightApart: mean(apart) } : {}),
  };
}

async function learn(
  { round, groups }: RoundRecords,
  tools: Pick<LearnTools, 'score' | 'states'>,
): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const items = groupItems(groups, grpo);
  const clipped = ppoClip(0.28);
  if (variant === 'dapo' || !items.length) return { updates: solverUpdate(items, clipped) };
  const samples = items.map(({ sample }) => sample);
  const [states, logprobs] = [await tools.states(MAIN_SET, samples), await tools.score(MAIN_SET, samples)];
  const tokens = items.flatMap(({ advantage }, i) =>
    gradientsOf(states[i]!, logprobs[i]!, advantage as number),
  );
  const weights = weightsOf(tokens, assignments(tokens, variant === 'own-centroid' ? 'own' : 'both'));
  const figures = weightFigures(groups, items, perItem(items, weights));
  const without = ({ credit: _, ...item }: PolicyItem): PolicyItem => item;
  if (variant === 'top-half' || variant === 'bottom-half') {
    const top = topHalf(tokens, weights);
    const kept = variant === 'top-half' ? top : top.map((one, t) => (tokens[t]!.advantage ? 1 - one : 0));
    const masks = perItem(items, kept);
    const masked = items.map((item, i) => ({ ...without(item), mask: masks[i]! }));
    return {
      updates: solverUpdate(
        masked.filter(({ mask }) => mask.includes(1)),
        clipped,
      ),
      figures,
    };
  }
  const dealt =
    variant === 'shuffled' ? dealtAnew(tokens, weights, new Random(`${round.id}/weights`)) : weights;
  const each = perItem(items, selfNormalised(dealt));
  return {
    updates: solverUpdate(
      items.map((item, i) => ({
        ...without(item),
        advantage: each[i]!.map((weight) => (item.advantage as number) * weight),
      })),
      clipped,
    ),
    figures,
  };
}

const described = {
  name: 'delta',
  title: 'Tokens that count by how well their gradients tell right from wrong',
  paper: arXiv(
    '2605.21467',
    'DelTA: Discriminative Token Credit Assignment for Reinforcement Learning from Verifiable Rewards',
  ),
  summary:
    'An update by rewards draws the policy towards the mean gradient of right answers and away from that of wrong ones, and what both share, such as form, fills both means. Here a token weighs more the nearer its gradient is to the mean of its own side than to the other’s.',
  method: {
    setting:
      'A solver answers arithmetic chains under a limit of 64 tokens. Its start policy slips in one step of ten, and after the last step it goes on with checks that say nothing about the question, in right answers as in wrong ones.',
    roles: 'The solver is the only role and answers each task eight times.',
    rewards: 'An exact answer earns 1 and any other 0.',
    credit:
      'The advantage A of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO). A token’s gradient is stood for by v = (1 − p)·h, with its probability p and the hidden state h that it is drawn from, by the weights that the round trains from. The centroids μ₊ and μ₋ are means of v over the tokens of answers with A above and below 0, weighted by |A|. The margin of a token is its squared distance to the other side’s centroid minus that to its own, and α = σ(margin / γ), with γ the deviation of its side’s margins. Centroids are taken once more with the weights |A|·α, and α by them. The token’s weight is λ = 0.8 + 0.4·α, and 0.8 where A is 0.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28], Σ λ·min(ρ A, clip(ρ) A) / Σ λ over all tokens, where the divisor is the round’s. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The stand-in for a gradient, γ, the single refinement and the round’s divisor are those of the released code.',
    'There is no penalty for length, which the paper takes over from DAPO; nor a dual clip.',
    'Eight answers to each of 32 tasks in a round, the paper’s sixteen to each of 128, and an answer has tens of tokens where the paper’s have thousands.',
  ],
  figures: {
    weightShared:
      'Mean weight of the tokens with which an answer begins as one of the other side in its group does, 0.8 to 1.2.',
    weightApart: 'Mean weight of the tokens behind, where an answer is unlike all those of the other side.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
  learn,
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({ ...described, ...solverAlone({ ...game, draws: 2 }) }),
};

export const delta = played(written, familyGame(verboseArithmetic, { maxNew: MAX_TOKENS }));
