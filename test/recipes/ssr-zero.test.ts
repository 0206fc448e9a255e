import { expect, test } from 'vitest';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { scoreOf } from '../../recipes/ssr-zero/recipe.ts';
import { lookalike, meaningOf, translationOf } from '../../worlds/cipher/family.ts';
import { policyPart } from './play-solver.ts';

const ssrZero = shipped.find('ssr-zero');

test('a judgment’s score is the share of the words that it marks as right', () => {
  expect(scoreOf(ok({ steps: [true, true, false, true, true, true], right: false }))).toBeCloseTo(5 / 6, 12);
  expect(scoreOf(invalid('off-grammar'))).toBe(0);
  expect(scoreOf(undefined)).toBe(0);
});

const MARKS = ['<ok>', '<ok>', '<ok>', '<ok>', '<ok>', '<ok>'];
const verdict = (bad: number) =>
  `${MARKS.map((mark, i) => (i < bad ? '<bad>' : mark)).join('')}${bad ? '<wrong>' : '<right>'}<eos>`;

/**
 * One sentence with three translations: an exact one, one whose first word is wrong, and none. `verdicts` is what is said of the first and the
 * second by the number of bad marks; null is a judgment that does not parse.
 */
async function play({
  verdicts = [3, 0],
  ...more
}: WriteOptions & { verdicts?: readonly (number | null)[] } = {}) {
  const prompts: string[] = [];
  const played = await playWritten(
    ssrZero,
    (prompt, i) => {
      const [sentence, said] = prompt.replace(/^<\w+>/, '').split('<sep>') as [string, string];
      const exact = translationOf(sentence);
      if (prompt.startsWith('<judge>')) {
        prompts.push(prompt);
        const bad = verdicts[said === exact ? 0 : 1]!;
        return bad === null ? '<ok><eos>' : verdict(bad);
      }
      const wrong = lookalike(meaningOf(exact[0]!)) + exact.slice(1);
      return [`${exact}<eos>`, `${wrong}<eos>`, 'hm<eos>'][i]!;
    },
    { tasks: 1, groupSize: 3, seed: 1, ...more },
  );
  const group = played.groups[0]!;
  return { ...played, group, prompts, rewards: group.samples.map(({ rewards }) => rewards.reward) };
}

test('a translation earns what the policy says of it, right or wrong, and judgments are not trained', async () => {
  const { group, rewards, prompts, plan } = await play();
  expect(prompts).toHaveLength(2);
  expect(prompts[0]).toBe(`<judge>${group.task}<sep>${translationOf(group.task)}<sep>`);
  expect(rewards).toEqual([0.5, 1, 0].map((r) => expect.closeTo(r, 12)));
  expect(
    group.judgments.map(({ role, of, rewards: { score }, oracle }) => [role, of, score, oracle]),
  ).toEqual([
    ['judge', group.samples[0]!.id, 0.5, { right: true, hit: false }],
    ['judge', group.samples[1]!.id, 1, { right: false, hit: false }],
  ]);
  // The mean is 1/2 and the deviation √((0 + 1/4 + 1/4) / 2) = 1/2.
  expect(plan.updates).toHaveLength(1);
  expect(plan.updates[0]!.parts).toHaveLength(1);
  const { role, items } = policyPart(plan);
  expect(role).toBe('solver');
  expect(items.map(({ advantage }) => advantage)).toEqual([0, 1, -1].map((a) => expect.closeTo(a, 3)));
  // All six words of the first and five of the second are right: scores are off by -1/2 and by 1/6.
  expect(plan.figures).toEqual({
    wordsRight: expect.closeTo(11 / 12, 12),
    overrated: expect.closeTo(-1 / 6, 12),
  });
});

test('a judgment that does not parse is worth nothing', async () => {
  const { rewards } = await play({ verdicts: [null, 0] });
  expect(rewards).toEqual([0, 1, 0]);
});

test('an exact translation is paid 1 more where an exact scorer is added', async () => {
  const { rewards } = await play({ rewardFunction: 'self-and-exact' });
  expect(rewards).toEqual([1.5, 1, 0].map((r) => expect.closeTo(r, 12)));
});

test('a chance judge gives each translation the score of another one', async () => {
  const seen = new Set<string>();
  for (const seed of Array.from({ length: 12 }, (_, i) => i)) {
    const { rewards, group } = await play({ variant: 'chance-judge', seed });
    expect([...rewards].sort()).toEqual([0, 0.5, 1]);
    // What is kept beside the judgments is what was said.
    expect(group.judgments.map(({ rewards: { score } }) => score)).toEqual([0.5, 1]);
    seen.add(rewards.join());
  }
  expect(seen.size).toBeGreaterThan(3);
});
