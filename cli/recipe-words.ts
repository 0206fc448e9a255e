/** A recipe in words: what `npm run recipe -- show NAME` prints. */
import { readFile } from 'node:fs/promises';
import type { Placement, Recipe } from '../core/recipe.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import { moduleFile } from '../mesh/installation.ts';

const PAID: Readonly<Record<Placement, string>> = {
  sequence: 'paid for the whole',
  turn: 'paid for each turn',
  step: 'paid for each step',
  token: 'paid for each token',
};

/** Title, year and source of its paper. */
export const cite = ({ paper }: Recipe) => [paper.title, paper.year, paper.source].filter(Boolean).join(', ');

/** The comment that a recipe's file begins with, where its method stands: lines without their asterisks; none where it begins otherwise. */
export async function methodOf(file: string): Promise<string[]> {
  const source = await readFile(file, 'utf8');
  const [, comment] = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(source) ?? [];
  if (comment === undefined) return [];
  return comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
}

/** `file`: the recipe's module; default that of the shipped recipe of its name. */
export async function describeRecipe(
  recipe: Recipe,
  file = moduleFile(`recipes/${recipe.name}`),
): Promise<string> {
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
      ? `AdamW, learning rate ${optimizer.learningRate}, ${optimizer.warmup} steps of warm-up, ${optimizer.minibatches} steps a pass over the round’s samples, gradient norm at most ${optimizer.clipNorm}`
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
    ...list('Method', await methodOf(file)),
    '',
    `Tasks      ${recipe.taskName}, ${recipe.tasks} a round, ${recipe.group} rollouts each; begins from models/${recipe.start}`,
    ...list('Roles, in the order they act', roles),
    ...list('Rewards', rewards),
    ...list(
      'Variants',
      Object.entries(recipe.variants).map(([name, says]) => `--variant ${name}: ${says}`),
    ),
    ...list('Weights', sets),
    ...(recipe.claim ? [`Claim      ${recipe.claim.says}`] : []),
    ...list(
      'Differences',
      recipe.differences.map((line) => `- ${line}`),
    ),
  ].join('\n');
}
