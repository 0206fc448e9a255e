import { expect, test } from 'vitest';
import { ITERATION, phaseOf } from '../../recipes/r-zero/phases.ts';
import { challengerReward, inBand, solverReward } from '../../recipes/r-zero/recipe.ts';
import { playSolver, policyPart } from './play-solver.ts';

test('rewards by hand', () => {
  expect(challengerReward(0.5, 0.25)).toBe(0.25);
  expect(challengerReward(0.9, 0.25)).toBeCloseTo(0.1 - 0.25, 12);
  expect(challengerReward(0.3, 0)).toBe(0.3);
  expect(challengerReward(null, 0.25)).toBe(-1.25);
  expect([solverReward(true, true), solverReward(true, false), solverReward(false, true)]).toEqual([
    1, 0.1, 0,
  ]);
  // The ends belong to the band, as tenths that rounding has touched.
  expect([0.2, 0.3, 0.1 * 3, 0.8, 0.9].map(inBand)).toEqual([false, true, true, true, false]);
});

test('an iteration: seven rounds that challenge, one that collects, five that train', () => {
  const phases = Array.from({ length: ITERATION + 1 }, (_, i) => phaseOf(i + 1));
  expect(phases).toEqual([...Array(7).fill('challenge'), 'collect', ...Array(5).fill('train'), 'challenge']);
});

/** How often each question is answered with which number, of ten attempts. */
const answers: Record<string, (i: number) => number> = {
  '1+1': () => 2,
  '9-8+7-6': (i) => (i % 2 ? 3 : 2),
  '2+2': (i) => (i < 8 ? 5 : 4),
};
const script = (questions: readonly string[]) => (task: string, i: number) =>
  task === '<propose>' ? questions[i % questions.length]! : `<answer>${answers[task]!(i)}`;

test('a challenge: a split vote is paid, repetition and bad form cost, baselines are of four', async () => {
  const questions = ['1+1', '1+1', '9-8+7-6', 'xx'];
  const { plan, groups } = await playSolver({ recipe: 'r-zero', tasks: 4 }, script(questions));
  expect(groups.map(({ samples }) => samples.length)).toEqual([10, 10, 10]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['challenger']);
  // Rewards 0 - 2/4 twice, 1/2 - 1/4, -1 - 1/4: mean -1/2, sample deviation sqrt((.75² + .75²)/3) = .75·sqrt(2/3).
  const one = 1 / Math.sqrt(2 / 3);
  expect(policyPart(plan).items.map(({ advantage }) => advantage)).toEqual(
    [0, 0, one, -one].map((a) => expect.closeTo(a, 4)),
  );
  // Shares 1, 1 and 1/2; of the three labels 2, 2 and 2 the last is exact too: 9 - 8 + 7 - 6 = 2.
  expect(plan.figures).toMatchObject({ agreement: expect.closeTo(2.5 / 3), labelAccuracy: 1 });
  const free = await playSolver({ recipe: 'r-zero', tasks: 4, variant: 'no-penalty' }, script(questions));
  // Rewards 0, 0, 1/2, -1: mean -1/8.
  const rewards = [0, 0, 0.5, -1].map((r) => r + 1 / 8);
  const deviation = Math.sqrt(rewards.reduce((sum, r) => sum + r * r, 0) / 3);
  expect(policyPart(free.plan).items.map(({ advantage }) => advantage)).toEqual(
    rewards.map((r) => expect.closeTo(r / deviation, 4)),
  );
});

test('collecting keeps what the solver is in two minds about, with its vote, and trains nobody', async () => {
  const questions = ['1+1', '9-8+7-6', '2+2'];
  const collect = (variant?: string) =>
    playSolver({ recipe: 'r-zero', tasks: 1, ...(variant ? { variant } : {}) }, script(questions), 8);
  const { plan } = await collect();
  expect(plan.updates).toEqual([]);
  expect(plan.recipeState).toEqual([
    { task: '9-8+7-6', label: '2', share: 0.5 },
    { task: '2+2', label: '5', share: 0.8 },
  ]);
  expect(plan.figures).toMatchObject({ kept: expect.closeTo(2 / 3), keptAccuracy: 0.5 });
  expect((await collect('no-filter')).plan.recipeState).toHaveLength(3);
});

test('training pays the label, right or wrong; the oracle arm pays the truth', async () => {
  const recipeState = [{ task: '2+2', label: '5', share: 0.8 }];
  // Attempts: 5, 4, no answer, 5, 5.
  const write = (_: string, i: number) => ['<answer>5', '<answer>4', 'x', '<answer>5', '<answer>5'][i]!;
  const train = async (rewardFunction: string) => {
    const { groups, plan } = await playSolver(
      { recipe: 'r-zero', tasks: 8, rewardFunction },
      write,
      9,
      recipeState,
    );
    expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
    expect(plan.recipeState).toBeUndefined();
    return groups[0]!.samples.map(({ rewards }) => rewards.reward);
  };
  expect(await train('votes')).toEqual([1, 0.1, 0, 1, 1]);
  expect(await train('oracle')).toEqual([0.1, 1, 0, 0.1, 0.1]);
  expect(await train('format')).toEqual([1, 1, 0, 1, 1]);
});
