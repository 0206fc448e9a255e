/** What `npx rollmesh recipe show NAME` says of a recipe: a method section, made from the recipe's own data. */
import { expect, test, vi } from 'vitest';
import { FILE_RECIPES } from '../../../cli/file-recipes.ts';
import { command } from '../../../cli/recipe/command.ts';
import { describeRecipe } from '../../../cli/recipe/describe-recipe.ts';
import { recipes, shipped } from '../../../recipes/index.ts';

const SECTIONS = [
  'Run it',
  'Roles',
  'Rewards',
  'Credit assignment',
  'Objective',
  'Schedule',
  'Differences from the paper',
];

test.each(recipes)('$name reads as a method section: every part, in order, in whole sentences', (recipe) => {
  const lines = describeRecipe(recipe).split('\n');
  const headings = SECTIONS.map((heading) => lines.indexOf(heading));
  expect(headings).not.toContain(-1);
  expect(headings).toEqual([...headings].sort((a, b) => a - b));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  expect(recipe.method).toBeDefined();
  for (const [part, text] of Object.entries(recipe.method ?? {})) {
    // A formula may begin a paragraph.
    expect([part, text]).toEqual([part, expect.stringMatching(/^[^\s].{25,}[.]$/s)]);
    expect(text).not.toMatch(/ {2}|\n/);
  }
});

test('a recipe without a method section is told by its summary, roles, rewards and sizes', () => {
  const { method: _, ...own } = shipped.find('dapo');
  const words = describeRecipe(own);
  for (const heading of ['Run it', 'Roles', 'Rewards', 'Schedule']) expect(words).toContain(`\n${heading}\n`);
  expect(words).not.toContain('Credit assignment');
  expect(words).not.toContain('undefined');
  expect(words.replace(/\s+/g, ' ')).toContain('Needs: the start policy arithmetic-verbose.');
});

test.each(recipes)('$name says how long a run took, or that none was measured', (recipe) => {
  const told = /(?:Measured[^.]*: \d+ rounds .* took .*\(|No run of it was measured yet: `--rounds 2`)/;
  expect(describeRecipe(recipe).replace(/\s+/g, ' ')).toMatch(told);
});

test('it tells what may be asked for: rewards, variants, frozen roles and where the run begins', () => {
  const words = describeRecipe(shipped.find('tango')).replace(/\s+/g, ' ');
  for (const part of [
    'Paper: RL Tango',
    'three updates of the generator to one of the verifier',
    '--reward format: control',
    '--variant constant: α stays at 0.5',
    '--freeze judge keeps it at version 0',
    '48 tasks (chains) with 5 rollouts each',
    'Needs: the start policy arithmetic-chains.',
    '12 of the verifier alone',
  ])
    expect(words).toContain(part);
  // A claim's record has the time that passed.
  expect(words).toMatch(/ took [\d:]+ (?:min|s) in one process/);
});

test('the recipes on files are listed, and told by the names that --recipe takes', async () => {
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  try {
    await command().parseAsync(['list'], { from: 'user' });
    const listed = said.splice(0).map((line) => line.split(' ')[0]);
    expect(listed).toEqual([...recipes, ...FILE_RECIPES].map(({ name }) => name));
    await command().parseAsync(['show', 'grpo'], { from: 'user' });
    const words = said.join('\n').replace(/\s+/g, ' ');
    for (const part of [
      'grpo: Group relative',
      '--variant ppo: ',
      '--policy NAME --tasks FILE.jsonl',
      'took 10 s of processor time in one process',
      'The folder lab/ is in a clone, not in the package.',
    ])
      expect(words).toContain(part);
  } finally {
    log.mockRestore();
  }
  expect(FILE_RECIPES.map(({ name }) => name)).toEqual(['grpo', 'distil', 'sft', 'dpo', 'reward-model']);
});
