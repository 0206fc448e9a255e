/** A recipe in words: what `npx rollmesh recipe show NAME` prints, and the page of it in the documentation's site. */

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

/** A part of the description: a paragraph, then a list. */
export interface Section {
  readonly title: string;
  readonly text?: string | undefined;
  readonly items?: readonly string[];
}

/** The parts that say how the recipe works; one that has nothing to say is left out. `reference` and `onFiles` as for `describeRecipe`. */
export function sectionsOf(recipe: Recipe, reference = recipe.name, onFiles = false): Section[] {
  const labelFree = Object.entries(recipe.rewards).flatMap(([name, reward]) =>
    reward.labelFree ? [name] : [],
  );
  const butLabelFree = labelFree.length ? ` but ${labelFree.join(', ')}` : '';
  const roles = Object.entries(recipe.roles).map(([name, role]) => {
    const { description, set, sampling, placement = 'sequence', usesGold, seesGold, shown } = role;
    const frozen = recipe.freezable?.includes(name) ? `; --freeze ${name} keeps it at version 0` : '';
    // A reward for a whole completion is the usual one, and some roles are never paid: neither is said.
    const paid = placement === 'sequence' ? '' : `; paid for each ${placement}`;
    const held = usesGold ? `; held to the exact checker under every reward${butLabelFree}` : '';
    const gold = seesGold ? '; its prompts hold reference answers' : '';
    const seen = shown ? `; it is shown ${shown}` : '';
    return `${name}: ${description} (weights ${set ?? MAIN_SET}, at most ${sampling.maxNew} tokens, temperature ${sampling.temperature}${paid}${held}${gold}${seen}${frozen})`;
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
  const sections: readonly Section[] = [
    { title: 'Run it', items: runIt(recipe, reference, onFiles) },
    { title: 'Setting', text: method?.setting },
    { title: 'Roles', text: method?.roles, items: roles },
    { title: 'Rewards', text: method?.rewards, items: rewards },
    { title: 'Credit assignment', text: method?.credit },
    { title: 'Objective', text: method?.objective },
    { title: 'Schedule', text: method?.schedule, items: sets },
    { title: 'Variants', items: named('--variant ', recipe.variants ?? {}) },
    { title: 'Figures of its own', items: named('', recipe.figures ?? {}) },
    { title: 'Differences from the paper', items: recipe.differences },
  ];
  return sections.filter(({ text, items }) => text !== undefined || items?.length);
}

const named = (before: string, meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings).map(([name, meaning]) => `${before}${name}: ${meaning}`);

/** `reference`: how the user names it. `onFiles`: it is made from files, and its runs begin from the policy that `--policy` names. */
export function describeRecipe(recipe: Recipe, reference = recipe.name, onFiles = false): string {
  return [
    ...indented(`${recipe.name}: ${recipe.title}`, ''),
    ...indented(`Paper: ${cite(recipe)}`, ''),
    '',
    ...indented(recipe.summary, ''),
    ...sectionsOf(recipe, reference, onFiles).flatMap(({ title, text, items = [] }) => [
      '',
      title,
      ...(text === undefined ? [] : indented(text, '  ')),
      ...items.flatMap((item) => indented(item, '    ', '  - ')),
    ]),
  ].join('\n');
}

/** A paragraph in lines; the first begins with `first`. */
const indented = (text: string, indent: string, first = indent): string[] =>
  wrap(text, WIDTH - indent.length).map((line, i) => (i === 0 ? first : indent) + line);
