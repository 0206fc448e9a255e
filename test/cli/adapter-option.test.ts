/** `--adapter`: the settings that it stands for, beside `--set`, and what it refuses. */
import { expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { startCommand } from '../../cli/shared/run-options.ts';
import { addTrainingTaskOptions } from '../../cli/training-task-options.ts';

const parsed = (...args: string[]) =>
  addTrainingTaskOptions(startCommand())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse(args, { from: 'user' })
    .opts<{ adapter?: string[]; set: string[] }>();

test('it stands for the settings adapter.rank and adapter.alpha', async () => {
  expect(parsed().adapter).toBeUndefined();
  expect(parsed('--adapter', 'rank=8').adapter).toEqual(['adapter.rank=8']);
  const { adapter, set } = parsed('--set', 'epochs=2', '--adapter=rank=16,alpha=32');
  expect(adapter).toEqual(['adapter.rank=16', 'adapter.alpha=32']);
  const { recipe } = (await changedRecipe('trio', [...adapter!, ...set]))!;
  expect(recipe.sets.main).toMatchObject({ adapter: { rank: 16, alpha: 32 } });
});

test('another field, or no rank, is refused', () => {
  for (const text of ['', 'alpha=32', 'rank', 'rank=', 'rank=4,dropout=0.1', '16'])
    expect(() => parsed('--adapter', text), text).toThrow('Expected rank=R');
});
