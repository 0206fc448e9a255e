/** The table of what training adds, from runs written by hand. */
import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { skillTable } from '../../cli/skill-table.ts';

const { claim } = claimed.find('trio-in-composition');
const run = (start: number, end: number) => ({
  tokens: { generated: 200_400, trained: 1 },
  heldout: [
    {
      figures: {
        'solved.3': 0.5,
        'solved.4': start,
        'pass1.4': start,
        'pass64.4': 0.5,
        'best.4': 0.25,
        'majority.4': 0.125,
      },
    },
    { figures: { 'solved.3': 1, 'solved.4': end, 'pass1.4': end, 'pass64.4': 1 } },
  ],
});

test('version 0 stands before the arms, with what it can do without training; what was not asked is a dash', () => {
  const arms = [{ name: 'trained', runs: [run(0, 0.75), run(0.25, 0.75)] }];
  const rows = skillTable({ arms } as never, claim).map((line) => line.split(' | '));
  const at = (name: string) => rows.find(([first]) => first === `| ${name}`)!;
  // Depth 3 and 4 are columns 5 and 6, behind the name, starts, tokens, depths 1 and 2. The mean of 0 and .25 with t = 12.7 for one degree of freedom.
  expect(at('version 0, greedy').slice(5, 7)).toEqual(['50', '13 (0 to 100)']);
  expect(at('version 0, best temperature').slice(5, 7)).toEqual(['–', '25']);
  expect(at('version 0, majority of 64, answers alone')[6]).toBe('13');
  expect(at('trained').slice(1, 3)).toEqual(['2', '200']);
  expect(at('trained').slice(5, 7)).toEqual(['100', '75']);
  expect(at('trained')[8]).toBe('75 / 100');
  expect(skillTable({ arms } as never, {})).toEqual([]);
});
