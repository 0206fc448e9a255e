/** Stages, evaluations, bindings and training plans: which weights speak, and what is taught. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Policy, PolicyRef, SamplingSettings } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openEvaluationContext, openRoundContext } from '../../core/recipe/round-context.ts';
import { boundVersion, newestOf, type RoleBinding, roundOf } from '../../core/schema/round.ts';
import { textTokenizer } from '../protocols/scripted-policy.ts';

const settings = {
  recipe: 'x',
  seed: 0,
  policy: 'p',
  rewardFunction: 'gold',
  freeze: [] as string[],
  tasks: 1,
  groupSize: 2,
};
const bindings: Record<string, RoleBinding> = {
  solver: {},
  judge: { set: 'verifier' },
  opponent: { refreshEvery: 3 },
};
const recipe = {
  name: 'x',
  stop: '<eos>',
  roles: {
    solver: { sampling: { maxNew: 5, temperature: 1 } },
    judge: { sampling: { maxNew: 7, temperature: 0.7 } },
  },
} as unknown as Recipe;

/** Notes which weights were asked, and how. */
function scene() {
  const asked: { ref: PolicyRef; settings: SamplingSettings }[] = [];
  const use = <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>) =>
    work({
      ref,
      generate: (prompts, settings) => {
        asked.push({ ref, settings });
        return Promise.resolve(prompts.map(() => []));
      },
      score: () => Promise.resolve([]),
      dispose: () => Promise.resolve(),
    });
  const parts = { recipe, tokenizer: textTokenizer(), use, recipeState: () => Promise.resolve(undefined) };
  return { asked, parts };
}
const prompt = { ids: [1], sampleIds: ['a'] };
const any = new Random('any');

test('a lagging role is so many versions behind, never below 0', () => {
  expect(boundVersion({ lag: 4 }, 3, 2, any)).toBe(0);
  expect(boundVersion({ lag: 4 }, 7, 6, any)).toBe(2);
});

test('a role that holds moves every so many rounds; a fixed one never', () => {
  const versions = [1, 2, 3, 4, 5, 6, 7].map((index) =>
    boundVersion({ refreshEvery: 3 }, index, index - 1, any),
  );
  expect(versions).toEqual([0, 0, 0, 3, 3, 3, 6]);
  expect(boundVersion({ pinned: true, sampleFrom: 4 }, 9, 8, any)).toBe(0);
});

test('a pool is drawn from evenly, anew each round, by the run and the role; early on from what there is', () => {
  const rounds = Array.from({ length: 400 }, (_, i) =>
    roundOf(settings, { first: { sampleFrom: 4 }, second: { sampleFrom: 4, lag: 1 } }, i + 1, 9),
  );
  const drawn = (role: string) => rounds.map(({ roles }) => roles[role]!.version);
  for (const [role, versions] of [
    ['first', [6, 7, 8, 9]],
    ['second', [5, 6, 7, 8]],
  ] as const) {
    const counts = versions.map((version) => drawn(role).filter((one) => one === version).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(400);
    // Five standard errors of a share of a quarter.
    for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(5 * Math.sqrt(400 * 0.25 * 0.75));
  }
  expect(drawn('first').map((version) => version - 1)).not.toEqual(drawn('second'));
  const early = [0, 1].map(
    (newest) => roundOf(settings, { first: { sampleFrom: 4 } }, 1, newest).roles.first!.version,
  );
  expect(early[0]).toBe(0);
  expect([0, 1]).toContain(early[1]);
  expect(roundOf(settings, { first: { sampleFrom: 4 } }, 7, 9)).toEqual(
    roundOf(settings, { first: { sampleFrom: 4 } }, 7, 9),
  );
});

test('a round names version and set of each role; frozen roles stay at 0', () => {
  const round = roundOf({ ...settings, freeze: ['judge'] }, bindings, 5, 4);
  expect(round.roles).toEqual({
    solver: { name: 'p', version: 4 },
    judge: { name: 'p', version: 0, set: 'verifier' },
    opponent: { name: 'p', version: 3 },
  });
  expect(newestOf(round)).toEqual({ name: 'p', version: 4 });
});

test('a stage speaks with the weights of the role, by its sampling, and asks nobody for nothing', async () => {
  const { asked, parts } = scene();
  const context = openRoundContext({ ...parts, round: roundOf(settings, bindings, 3, 2) });
  await context.generate('judge', [prompt]);
  await context.generate('solver', [prompt], { temperature: 0 });
  expect(await context.generate('solver', [])).toEqual([]);
  const stop = [parts.tokenizer.id('<eos>')];
  expect(asked).toEqual([
    { ref: { name: 'p', version: 2, set: 'verifier' }, settings: { maxNew: 7, temperature: 0.7, stop } },
    { ref: { name: 'p', version: 2 }, settings: { maxNew: 5, temperature: 0, stop } },
  ]);
});

test('a role that the recipe or the round does not know is named', async () => {
  const { parts } = scene();
  const context = openRoundContext({ ...parts, round: roundOf(settings, bindings, 1, 0) });
  await expect(async () => context.generate('critic', [prompt])).rejects.toThrow('no critic');
  await expect(async () => context.generate('opponent', [prompt])).rejects.toThrow('no role "opponent"');
});

test('an evaluation asks all sets at one version, frozen or not, and makes what it compares with once', async () => {
  const { asked, parts } = scene();
  const round = roundOf({ ...settings, freeze: ['judge'] }, bindings, 9, 8);
  const kept = new Map<string, Promise<unknown>>();
  let made = 0;
  for (const version of [0, 8]) {
    const context = openEvaluationContext({ ...parts, round }, version, kept);
    await context.generate('judge', [prompt]);
    await context.atStart.generate('solver', [prompt]);
    expect(await context.once('reference', async () => ++made)).toBe(1);
  }
  expect(asked.map(({ ref }) => [ref.set ?? 'main', ref.version])).toEqual([
    ['verifier', 0],
    ['main', 0],
    ['verifier', 8],
    ['main', 0],
  ]);
});

test('a training plan leaves out frozen roles, and is given the groups in order', async () => {
  const round = roundOf({ ...settings, freeze: ['judge'] }, bindings, 1, 0);
  const group = (index: number) => ({
    round: round.id,
    group: 'g',
    index,
    task: '',
    proposal: null,
    samples: [],
    judgments: [],
    answersExact: [],
    solutionsExact: [],
  });
  let order: number[] = [];
  const part = (role: string) => ({ kind: 'sft' as const, role, weight: 1, items: [] });
  const plan = await planTraining(
    {
      name: 'x',
      state: v.object({ seen: v.number() }),
      learn: ({ groups }): TrainingPlan => {
        order = groups.map(({ index }) => index);
        return {
          updates: [{ set: 'main', parts: [part('solver'), part('judge')] }],
          recipeState: { seen: 2 },
        };
      },
    },
    {
      round,
      proposals: { round: round.id, samples: [], tasks: [] },
      groups: [group(2), group(0), group(1)],
      recipeState: undefined,
      version: 0,
    },
    {} as LearnTools,
  );
  expect(order).toEqual([0, 1, 2]);
  expect(plan).toEqual({
    updates: [{ set: 'main', parts: [part('solver')] }],
    recipeState: { seen: 2 },
    earnings: {},
  });
});
