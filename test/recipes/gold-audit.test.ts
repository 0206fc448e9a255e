/**
 * The gold audit. A reward that is declared gold-free must pay the same, and teach the same, in a world where every exact checker
 * says the opposite of what is true: so no term of it has read one. And the lie must be seen where gold is used, or it proves nothing.
 */
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { lessonOf } from '../../core/lesson.ts';
import type { Recipe } from '../../core/recipe.ts';
import { playStages } from '../../core/roles/play-stages.ts';
import { openStage } from '../../core/roles/stage.ts';
import { roundOf } from '../../core/schema/round.ts';
import { arithmetic } from '../../core/tasks/arithmetic.ts';
import { programs } from '../../core/tasks/programs/family.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { LearnTools } from '../../core/training.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { loadOrt } from '../../infer/ort.ts';
import { readSeed } from '../../model/seed-files.ts';
import { recipes } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

const world = vi.hoisted(() => ({ lies: false }));

/** Exact checkers that are functions of a module, and what they say when they lie. */
vi.mock('../../core/tasks/style.ts', async (actual) => {
  const style = await actual<typeof import('../../core/tasks/style.ts')>();
  const styleScore: typeof style.styleScore = (...asked) =>
    world.lies ? 5 - style.styleScore(...asked) : style.styleScore(...asked);
  return { ...style, styleScore };
});
vi.mock('../../core/tasks/judging/questions.ts', async (actual) => {
  const questions = await actual<typeof import('../../core/tasks/judging/questions.ts')>();
  const soundness: typeof questions.soundness = (...asked) => {
    const sound = questions.soundness(...asked);
    return world.lies && typeof sound === 'number' ? ((1 - sound) as typeof sound) : sound;
  };
  return { ...questions, soundness };
});
vi.mock('../../core/tasks/knowledge/episode.ts', async (actual) => {
  const episode = await actual<typeof import('../../core/tasks/knowledge/episode.ts')>();
  const answerOf: typeof episode.answerOf = (...asked) =>
    world.lies ? 'nobody' : episode.answerOf(...asked);
  return { ...episode, answerOf };
});
vi.mock('../../core/tasks/grids/play.ts', async (actual) => {
  const play = await actual<typeof import('../../core/tasks/grids/play.ts')>();
  const gridOutcome: typeof play.gridOutcome = (...asked) => {
    const outcome = play.gridOutcome(...asked);
    return world.lies ? { ...outcome, total: -outcome.total, success: !outcome.success } : outcome;
  };
  return { ...play, gridOutcome };
});

/** Roles that are trained against the truth beside a gold-free reward, and say so. */
const TRAINED_ON_GOLD: Readonly<Record<string, readonly string[]>> = { trio: ['judge'] };

function lie(): void {
  world.lies = true;
  for (const family of [arithmetic, programs]) {
    const { gold, truth } = family;
    vi.spyOn(family, 'gold').mockImplementation((...asked) => !gold.apply(family, asked));
    vi.spyOn(family, 'truth').mockImplementation((...asked) => {
      const { steps, right } = truth.apply(family, asked);
      return { steps: steps.map((step) => !step), right: !right };
    });
  }
}
afterEach(() => {
  world.lies = false;
  vi.restoreAllMocks();
});

/** The models' part in `learn`, which gold cannot change. */
const tools = (tokenizer: ReturnType<typeof tokenizerOf>): LearnTools => ({
  decode: (ids) => tokenizer.decode(ids),
  encode: (text) => tokenizer.encode(text),
  score: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length).fill(-1)),
  values: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)),
  classes: async (_set, sequences) => sequences.map(() => new Float32Array([-1, -0.5])),
});

/** What a round pays and teaches. */
async function playRound(recipe: Recipe, reward: string) {
  const { settings } = runOf({
    recipe: recipe.name,
    seed: 3,
    rounds: 1,
    freeze: [],
    reward,
    tasks: 6,
    group: 4,
  });
  const files = await readSeed(join('models', recipe.start));
  const policies = new OpenPolicies(await loadOrt(), () => Promise.resolve(files));
  const tokenizer = tokenizerOf(files, settings.policy);
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const memory = () => Promise.resolve(undefined);
  try {
    const stage = openStage({ recipe, round, tokenizer, memory, use: policies.use });
    const { proposals, groups } = await playStages(stage);
    const records = { round, proposals, groups, memory: undefined, version: 0 };
    const { updates } = await lessonOf(recipe, records, tools(tokenizer));
    const open = TRAINED_ON_GOLD[recipe.name] ?? [];
    return {
      paid: groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards)),
      taught: updates
        .flatMap(({ parts }) => parts.filter(({ role }) => !open.includes(role)))
        .map(withoutRewards),
    };
  } finally {
    await policies.dispose();
  }
}

/** What is trained, without the rewards that samples carry for the record. */
const withoutRewards = (part: object) =>
  JSON.parse(JSON.stringify(part, (key, value) => (key === 'rewards' ? undefined : value)));

const free = recipes.flatMap((recipe) =>
  Object.entries(recipe.rewards)
    .filter(([, { usesGold }]) => !usesGold)
    .map(([reward]) => ({ recipe, name: recipe.name, reward })),
);

describe('rewards that are declared gold-free', () => {
  test.each(free)('$name --reward $reward', async ({ recipe, reward }) => {
    const honest = await playRound(recipe, reward);
    lie();
    expect(await playRound(recipe, reward)).toEqual(honest);
  });
});

test('the lie reaches the rewards that use gold', async () => {
  const trio = recipes.find(({ name }) => name === 'trio')!;
  const honest = await playRound(trio, 'gold');
  lie();
  expect((await playRound(trio, 'gold')).paid).not.toEqual(honest.paid);
});
