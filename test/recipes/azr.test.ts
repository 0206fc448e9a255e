import { expect, test } from 'vitest';
import { solveRate } from '../../protocols/proposals.ts';
import { azr, proposerReward } from '../../recipes/azr/recipe.ts';
import { playSolver } from './play-solver.ts';

test('the proposer is paid for what is sometimes failed, and pays for what is not valid', () => {
  expect(proposerReward('ok', 0.25)).toBe(0.75);
  expect(proposerReward('ok', 0.875)).toBe(0.125);
  // Always and never solved are worth nothing, which the composite makes -1/2.
  expect([proposerReward('ok', 0), proposerReward('ok', 1)]).toEqual([-0.5, -0.5]);
  expect([proposerReward('unbalanced', null), proposerReward('cut-off', null)]).toEqual([-1, -1]);
  expect([proposerReward('held-out', null), proposerReward('ok', null)]).toEqual([null, null]);
});

test('a solve rate counts what was paid as right', () => {
  const attempts = [1, -0.5, -1, 1].map((reward) => ({ rewards: { reward } }));
  expect(solveRate(attempts as never)).toBe(0.5);
  expect(solveRate([])).toBeNull();
  // An attempt whose reward is missing is no failure.
  expect(solveRate([1, null, -0.5].map((reward) => ({ rewards: { reward } })) as never)).toBe(0.5);
  expect(solveRate([{ rewards: { reward: null } }] as never)).toBeNull();
});

/** Two proposals of each kind: of the deductions one is no program, of the abductions one is solved by nobody. */
const proposals = ['+1;1 2', '( rev;1', 'rev;1 2', 'sum;1 2', '1;2;3;4;5;6;7;8', '9;8;7;6;5;4;3;2'];
const answers: Record<string, readonly string[]> = {
  'd:+1;1 2': ['<step>2 3<answer>2 3', '<answer>9', '<answer>2 3', 'x'],
  'a:rev;2 1': ['<answer>1 2', '<answer>1 2', '<answer>1 2', '<answer>2'],
  'a:sum;3': ['<answer>9', '<answer>9', '<answer>9', '<answer>9'],
};

async function play(order: { variant?: string; rewardFunction?: string } = {}) {
  const left = [...proposals];
  return playSolver({ recipe: 'azr', tasks: 6, groupSize: 4, ...order }, (task, i) =>
    task.startsWith('<propose>') ? left.shift()! : (answers[task]?.[i] ?? '<answer>+1'),
  );
}

test('a round without a buffer: all are shown the first program, the interpreter gates, attempts are paid', async () => {
  const { proposals: proposed, groups, plan } = await play();
  expect(proposed.samples.map(({ outcome }) => outcome)).toEqual([
    'ok',
    'unbalanced',
    'ok',
    'ok',
    'ok',
    'ok',
  ]);
  // What kind was asked for stands in the record.
  expect(proposed.samples.map(({ about }) => about)).toEqual(
    ['deduction', 'abduction', 'induction'].flatMap((kind) => [kind, kind]),
  );
  expect(groups.map(({ task }) => task)).toEqual([
    'd:+1;1 2',
    'a:rev;1 2',
    'a:sum;1 2',
    // An induction's inputs belong to the program its proposer was shown.
    'i:+1;1;2;3;4;5;6;7;8',
    'i:+1;9;8;7;6;5;4;3;2',
  ]);
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, -0.5, 1, -1]);
  expect(groups[1]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, -0.5]);
  expect(plan.recipeState).toEqual(groups.map(({ task }) => task));
  expect(plan.figures).toMatchObject({
    valid: expect.closeTo(5 / 6),
    // 1/2, 3/4, 0, 1, 1.
    interior: expect.closeTo(2 / 5),
    // +1, rev, sum, and twice +1 again.
    distinct: expect.closeTo(3 / 5),
    known: 3,
  });
});

const advantagesOf = async (variant?: string) => {
  const { plan } = await play(variant ? { variant } : {});
  return plan.updates[0]!.parts.map((part) =>
    part.kind === 'policy' ? part.items.map(({ advantage }) => advantage as number) : [],
  );
};

test('six streams, each with its own mean and deviation', async () => {
  const [proposer, solver] = await advantagesOf();
  // Deduction 1 - 1/2 and -1; abduction 1 - 3/4 and -1/2: two in a stream are one deviation apart from their mean. Induction: equal.
  expect(proposer).toEqual([1, -1, 1, -1, 0, 0].map((a) => expect.closeTo(a, 4)));
  // Deduction 1, -.5, 1, -1: mean 1/8, variance (2·.875² + .625² + 1.125²)/4 = .796875.
  const scale = Math.sqrt(0.796875);
  expect(solver!.slice(0, 4)).toEqual(
    [0.875, -0.625, 0.875, -1.125].map((a) => expect.closeTo(a / scale, 4)),
  );
  // Abduction: three right of eight, 1 and -.5: mean .0625.
  const [right, wrong] = [1 - 0.0625, -0.5 - 0.0625];
  const spread = Math.sqrt((3 * right ** 2 + 5 * wrong ** 2) / 8);
  expect(solver![4]).toBeCloseTo(right / spread, 4);
  expect(solver![11]).toBeCloseTo(wrong / spread, 4);
  expect(solver!.slice(12)).toEqual(Array(8).fill(0));
});

test('pooled: one mean for everything', async () => {
  const all = (await advantagesOf('pooled')).flat();
  expect(all.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 8);
  expect(all.reduce((a, b) => a + b * b, 0) / all.length).toBeCloseTo(1, 4);
  // What is always solved is better than the mean of everything.
  expect(all.at(-1)).toBeGreaterThan(0);
});

test('a full buffer fills the places of proposals that failed, and references come from it', async () => {
  const recipeState = ['d:dup;3', 'a:rev;1 2'];
  const prompts: string[] = [];
  const left = [...proposals];
  const { groups } = await playSolver(
    { recipe: 'azr', tasks: 6, groupSize: 4 },
    (task) => {
      if (!task.startsWith('<propose>')) return '<answer>0';
      prompts.push(task);
      return left.shift()!;
    },
    2,
    recipeState,
  );
  expect(groups.map(({ task, proposal }) => [task, proposal !== null])).toContainEqual(['d:dup;3', false]);
  for (const prompt of prompts) expect(prompt).toMatch(/^<propose>[dai]:(?:dup|rev)(?:;(?:dup|rev))?$/);
});

test('without references nothing is shown but an induction’s program; without induction there is none', async () => {
  const prompts: string[] = [];
  const record = (variant: string) =>
    playSolver({ recipe: 'azr', tasks: 6, groupSize: 4, variant }, (task) => {
      if (task.startsWith('<propose>')) prompts.push(task);
      return '<answer>0';
    });
  await record('no-references');
  expect(prompts.splice(0)).toEqual(['d:', 'd:', 'a:', 'a:', 'i:+1', 'i:+1'].map((p) => `<propose>${p}`));
  await record('no-induction');
  expect(new Set(prompts.map((prompt) => prompt[9]))).toEqual(new Set(['d', 'a']));
});

test('the controls do not ask the interpreter', async () => {
  expect(azr.rewards.format?.usesGold).toBe(false);
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, -1]);
});
