/** What shipped policies are said to speak, held to what their warm starts demonstrate and to what is shipped. */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { expectSpeaks, STARTS } from '../../worlds/starts.ts';
import { warmStarts } from '../../worlds/warm-starts.ts';

test('every shipped policy is in the table, and nothing else', () => {
  expect(Object.keys(STARTS).sort()).toEqual(
    readdirSync('models')
      .filter((name) => existsSync(`models/${name}/config.json`))
      .sort(),
  );
});

test.each(Object.entries(STARTS).map(([name, start]) => ({ name, ...start })))(
  '$name speaks exactly the roles that its warm start demonstrates',
  ({ name, roles }) => {
    const random = new Random(`starts/${name}`);
    const { demonstrate } = warmStarts[name]!;
    const shown = Array.from({ length: 300 }, () => demonstrate(random).role);
    expect([...new Set(shown)].sort()).toEqual([...roles].sort());
  },
);

describe('a recipe and its start', () => {
  test.each(recipes)('$name begins from a policy that speaks its family and its roles', (recipe) => {
    expect(() => expectSpeaks(recipe)).not.toThrow();
  });

  const trio = recipes.find(({ name }) => name === 'trio')!;
  test('that was taught another family is refused by name', () => {
    expect(() => expectSpeaks({ ...trio, startPolicy: 'arithmetic-verbose' })).toThrow(
      /trio begins from arithmetic-verbose, which was not taught the family "arithmetic".*arithmetic with checks.*arithmetic-base/s,
    );
  });
  test('that was taught the family and not a role is refused by name', () => {
    expect(() => expectSpeaks({ ...trio, startPolicy: 'arithmetic-terse' })).toThrow(
      /trio begins from arithmetic-terse, which was not taught the role "proposer".*solver/s,
    );
  });
  test('that was taught the notation in which a family of its own is written is accepted', () => {
    const own = { ...trio, taskName: 'sums of three' };
    expect(() => expectSpeaks(own)).toThrow(/not taught the family "sums of three".*`writtenAs`/s);
    expect(() => expectSpeaks({ ...own, writtenAs: 'arithmetic' })).not.toThrow();
    expect(() => expectSpeaks({ ...own, writtenAs: 'programs' })).toThrow(/the family "programs"/);
  });
  test('that is not shipped is not judged', () => {
    expect(() => expectSpeaks({ ...trio, startPolicy: 'my-own' })).not.toThrow();
    expect(runOf(shipped, { recipe: 'trio', seed: 0, rounds: 1, freeze: [] }).recipe).toBe(trio);
  });
});
