/** `--publish`: the setting that it stands for, alone and beside an adapter. */
import { expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { askedRun } from '../../cli/shared/asked-run.ts';
import { startCommand } from '../../cli/shared/run-options.ts';
import { addTrainingTaskOptions } from '../../cli/training-task-options.ts';

const parsed = (...args: string[]) =>
  addTrainingTaskOptions(startCommand())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse(args, { from: 'user' })
    .opts<Parameters<typeof askedRun>[0]>();

test('it stands for the setting optimizer.publish, of every set that is trained', async () => {
  expect(parsed().publish).toBeUndefined();
  expect(() => parsed('--publish', 'f16')).toThrow('Expected bf16');
  const { known } = await askedRun(parsed('--recipe', 'trio', '--publish', 'bf16'));
  expect(known.named[0]!.sets.main!.optimizer).toMatchObject({ publish: 'bf16' });
  const { recipe } = (await changedRecipe('trio', ['optimizer.publish=bf16']))!;
  expect(known.named[0]!.name).toBe(recipe.name);
});

test('an adapter may stand beside it, however either is said, and is another run than without', async () => {
  const adapted = async (...args: string[]) => {
    const { known } = await askedRun(parsed('--recipe', 'trio', ...args));
    return known.named[0]!;
  };
  const short = await adapted('--adapter', 'rank=4', '--publish', 'bf16');
  const long = await adapted('--set', 'adapter.rank=4', '--set', 'optimizer.publish=bf16');
  expect(short.sets.main).toMatchObject({ adapter: { rank: 4 }, optimizer: { publish: 'bf16' } });
  expect(long.name).toBe(short.name);
  expect((await adapted('--adapter', 'rank=4')).name).not.toBe(short.name);
});
