import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { appraise } from '../../recipes/mae/question-store.ts';
import { mae, proposerReward, ratingValue, solverReward } from '../../recipes/mae/recipe.ts';

const forbidden = () => {
  throw new Error('read the oracle');
};

test('rewards by hand', () => {
  expect(solverReward(1)).toBe(1);
  expect(solverReward(0)).toBe(0.5);
  // (quality + difficulty + format) / 3 from a quality of 0.7; below it no difficulty.
  expect(proposerReward(0.7, 0.5)).toBeCloseTo((0.7 + 0.5 + 1) / 3);
  expect(proposerReward(0.69, 0.5)).toBeCloseTo((0.69 + 1) / 3);
  expect(proposerReward(0.1, 1, 0)).toBeCloseTo((0.1 + 1 + 1) / 3);
});

test('a rating counts as it is, 0 to 1, and half where it cannot be read; the oracle is read for gold alone', () => {
  const evidence = { rating: ok(1), exact: forbidden, coin: false };
  expect(ratingValue('ratings', evidence)).toBe(1);
  expect(ratingValue('ratings', { ...evidence, rating: ok(1 / 3) })).toBe(1 / 3);
  expect(ratingValue('ratings', { ...evidence, rating: invalid('off-grammar') })).toBe(0.5);
  expect(ratingValue('random', evidence)).toBe(0);
  expect(ratingValue('format', evidence)).toBe(1);
  expect(ratingValue('gold', { ...evidence, exact: () => false })).toBe(0);
});

const policy = { name: 'p', version: 0 };
const sample = (id: string, role: string, rewards: Sample['rewards'], of?: string): Sample => ({
  id: deriveId(id),
  role,
  policy,
  prompt: [1],
  ids: [2],
  logprobs: [-1],
  stopped: true,
  outcome: 'ok',
  rewards,
  ...(of === undefined ? {} : { of: deriveId(of) }),
});
const group = (
  index: number,
  task: string,
  proposal: string | null,
  samples: Sample[],
  judgments: Sample[],
): ScoredGroup => ({
  round: deriveId('round'),
  group: deriveId('group', index),
  index,
  task,
  proposal: proposal === null ? null : deriveId(proposal),
  samples,
  judgments,
  answersExact: samples.map(() => null),
  solutionsExact: samples.map(() => null),
});

/** Two proposals, one rated 0.9 and half solved, one rated 0.3 and never solved; two stored questions. */
const good = group(
  0,
  '3+4',
  'good',
  [sample('a', 'solver', { passed: 1 }), sample('b', 'solver', { passed: 0 })],
  [
    sample('q1', 'judge', { rating: 0.8 }, 'good'),
    sample('q2', 'judge', { rating: 1 }, 'good'),
    sample('r', 'judge', { rating: 1 }, 'a'),
  ],
);
const bad = group(
  1,
  '7+*3',
  'bad',
  [sample('c', 'solver', { passed: 0 })],
  [sample('q3', 'judge', { rating: 0.3 }, 'bad')],
);
const stored = ['d', 'e'].map((id, i) =>
  group(
    2 + i,
    '1+1',
    null,
    [sample(id, 'solver', { reward: i })],
    [sample(`j${id}`, 'judge', { reward: 1, rating: 1 }, id)],
  ),
);

test('a question’s quality is the mean of its own ratings, its difficulty what its answers lack', () => {
  expect(appraise(good)?.quality).toBeCloseTo(0.9);
  expect(appraise(good)?.difficulty).toBeCloseTo(0.5);
  expect(appraise(bad)).toEqual({ task: '7+*3', quality: 0.3, difficulty: 1 });
});

test('a rating that is missing is none of 0: it is left out, and a question without any has no value', () => {
  const lost = { ...good, samples: [...good.samples, sample('f', 'solver', { passed: null })] };
  expect(appraise(lost)?.difficulty).toBeCloseTo(0.5);
  const unrated = good.judgments.map((one) => ({ ...one, rewards: { rating: null } }));
  expect(appraise({ ...good, judgments: unrated })).toBeNull();
});

async function plan(variant: string) {
  const off = { ...sample('off', 'proposer', {}), outcome: 'off-grammar' as const };
  const heldOut = { ...sample('held', 'proposer', {}), outcome: 'held-out' as const };
  const round = {
    id: deriveId('round'),
    run: deriveId('run'),
    index: 1,
    settings: {
      recipe: 'mae',
      seed: 0,
      policy: 'p',
      rewardFunction: 'ratings',
      freeze: [],
      variant,
      tasks: 4,
      groupSize: 2,
    },
    roles: { proposer: policy, solver: policy, judge: policy },
  };
  const proposals = {
    round: round.id,
    samples: [sample('good', 'proposer', {}), sample('bad', 'proposer', {}), off, heldOut],
    tasks: [],
  };
  const records = { round, proposals, groups: [good, bad, ...stored], recipeState: ['9-9'], version: 0 };
  return planTraining(mae, records, {} as LearnTools);
}

test('the gate keeps a poor question out of the store and from being paid for difficulty', async () => {
  const gated = await plan('');
  expect(gated.recipeState).toEqual(['9-9', '3+4']);
  expect(gated.figures).toMatchObject({ stored: 2, unsolvable: 0, unsolvableProposed: 0.5 });
  const open = await plan('no-gate');
  expect(open.recipeState).toEqual(['9-9', '3+4', '7+*3']);
  expect(open.figures?.unsolvable).toBeCloseTo(1 / 3);
});

test('each role is whitened alone: three proposals with a reward, stored answers and their ratings', async () => {
  const { updates } = await plan('');
  const items = updates[0]!.parts.map((part) => (part.kind === 'policy' ? part.items : []));
  // Rewards .8, (0.3 + 1)/3 = .4333 and 0: mean .4111, deviation sqrt(((.3889)^2 + (.0222)^2 + (.4111)^2) / 3) = .3270.
  const rewards = [0.8, 1.3 / 3, 0];
  const centre = (0.8 + 1.3 / 3) / 3;
  const deviation = Math.sqrt(rewards.reduce((sum, r) => sum + (r - centre) ** 2, 0) / 3);
  expect(items[0]!.map(({ advantage }) => advantage)).toEqual(
    rewards.map((r) => expect.closeTo((r - centre) / deviation, 4)),
  );
  expect(items[1]!.map(({ advantage }) => advantage)).toEqual([expect.closeTo(-1, 4), expect.closeTo(1, 4)]);
  // All ratings are well-formed, so the judge has nothing to learn.
  expect(items[2]!.map(({ advantage }) => advantage)).toEqual([0, 0]);
});
