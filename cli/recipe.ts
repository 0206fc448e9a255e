/** `npm run recipe -- list | show NAME`: the recipes by name with their papers; one explained in words. */
import { Command } from 'commander';
import type { Recipe } from '../core/recipe.ts';
import { findRecipe, recipes } from '../recipes/index.ts';
import { fail } from './fail.ts';

const cite = ({ paper }: Recipe) => [paper.title, paper.year, paper.source].filter(Boolean).join(', ');

export function describeRecipe(recipe: Recipe): string {
  const { objective, optimizer } = recipe;
  const solver = objective.solver;
  const rewards = Object.entries(recipe.rewards).map(
    ([name, kind], i) =>
      `  --reward ${name}${i === 0 ? ' (default)' : ''}: ${kind.says}; ${kind.usesGold ? 'uses gold' : 'gold-free'}; ${kind.votes} judgment${kind.votes > 1 ? 's' : ''} a solution; KL weight ${kind.kl}`,
  );
  return [
    `${recipe.name}: ${recipe.title}`,
    `Paper      ${cite(recipe)}`,
    '',
    recipe.summary,
    '',
    `Roles      ${recipe.roles.join(' -> ')}, one set of weights; --freeze keeps version 0 in a role`,
    `Tasks      ${recipe.family.name}, ${recipe.tasks} a round, ${recipe.group} rollouts each at temperature ${recipe.temperature}`,
    'Rewards of the solver',
    ...rewards,
    'Credit     advantages normalised role by role; a missing reward is no sample, never a zero',
    `Objective  clipped policy gradient (-${solver.clipLow}, +${solver.clipHigh}), mean over a role's tokens, k3 KL to version 0`,
    `Optimiser  AdamW, learning rate ${optimizer.learningRate}, ${optimizer.warmup} updates of warm-up, ${optimizer.minibatches} updates a round, gradient norm at most ${optimizer.clipNorm}`,
    `Schedule   propose, solve, judge, train, publish; every role in every round`,
    `Claim      ${recipe.claim.says}`,
    ...(recipe.differences.length ? ['Differences', ...recipe.differences.map((line) => `  - ${line}`)] : []),
  ].join('\n');
}

const command = new Command('npm run recipe --').description('The recipes and their papers.');
command
  .command('list')
  .description('every recipe in a line')
  .option('--json', 'one JSON object a line', false)
  .action(({ json }: { json: boolean }) => {
    for (const recipe of recipes)
      console.log(
        json
          ? JSON.stringify({ name: recipe.name, title: recipe.title, paper: recipe.paper })
          : `${recipe.name.padEnd(12)} ${recipe.title} (${cite(recipe)})`,
      );
  });
command
  .command('show <name>')
  .description('one recipe in words')
  .action((name: string) => console.log(describeRecipe(findRecipe(name))));

try {
  await command.parseAsync();
} catch (error) {
  fail(error);
}
