/** `npm run recipe -- list | show NAME`: the recipes by name with their papers; one explained in words. */
import { Command } from 'commander';
import type { Placement, Recipe } from '../core/recipe.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import { findRecipe, recipes } from '../recipes/index.ts';
import { fail } from './fail.ts';

const PAID: Readonly<Record<Placement, string>> = {
  sequence: 'paid for the whole',
  turn: 'paid for each turn',
  step: 'paid for each step',
  token: 'paid for each token',
};

const cite = ({ paper }: Recipe) => [paper.title, paper.year, paper.source].filter(Boolean).join(', ');

export function describeRecipe(recipe: Recipe): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length ? [title, ...lines.map((line) => `  ${line}`)] : [];
  const roles = Object.entries(recipe.roles).map(([name, role]) => {
    const { says, set, sampling, placement = 'sequence', usesGold } = role;
    const frozen = recipe.freezable.includes(name) ? `; --freeze ${name} keeps it at version 0` : '';
    const held = usesGold ? '; held to the exact checker under every reward' : '';
    return `${name}: ${says} (weights ${set ?? MAIN_SET}, at most ${sampling.maxNew} tokens, temperature ${sampling.temperature}; ${PAID[placement]}${held}${frozen})`;
  });
  const rewards = Object.entries(recipe.rewards).map(
    ([name, { says, usesGold }], i) =>
      `--reward ${name}${i === 0 ? ' (default)' : ''}: ${says}; ${usesGold ? 'uses gold' : 'gold-free'}`,
  );
  const sets = Object.entries(recipe.sets).map(([name, { optimizer, average, head, adapter }]) => {
    const trained = optimizer
      ? `AdamW, learning rate ${optimizer.learningRate}, ${optimizer.warmup} updates of warm-up, ${optimizer.minibatches} updates a round, gradient norm at most ${optimizer.clipNorm}`
      : 'not trained';
    const more = [
      ...(adapter ? [`adapters of rank ${adapter.rank} on version 0's weights`] : []),
      ...(average ? [`follows ${average.of} with decay ${average.decay}`] : []),
      ...(head ? [`with a head for ${head.kind === 'value' ? 'values' : `${head.count} classes`}`] : []),
    ];
    return `${name}: ${[trained, ...more].join('; ')}`;
  });
  return [
    `${recipe.name}: ${recipe.title}`,
    `Paper      ${cite(recipe)}`,
    '',
    recipe.summary,
    '',
    `Tasks      ${recipe.taskName}, ${recipe.tasks} a round, ${recipe.group} rollouts each; begins from models/${recipe.start}`,
    ...list('Roles, in the order they act', roles),
    ...list('Rewards', rewards),
    ...list(
      'Variants',
      Object.entries(recipe.variants).map(([name, says]) => `--variant ${name}: ${says}`),
    ),
    ...list('Weights', sets),
    `Claim      ${recipe.claim.says}`,
    ...list(
      'Differences',
      recipe.differences.map((line) => `- ${line}`),
    ),
  ].join('\n');
}

const command = new Command('npm run recipe --').description('The recipes and their papers.');
command
  .command('list')
  .description('every recipe in a line')
  .option('--json', 'one JSON object a line', false)
  .action(({ json }: { json: boolean }) => {
    const width = Math.max(...recipes.map(({ name }) => name.length)) + 2;
    for (const recipe of recipes)
      console.log(
        json
          ? JSON.stringify({ name: recipe.name, title: recipe.title, paper: recipe.paper })
          : `${recipe.name.padEnd(width)}${recipe.title} (${cite(recipe)})`,
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
