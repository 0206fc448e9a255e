/** `--seats`: which seats it stands for, and what it refuses. */
import { expect, test } from 'vitest';
import { startCommand } from '../../cli/shared/run-options.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { addTrainingTaskOptions, type TrainingTaskOptions } from '../../cli/training-task-options.ts';

const parsed = (...args: string[]) =>
  addTrainingTaskOptions(startCommand())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse(args, { from: 'user' })
    .opts<TrainingTaskOptions>();

test('each seat has a name, and one that is not trained the version that plays it', () => {
  expect(parsed().seats).toBeUndefined();
  expect(parsed('--seats', 'proposer,solver').seats).toEqual([{ name: 'proposer' }, { name: 'solver' }]);
  expect(parsed('--seats=white,black=my-words@12').seats).toEqual([
    { name: 'white' },
    { name: 'black', policy: { name: 'my-words', version: 12 } },
  ]);
  expect(parsed('--seats', 'proposer,solver=own').seats).toEqual([
    { name: 'proposer' },
    { name: 'solver', own: true },
  ]);
});

test('what is no list of seats is refused, and says what is wrong', () => {
  for (const [text, what] of [
    ['', 'Expected the name of a seat'],
    ['white,', 'Expected the name of a seat'],
    ['White', 'Expected the name of a seat'],
    ['white/black', 'Expected the name of a seat'],
    ['white,black=words', 'Expected the name of a seat'],
    ['white,black=owner', 'Expected the name of a seat'],
    ['white,critic=own', 'Expected another name than main, critic, model, optimizer'],
    ['white,black=words@', 'Expected the name of a seat'],
    ['white,black=WORDS@1', 'Expected a name of 1 to 64 lower-case letters'],
    ['white,white', 'Expected seats with names of their own'],
    ['white=words@0', 'Expected at least one seat that is trained'],
    ['a,b,c,d,e,f,g,h,i', 'Expected at most 8 seats'],
  ] as const)
    expect(() => parsed('--seats', text), text).toThrow(what);
});

test('without --agent it is refused', async () => {
  const options = { ...parsed('--recipe', 'grpo', '--policy', 'words', '--seats', 'a,b') };
  await expect(taskRecipe(options)).rejects.toMatchObject({
    code: 'run.agent',
  });
});
