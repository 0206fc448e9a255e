/** A recipe in words: what `npx rollmesh recipe show NAME` prints. */

import type { OptimizerSettings } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { wrap } from '../shared/wrap.ts';
import { runIt } from './run-it.ts';

const decay = ({ schedule = 'constant', totalSteps, floor = 0 }: OptimizerSettings): string =>
  schedule === 'constant' ? '' : ` and a ${schedule} fall to ${floor} times the rate at step ${totalSteps}`;

/** Title, year and source of its paper. */
export const cite = ({ paper }: Recipe) => [paper.title, paper.year, paper.source].filter(Boolean).join(', ');

/** Columns of a paragraph. */
const WIDTH = 100;

/** `reference`: how the user names it. `onFiles`: it is made from files, and its runs begin from the policy that `--policy` names. */
export function describeRecipe(recipe: Recipe, reference = recipe.name, onFiles = false): string {
  /** A section: its paragraph, then its items. */
  const section = (title: string, text: string | undefined, items: readonly string[] = []) =>
    text === undefined && !items.length
      ? []
      : [
          '',
          title,
          ...(text === undefined ? [] : indented(text, '  ')),
          ...items.flatMap((item) => indented(item, '    ', '  - ')),
        ];
  const labelFree = Object.entries(recipe.rewards).flatMap(([name, reward]) =>
    reward.labelFree ? [name] : [],
  );
  const butLabelFree = labelFree.length ? ` but ${labelFree.join(', ')}` : '';
  const roles = Object.entries(recipe.roles).map(([name, role]) => {
    const { description, set, sampling, placement = 'sequence', usesGold, seesGold } = role;
    const frozen = recipe.freezable.includes(name) ? `; --freeze ${name} keeps it at version 0` : '';
    // A reward for a whole completion is the usual one, and some roles are never paid: neither is said.
    const paid = placement === 'sequence' ? '' : `; paid for each ${placement}`;
    const held = usesGold ? `; held to the exact checker under every reward${butLabelFree}` : '';
    const shown = seesGold ? '; its prompts hold reference answers' : '';
    return `${name}: ${description} (weights ${set ?? MAIN_SET}, at most ${sampling.maxNew} tokens, temperature ${sampling.temperature}${paid}${held}${shown}${frozen})`;
  });
  const rewards = Object.entries(recipe.rewards).map(
    ([name, { description, usesGold }], i) =>
      `--reward ${name}${i === 0 ? ' (default)' : ''}: ${description}; ${usesGold ? 'uses gold' : 'gold-free'}`,
  );
  const sets = Object.entries(recipe.sets).map(([name, { optimizer, average, head, adapter }]) => {
    const trained = optimizer
      ? `AdamW, learning rate ${optimizer.learningRate}, ${optimizer.warmup} steps of warm-up${decay(optimizer)}, ${optimizer.minibatches === 1 ? 'one step' : `${optimizer.minibatches} steps`} a pass over the round’s samples, gradient norm at most ${optimizer.clipNorm}`
      : 'not trained';
    const more = [
      ...(adapter ? [`adapters of rank ${adapter.rank} on version 0's weights`] : []),
      ...(average ? [`follows ${average.of} with decay ${average.decay}`] : []),
      ...(head ? [`with a head for ${head.kind === 'value' ? 'values' : `${head.count} classes`}`] : []),
    ];
    return `${name}: ${[trained, ...more].join('; ')}`;
  });
  const { method } = recipe;
  return [
    ...indented(`${recipe.name}: ${recipe.title}`, ''),
    ...indented(`Paper: ${cite(recipe)}`, ''),
    '',
    ...indented(recipe.summary, ''),
    ...section('Run it', undefined, runIt(recipe, reference, onFiles)),
    ...section('Setting', method?.setting),
    ...section('Roles', method?.roles, roles),
    ...section('Rewards', method?.rewards, rewards),
    ...section('Credit assignment', method?.credit),
    ...section('Objective', method?.objective),
    ...section('Schedule', method?.schedule, sets),
    ...section(
      'Variants',
      undefined,
      Object.entries(recipe.variants).map(([name, description]) => `--variant ${name}: ${description}`),
    ),
    ...section(
      'Figures of its own',
      undefined,
      Object.entries(recipe.figures ?? {}).map(([name, meaning]) => `${name}: ${meaning}`),
    ),
    ...section('Differences from the paper', undefined, recipe.differences),
  ].join('\n');
}

/** A paragraph in lines; the first begins with `first`. */
const indented = (text: string, indent: string, first = indent): string[] =>
  wrap(text, WIDTH - indent.length).map((line, i) => (i === 0 ? first : indent) + line);
