/** The two arms of each claim that the site lets readers play. */
import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { armsOfHeadline } from '../../cli/site-claims.ts';

const armsOf = (name: string) => armsOfHeadline(claimed.find(name).claim).map((arm) => arm.name);

test('every claim has the arm that it is about and another one that would refute it', () => {
  for (const { name } of claimed.recipes) {
    const arms = armsOf(name);
    expect([name, arms.length, new Set(arms).size]).toEqual([name, 2, 2]);
  }
});

// As the conditions and headlines of these claims are read by people.
test.each([
  ['the headline compares the first arm with another', 'tango', ['tango', 'frozen']],
  ['the first arm is not in the headline', 'trio', ['judge', 'frozen judge']],
  ['the measure subtracts the first arm', 'sppo', ['sppo', 'dpo']],
  ['the headline asks for a smaller figure', 'cot-monitor', ['constrained', 'unconstrained']],
  ['the headline is of one arm, and a coin is the control', 'ttrl', ['ttrl', 'random']],
])('%s', (_, name, arms) => {
  expect(armsOf(name)).toEqual(arms);
});
