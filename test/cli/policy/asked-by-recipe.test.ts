/** `policy eval` and `policy solve`: what means nothing without --recipe, or beside it, is refused before anything is opened. */
import { expect, test } from 'vitest';
import { command } from '../../../cli/policy/command.ts';

const refusal = (...args: string[]) => expect(command().parseAsync(['node', 'policy', ...args])).rejects;

test.each(['eval', 'solve'])('policy %s --world without --recipe', async (verb) => {
  await refusal(verb, 'mine', '0', '--tasks', 'questions.jsonl', '--world', './world.ts').toMatchObject({
    code: 'recipe.missing',
    message: expect.stringContaining('--world ./world.ts is given without --recipe.'),
  });
});

test.each([
  ['both say what is asked', ['--recipe', 'trio', '--tasks', 'questions.jsonl'], 'solve.recipe'],
  ['a way that needs a scorer', ['--recipe', 'trio', '--search', 'samples,beams'], 'solve.recipe'],
  ['a scorer', ['--recipe', 'trio', '--reward-model', 'judge@3'], 'solve.recipe'],
  ['nothing is asked', [], 'solve.tasks'],
])('policy solve: %s', async (_, options, code) => {
  await refusal('solve', 'mine', '0', ...options).toMatchObject({ code });
});
