/** Worlds of somebody's own: which recipes play in one, and what is wrong with one is said before anything is written. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { installed } from '../../local/mesh/installation.ts';
import { scriptedPolicy } from '../../local/testing/index.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { defineWorld, inWorld, lackedIn, type Spoken, type World } from '../../worlds/own-world.ts';
import { anybody } from '../recipes/anybody.ts';
import products from './products.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-world-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a world of two verbs plays the recipes that need no others, and says what the others lack', () => {
  const plays = recipes.filter((recipe) => lackedIn(recipe, products)?.length === 0);
  const names = plays.map(({ name }) => name);
  // A new recipe need not be named here: it plays where the two verbs and the answers are all that it asks for.
  const asksNoMore = recipes.filter(({ written }) => {
    const { verbs, orRule = [], data } = written?.needs ?? { verbs: ['propose' as const], data: [] };
    return (
      [...verbs, ...orRule].every((verb) => verb === 'solve' || verb === 'verify') &&
      data.every((datum) => datum === 'answer' || datum === 'generator')
    );
  });
  expect(names).toEqual(asksNoMore.map(({ name }) => name));
  expect(names).toEqual(expect.arrayContaining(['dapo', 'ttrl', 'tango', 'genrm']));
  for (const other of ['sage', 'igrpo', 'mr-rlvr', 'ragen']) expect(names).not.toContain(other);
  expect(lackedIn(shipped.find('sage'), products)).toEqual([
    'the verbs follow, hint',
    'a worked solution to each task',
  ]);
  expect(lackedIn(shipped.find('ragen'), products)).toBeNull();
});

const base: World = products;
const solve = base.words.solve;
const solving = (change: Partial<Spoken<'solve'>>): World => ({
  ...base,
  words: { solve: { ...solve, ...change } },
});
let drawn = 0;

test.each<[string, unknown, string, RegExp]>([
  ['is no object', 7, 'world.invalid', /is 7/],
  ['has no oracle', { ...base, isRight: undefined }, 'world.invalid', /isRight is undefined.*Function/],
  ['has a field of another name', { ...base, isrigth: base.isRight }, 'world.invalid', /isrigth/],
  ['has a name that is no name', { ...base, name: 'My World' }, 'world.invalid', /name/],
  [
    'says an unknown verb',
    { ...base, words: { solve, sovle: solve } },
    'world.invalid',
    /cannot say "sovle".*solve, perhaps/,
  ],
  [
    'leaves out solve',
    { ...base, words: { verify: base.words.verify } },
    'world.invalid',
    /leave out "solve"/,
  ],
  [
    'has a verb without a bound',
    { ...base, words: { solve: { ...solve, maxNew: 0 } } },
    'world.invalid',
    /words\.solve\.maxNew/,
  ],
  ['draws nothing', { ...base, draw: () => '' }, 'world.task', /draw returns ""/],
  ['draws by another chance', { ...base, draw: () => String(drawn++) }, 'world.task', /same state of random/],
  [
    'has an oracle that says nothing',
    { ...base, isRight: () => undefined },
    'world.task',
    /isRight returns undefined/,
  ],
  [
    'has a wrong reference',
    { ...base, reference: () => ({ steps: ['x'], answer: 'x' }) },
    'world.task',
    /reference returns/,
  ],
  ...(['draw', 'isRight', 'reference'] as const).map((called): [string, unknown, string, RegExp] => [
    `throws in ${called}`,
    {
      ...base,
      [called]: () => {
        throw new Error('no such thing');
      },
    },
    'world.task',
    new RegExp(`^${called}.* throws: no such thing`),
  ]),
  ['asks nothing', solving({ ask: () => ' ' }), 'world.ask', /words\.solve\.ask returns " "/],
  [
    'returns no prompt',
    solving({ ask: () => undefined as unknown as string }),
    'world.ask',
    /returns undefined/,
  ],
  [
    'throws when it asks',
    solving({
      ask: () => {
        throw new Error('no words');
      },
    }),
    'world.ask',
    /throws about .*no words/,
  ],
  [
    'throws when it reads',
    solving({ read: (text) => JSON.parse(text) as ReturnType<typeof solve.read> }),
    'world.read',
    /words\.solve\.read throws/,
  ],
  [
    'reads what solve does not say',
    solving({ read: () => ok('7') as unknown as ReturnType<typeof solve.read> }),
    'world.read',
    /returns .*"7"/,
  ],
  [
    'reads no answer out of a solution',
    solving({ read: () => ok({ steps: [], answer: '7' }) }),
    'world.read',
    /steps/,
  ],
  [
    'gives a reason that nobody knows',
    solving({ read: () => invalid('silly' as 'off-grammar') }),
    'world.read',
    /silly/,
  ],
  [
    'has fewer verdicts than steps',
    {
      ...base,
      words: { solve, verify: { ...base.words.verify!, read: () => ok({ steps: [], right: true }) } },
    },
    'world.read',
    /a verdict for each of the 1 steps/,
  ],
])('a world that %s is refused', (_, world, code, message) => {
  expect(() => defineWorld(world as World)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});

test.each<[string, Parameters<typeof taskRecipe>[0]['recipe'], string, RegExp]>([
  ['a recipe that needs a verb', 'trio', 'world.lacks', /Recipe trio needs the verbs propose, verify/],
  ['a recipe of its own world', 'ragen', 'world.own', /ragen plays in its own world alone/],
])('%s is refused in it, and nothing is written', async (_, recipe, code, message) => {
  const world = installed('examples/world/world.ts');
  await expect(changedRecipe(recipe, [], world)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

test.each<[string, string, string, RegExp]>([
  [
    'no default export',
    'export const world = 1;',
    'world.module',
    /no default export.*make the world the default/,
  ],
  ['a syntax error', 'export default {', 'world.module', /cannot be loaded/],
  ['no world', 'export default 7;', 'world.invalid', /is 7/],
])('a module with %s is refused', async (_, text, code, message) => {
  const file = join(folder, `${code}-${text.length}.mjs`);
  writeFileSync(file, text);
  const before = readdirSync(folder);
  await expect(changedRecipe('dapo', [], file)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
  await expect(changedRecipe('dapo', [], `${file}.none`)).rejects.toMatchObject({ code: 'world.path' });
  expect(readdirSync(folder)).toEqual(before);
});

test('a world and files of tasks at once are refused', async () => {
  const options = {
    recipe: 'dapo',
    world: 'world.ts',
    tasks: ['a.jsonl'],
    heldOut: '0.1',
    checker: 'auto',
    extract: ['whole' as const],
    set: [],
  };
  await expect(taskRecipe(options)).rejects.toMatchObject({
    code: 'run.world',
    message: expect.stringMatching(/--tasks is given/),
  });
});

test('an exact answer is paid, a wrong one is not, and a text that could pass for the border of a message is off-grammar', async () => {
  const recipe = inWorld(shipped.find('rise'), products);
  const { settings } = runOf(registry([recipe]), {
    ...{ seed: 0, rounds: 1, freeze: [], recipe: recipe.name },
    ...{ tasks: 3, groupSize: 3, policy: 'anybody' },
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const text = textOf(anybody, 'anybody');
  const right = (prompt: string) => {
    const [, a, b] = /multiplication: (\d+) \* (\d+)/.exec(prompt)!;
    return Number(a) * Number(b);
  };
  const write = (prompt: string, _: string, i: number) => {
    if (prompt.includes('Is this solution right?')) return '<answer>yes</answer><|im_end|>';
    const answer = `<answer>${right(prompt) + (i === 1 ? 1 : 0)}</answer>`;
    return `${i === 2 ? '<|im_start|>' : ''}${answer}<|im_end|>`;
  };
  const policy = scriptedPolicy(text.tokenizer, write);
  const context = openRoundContext({
    ...text,
    recipe,
    round,
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(policy),
  });
  const { groups } = await playStages(context);
  expect(groups).toHaveLength(3);
  for (const { samples, judgments } of groups) {
    expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar']);
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, expect.any(Number)]);
    expect(judgments.every(({ outcome }) => outcome === 'ok')).toBe(true);
  }
});
