/** The questions of a round: what does not fit is left out by name, and a curriculum draws by what earlier groups were paid. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import type { LearnTools, RoundRecords } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { generateWithin } from '../../protocols/evaluate/within-context.ts';
import { curriculumAfter, weightsBy, withCurriculum } from '../../protocols/questions/curriculum.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { drawQuestions } from '../../worlds/questions/draw.ts';
import { readTask, textKey, writeTask } from '../../worlds/questions/task-text.ts';
import { recordsOf, solved } from '../recipes/records.ts';

const question = (text: string, line = 1): PlacedTask => ({
  messages: [{ role: 'user', content: text }],
  answer: '1',
  metadata: {},
  difficulty: null,
  file: 'f',
  line,
});
const textOf = (task: string) => readTask(task).messages[0]!.content;

const readStored: RoundContext['readStored'] = () => Promise.reject(new Error('nothing is stored'));

/** A policy of so many positions whose prompts have a token for each character. */
const policyOf = (contextLength: number, id = 'r') =>
  ({
    round: { id },
    readStored,
    contextLength,
    renderer: () =>
      ({
        begin: ([message]: readonly { content: string }[]) => ({ ids: [...message!.content].map(() => 0) }),
      }) as unknown as Renderer,
    tokenizer: { encode: (text: string) => [...text].map(() => 0) },
  }) as unknown as Pick<RoundContext, 'round' | 'renderer' | 'tokenizer' | 'contextLength' | 'readStored'>;

/** A question leads to one prompt, which is its text, and an answer of 4 tokens. */
const rooms = (task: string) => [{ prompt: textOf(task), tokens: 4 }];

describe('questions that are too long', () => {
  // Of 3, 5 and 9 characters; an answer has 4 tokens.
  const sources = [{ weight: 1, tasks: ['abc', 'abcde', 'abcdefghi'].map(question) }];
  const draw = (contextLength: number, count: number) =>
    drawQuestions(policyOf(contextLength), { sources, rooms, count });

  test('are left out with their length, and others are drawn in their place', async () => {
    const { tasks, leftOut } = await draw(9, 3);
    expect(tasks.map(({ task }) => textOf(task)).sort()).toEqual(['abc', 'abcde']);
    expect(tasks.map(({ index }) => index)).toEqual([0, 1]);
    expect(leftOut).toEqual([{ task: writeTask(question('abcdefghi')), tokens: 13 }]);
  });

  test('are those with any prompt that does not fit', async () => {
    const both = (task: string) => [...rooms(task), { prompt: `${textOf(task)}and its answer`, tokens: 1 }];
    const { tasks, leftOut } = await drawQuestions(policyOf(18), { sources, rooms: both, count: 3 });
    expect(tasks.map(({ task }) => textOf(task))).toEqual(['abc']);
    expect(leftOut!.map(({ tokens }) => tokens).sort((a, b) => a - b)).toEqual([20, 24]);
  });

  test('change nothing where all fit, or where there is no bound', async () => {
    const bounded = await draw(13, 2);
    expect(bounded).not.toHaveProperty('leftOut');
    expect(await draw(Number.POSITIVE_INFINITY, 2)).toEqual(bounded);
    const drawn = await drawFileTasks(readStored, new Random('r/tasks'), sources, 2);
    expect(bounded.tasks.map(({ task }) => task)).toEqual(drawn.map(writeTask));
  });

  test('are an error where nothing else is there', async () => {
    await expect(draw(6, 2)).rejects.toThrow(
      /None of the 3 questions fits the policy: the shortest could reach 7 tokens\. Expected at most 6/,
    );
  });

  test('and those that a template does not show are an error, with their places', async () => {
    const mute = { ...policyOf(9), renderer: () => ({ begin: () => ({ ids: [1, 2] }) }) as never };
    await expect(drawQuestions(mute, { sources, rooms, count: 2 })).rejects.toThrow(
      /same prompt for two questions, f:\d and f:\d\. Expected a chat template that writes/,
    );
    expect((await drawQuestions(mute, { sources, rooms, count: 1 })).tasks).toHaveLength(1);
  });

  test('are not asked in an evaluation, and have an answer that did not end', async () => {
    const asked: number[] = [];
    const context = {
      recipe: {
        name: 'r',
        rewards: {},
        roles: { solver: { description: '', sampling: { maxNew: 4, temperature: 1 } } },
      },
      contextLength: 9,
      generate: async (_: string, prompts: readonly { ids: readonly number[] }[]) => {
        asked.push(...prompts.map(({ ids }) => ids.length));
        return prompts.map(({ ids }) => [{ ids: [ids.length], logprobs: [0], stopped: true }]);
      },
    };
    const prompts = [5, 6, 2].map((length) => ({ ids: new Array<number>(length).fill(0), sampleIds: ['s'] }));
    const completions = await generateWithin(context, 'solver', prompts);
    expect(asked).toEqual([5, 2]);
    expect(completions.map(([one]) => [one!.ids, one!.stopped])).toEqual([
      [[5], true],
      [[], false],
      [[2], true],
    ]);
    expect(
      (await generateWithin(context, 'solver', prompts, { maxNew: 3 })).map(([one]) => one!.stopped),
    ).toEqual([true, true, true]);
  });
});

