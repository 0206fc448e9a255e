/** `--prompts FILE`: what a recipe says to a policy on questions can be replaced, as a whole and with all its places. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { command } from '../../cli/recipe/command.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { placesOf } from '../../worlds/questions/prompts.ts';
import { chatOf } from '../recipes/say.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-prompts-'));
afterAll(() => rmSync(root, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const tasks = file(
  'tasks.jsonl',
  Array.from({ length: 20 }, (_, i) => JSON.stringify({ question: `${i} + 1`, answer: i + 1 })).join('\n'),
);
const make = (recipe: string, prompts?: unknown) =>
  taskRecipe({
    recipe,
    policy: 'small',
    tasks: [tasks],
    heldOut: '0.2',
    checker: 'number',
    extract: ['whole'],
    set: [],
    ...(prompts === undefined ? {} : { prompts: file('prompts.json', JSON.stringify(prompts)) }),
  });

/** What `recipe show NAME --prompts` prints. */
async function shown(recipe: string): Promise<Record<string, string | string[]>> {
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  try {
    await command().parseAsync(['show', recipe, '--prompts'], { from: 'user' });
  } finally {
    log.mockRestore();
  }
  return JSON.parse(said.join('\n'));
}
const asText = (text: string | string[]) => (Array.isArray(text) ? text.join('\n') : text);

test.each(recipes.flatMap(({ name, written }) => (written ? [name] : [])))(
  'what %s says can be written down and given back',
  async (recipe) => {
    const texts = await shown(recipe);
    expect(['solve', 'search', 'reply', 'report'].some((verb) => Object.hasOwn(texts, verb))).toBe(true);
    // A sentence that stands in a place of a text has none itself.
    for (const [name, text] of Object.entries(texts))
      expect(placesOf(asText(text)).length > 0, name).toBe(!name.includes('.'));
    // The file of these tests has neither worked solutions nor documents nor pictures.
    if (
      shipped
        .find(recipe)
        .written!.needs.data.some((datum) =>
          ['solution', 'steps', 'documents', 'pictures', 'frames'].includes(datum),
        )
    )
      await expect(make(recipe, texts)).rejects.toMatchObject({ code: 'tasks.lacks' });
    else expect((await make(recipe, texts))!.recipe.title).toBe((await make(recipe))!.recipe.title);
  },
);

test('sentences that a prompt chooses from are printed beside it', async () => {
  const sentences = Object.keys(await shown('vision-zero')).filter((name) => name.includes('.'));
  expect(sentences).toEqual(['clue.spy', 'clue.civilian', 'clue.spy-aim', 'clue.civilian-aim']);
});

test('other words are another run, and are what the policy is asked', async () => {
  const texts = await shown('sdpo');
  const other = { ...texts, solve: 'Think, then answer:\n{{question}}' };
  const [given, own] = [(await make('sdpo', other))!.recipe, (await make('sdpo'))!.recipe];
  expect(given.name).not.toBe(own.name);
  const chat = chatOf(1024);
  const context = {
    ...chat,
    recipe: given,
    contextLength: 1024,
    round: { id: '0'.repeat(32), run: 'r', index: 1, settings: { tasks: 1, groupSize: 2 } },
  };
  const { tasks: drawn } = await given.propose(context as never);
  const asked: string[] = [];
  const generate = async (_: string, prompts: readonly { ids: readonly number[] }[]) => {
    asked.push(...prompts.map(({ ids }) => chat.tokenizer.decode([...ids])));
    return prompts.map(() => [1, 2].map(() => ({ ids: [1], logprobs: [0], stopped: false })));
  };
  await given.rollOut({ ...context, generate } as never, drawn).catch(() => undefined);
  expect(asked[0]).toMatch(/user\nThink, then answer:\n\d+ \+ 1<\|im_end\|>/);
});

test.each([
  [{ solve: '{{question}}' }, /prompt "\w+" is missing\. Expected the prompts solve, /],
  [{ judge: 'x' }, /no prompt "judge" in this recipe\. Expected the prompts solve, /],
  [['x'], /no object/],
])('%j for sdpo is refused', async (prompts, message) => {
  await expect(make('sdpo', prompts)).rejects.toThrow(message);
});

test('a text without one of its places, with another or without words is refused', async () => {
  const texts = await shown('sdpo');
  const given = (retell: unknown) => make('sdpo', { ...texts, retell });
  await expect(given('{{question}}')).rejects.toThrow(
    /"retell" has no \{\{solution\}\}.*show NAME --prompts/s,
  );
  await expect(given('{{question}} {{solution}} {{hint}}')).rejects.toThrow(
    /place \{\{hint\}\} that nothing fills/,
  );
  await expect(given(['{{question}}', 7])).rejects.toThrow(/"retell" is \["\{\{question\}\}",7\]/);
});

test('without files, prompts are refused: a world of its own has words of its own', async () => {
  const prompts = file('alone.json', JSON.stringify(await shown('sdpo')));
  const options = { recipe: 'sdpo', heldOut: '0.2', checker: 'number', extract: [], set: [], prompts };
  await expect(taskRecipe(options)).rejects.toMatchObject({
    code: 'run.prompts',
    message: expect.stringMatching(/alone\.json is given\. Expected --tasks/),
  });
});

test('a recipe without prompts refuses the option', async () => {
  for (const recipe of ['grpo', 'azr'])
    await expect(make(recipe, {})).rejects.toThrow(
      /has no prompts that can be replaced\. Expected a recipe that asks a policy more than the questions of files, such as trio, /,
    );
});
