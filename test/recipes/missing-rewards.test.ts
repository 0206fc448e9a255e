/**
 * Every recipe that is written over a game plays a round in a world of somebody's own that says its verbs. A missing reward is no reward of 0 there: a
 * rollout without one is trained on by no policy gradient, and changes nothing for the others.
 */
import { expect, test } from 'vitest';
import type { PolicyItem, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { playRounds } from '../../local/testing/index.ts';
import { recipes } from '../../recipes/index.ts';
import { inWorld, lackedIn } from '../../worlds/own-world.ts';
import { everything } from '../protocols/everything.ts';
import { anybody } from './anybody.ts';

/** The group with rewards that differ, of which every third is missing. */
const withGaps = (group: ScoredGroup): ScoredGroup => ({
  ...group,
  samples: group.samples.map((sample, i) => ({
    ...sample,
    rewards: { ...sample.rewards, reward: i % 3 ? (i % 2) * 2 - 1 : null },
  })),
});

/** The group without the rollouts that have no reward, and what was said of them. */
function withoutGaps(group: ScoredGroup): ScoredGroup {
  const there = group.samples.map(({ rewards }) => rewards.reward !== null);
  const kept = <T>(all: readonly T[]) => all.filter((_, i) => there[i]);
  const samples = kept(group.samples);
  const ids = new Set(samples.map(({ id }) => id));
  return {
    ...group,
    samples,
    judgments: group.judgments.filter(({ of }) => of === undefined || ids.has(of)),
    answersExact: kept(group.answersExact),
    solutionsExact: kept(group.solutionsExact),
  };
}

const policyItems = ({ updates }: TrainingPlan): PolicyItem[] =>
  updates.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'policy' ? part.items : [])));

/** A round whose rewards have gaps: the items that it trains, and those that it would train without the rollouts in the gaps. */
async function playGaps(recipe: Recipe) {
  const seen: { gaps: PolicyItem[]; without: PolicyItem[] }[] = [];
  const played: Recipe = {
    ...recipe,
    judge: async (context, groups) => (await recipe.judge(context, groups)).map(withGaps),
    learn: async (records, tools) => {
      const plan = await recipe.learn(records, tools);
      const others = await recipe.learn({ ...records, groups: records.groups.map(withoutGaps) }, tools);
      seen.push({ gaps: policyItems(plan), without: policyItems(others) });
      return plan;
    },
  };
  const { lines } = await playRounds(played, { start: anybody, policy: 'anybody', tasks: 2, groupSize: 6 });
  return { ...seen[0]!, line: lines[0]! };
}

/** A world reads answers by a function, without a mark at which they are looked for, and has neither documents nor users, pictures or hopes. */
const mine = recipes.filter(
  ({ written }) =>
    written &&
    !written.needs.data.some((datum) =>
      ['mark', 'documents', 'users', 'pictures', 'frames', 'hopes'].includes(datum),
    ),
);

test.each(mine.map((recipe) => [recipe.name, recipe] as const))('%s', async (_, recipe) => {
  expect(lackedIn(recipe, everything)).toEqual([]);
  const { gaps, without, line } = await playGaps(inWorld(recipe, everything));
  const { monitors } = line.report;
  expect(monitors!.rollouts + monitors!.proposals).toBeGreaterThan(0);
  expect(line.groups.failed).toBe(0);
  for (const { sample, advantage } of gaps) {
    expect(sample.rewards.reward).not.toBeNull();
    for (const one of [advantage].flat()) expect(one).toBeTypeOf('number');
    expect([advantage].flat().every(Number.isFinite)).toBe(true);
  }
  // Recipes that take weighted sums, of which a part may be missing: the others are credited as if the rollout had not been.
  if (recipe.written!.ownReward !== undefined) return;
  const credit = (items: readonly PolicyItem[]) =>
    items.map(({ sample, advantage }) => ({
      id: sample.id,
      advantage: [advantage].flat().map((one) => expect.closeTo(one, 6) as number),
    }));
  expect(gaps.map(({ sample, advantage }) => ({ id: sample.id, advantage: [advantage].flat() }))).toEqual(
    credit(without),
  );
});