describe('a curriculum', () => {
  const [easy, hard, mixed, fresh] = ['easy', 'hard', 'mixed', 'fresh'].map((text) =>
    writeTask(question(text)),
  ) as [string, string, string, string];
  const group = (task: string, ...rewards: (number | null)[]) => ({
    task,
    samples: rewards.map((reward) => ({ rewards: { reward } })),
  });

  test('knows which questions were all right or all wrong when they were last asked', () => {
    const first = curriculumAfter(undefined, [
      group(easy, 1, 1, 1),
      group(hard, 0, 0),
      group(mixed, 1, 0, 1),
    ]);
    const weights = (state: unknown) =>
      [easy, hard, mixed, fresh].map(textKey).map(weightsBy({ unanimousWeight: 0.25 }, state));
    expect(weights(undefined)).toEqual([1, 1, 1, 1]);
    expect(weights(first)).toEqual([0.25, 0.25, 1, 1]);
    // The hard one is answered once; the mixed one is mastered; one known reward says nothing about the fresh one.
    const second = curriculumAfter(first, [group(hard, 0, 1), group(mixed, 1, 1), group(fresh, 1, null)]);
    expect(weights(second)).toEqual([0.25, 1, 0.25, 1]);
    // Its order does not depend on the order of rounds.
    const other = curriculumAfter(curriculumAfter(undefined, [group(mixed, 1, 1)]), [group(easy, 1, 1)]);
    expect(other).toEqual(second);
    expect(() => weightsBy({ unanimousWeight: 0 }, { phases: 3 })).toThrow(/not the state of this recipe/);
  });

  test('counts a question as unanimous where its pass rate is outside bounds', () => {
    const groups = [group(easy, 1, 1, 1, 0), group(hard, 0, 0, 0, 1), group(mixed, 1, 0), group(fresh, 1, 1)];
    const bounds = { unanimousWeight: 0.5, lowest: 0.25, highest: 0.7 };
    const weights = (more: object) =>
      [easy, hard, mixed, fresh]
        .map(textKey)
        .map(weightsBy(bounds, curriculumAfter(undefined, groups, more)));
    // Pass rates of 3/4, 1/4, 1/2 and 1: a bound itself is within.
    expect(weights(bounds)).toEqual([0.5, 1, 1, 0.5]);
    expect(weights({ lowest: 0.3 })).toEqual([1, 0.5, 1, 0.5]);
    expect(weights({})).toEqual([1, 1, 1, 0.5]);
    expect(() => withCurriculum({} as Recipe, { ...bounds, lowest: 0.8 })).toThrow(
      /curriculum\.lowest is 0\.8 and curriculum\.highest 0\.7/,
    );
  });

  test('draws in proportion to the weights, and what has none only where nothing else is left', async () => {
    const sources = [{ weight: 1, tasks: ['easy', 'mixed'].map(question) }];
    const state = curriculumAfter(undefined, [group(easy, 1, 1)]);
    const first = async (unanimousWeight: number, id: string, count = 1) => {
      const weightOf = weightsBy({ unanimousWeight }, state);
      const { tasks } = await drawQuestions(policyOf(100, id), { sources, rooms, count, weightOf });
      return tasks.map(({ task }) => textOf(task));
    };
    const ids = Array.from({ length: 2000 }, (_, i) => `round ${i}`);
    // The easy one comes first with a chance of 0.25 / 1.25 = 0.2: binomial, 400 ± 18, so within 90 with certainty.
    const firsts = await Promise.all(ids.map((id) => first(0.25, id)));
    const easyFirst = firsts.filter(([one]) => one === 'easy').length;
    expect(Math.abs(easyFirst - 400)).toBeLessThan(90);
    const both = await Promise.all(ids.map((id) => first(0, id, 2)));
    expect(both.every((two) => two.join() === 'mixed,easy')).toBe(true);
    expect(await first(0.25, 'round 1', 2)).toEqual(await first(0.25, 'round 1', 2));
    expect((await first(0.25, 'round 1', 2)).sort()).toEqual(['easy', 'mixed']);
  });

  test('keeps the recipe’s own state over rounds whose plan has none', async () => {
    // It counts the rounds in which it was asked, in every other of them.
    const counting = {
      name: 'counting',
      state: v.number(),
      learn: async ({ round, recipeState }: RoundRecords) => ({
        updates: [],
        ...(round.index % 2 ? { recipeState: (readState(v.number(), recipeState) ?? 0) + 1 } : {}),
      }),
    };
    const recipe = withCurriculum(counting as unknown as Recipe, { unanimousWeight: 0.5 });
    const states: unknown[] = [];
    for (const index of [1, 2, 3]) {
      const records = recordsOf('ttrl', [{ samples: [solved('1', 1)] }], {
        index,
        recipeState: states.at(-1),
      });
      states.push((await recipe.learn(records, {} as LearnTools)).recipeState);
    }
    expect(states).toMatchObject([{ own: 1 }, { own: 1 }, { own: 2 }]);
  });
});
