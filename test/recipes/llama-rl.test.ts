import { expect, test } from 'vitest';
import { roundOf } from '../../core/schema/round.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { playSolver, policyPart } from './play-solver.ts';

const order = { recipe: 'llama-rl', tasks: 2, groupSize: 4 };
const script = (task: string, i: number) =>
  i === 0 ? `<answer>${runningTotals(task).at(-1)}` : '<answer>99';

test('the sampler stays so many versions behind, and never before the start', () => {
  const versions = (variant?: string) => {
    const { recipe, settings } = runOf(shipped, {
      ...order,
      seed: 0,
      rounds: 1,
      freeze: [],
      ...(variant ? { variant } : {}),
    });
    const roles = bindingsOf(recipe, settings);
    return [1, 2, 6, 20].map((index) => roundOf(settings, roles, index, index - 1).roles.solver!.version);
  };
  expect(versions('aipo-0')).toEqual([0, 1, 5, 19]);
  expect(versions('none-4')).toEqual([0, 0, 1, 15]);
  expect(versions('ppo-clip-16')).toEqual([0, 0, 0, 3]);
  expect(versions()).toEqual(versions('aipo-1'));
});

test('advantages are centred by group and not divided; ratios are against the sampler', async () => {
  const part = policyPart((await playSolver({ ...order, variant: 'aipo-4' }, script)).plan);
  // One right of four: 1 - 1/4 and 0 - 1/4.
  expect(part.items.slice(0, 4).map(({ advantage }) => advantage)).toEqual([0.75, -0.25, -0.25, -0.25]);
  expect(part).toMatchObject({ objective: { kind: 'aipo' }, old: 'sampler' });
  const bound = (part.objective as { maxRatio: number }).maxRatio;
  expect(bound).toBeGreaterThanOrEqual(2);
  expect(bound).toBeLessThanOrEqual(10);
});

test('variants name the objective and the delay', async () => {
  const objective = async (variant: string) =>
    policyPart((await playSolver({ ...order, variant }, script)).plan).objective;
  expect(await objective('none-16')).toEqual({ kind: 'reinforce' });
  expect(await objective('ppo-clip-1')).toMatchObject({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 });
});
