import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { logSupport, reliabilities, turnPays } from '../../recipes/siop/recipe.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

test('a cluster is as reliable as its share of the episodes, times e to its evidence', () => {
  // a: 2/4 · e^½, b: 1/4 · e^0; .8243606 and .25 of 1.0743606.
  expect(reliabilities(['a', 'b', null, 'a'], [1, 0, 1, 0])).toEqual(
    [0.767304, 0.232696, 0, 0.767304].map((value) => expect.closeTo(value, 5)),
  );
});

test('the support is the mean over answers of e to their mean log-probability', () => {
  // (e^−2 + e^−1) / 2 = (.1353353 + .3678794) / 2.
  expect(logSupport([[-1, -3], [-1]])).toBeCloseTo(Math.log(0.2516074), 6);
});

test('a search is paid the rise of the support, and the answer half of its reliability', () => {
  expect(turnPays([-3, -1, -1.5], 0.8)).toEqual([1.6, -0.4, 0.4].map((value) => expect.closeTo(value, 9)));
  expect(turnPays([-3], 0.8)).toEqual([0.4]);
});

const documents = [
  'The north tower is 40 metres high.',
  'The south tower is 55 metres high.',
  'The mill has a wheel.',
];
const FIRST = 'How high is the south tower?';

/** Four episodes: two find 55, one by a detour; one says 40 at once, and one writes no answer. */
const searched = (variant?: string, reward?: string) => {
  const scored: string[] = [];
  const says = (_: string, prompt: string): readonly string[] => {
    if (prompt.includes('<search>south tower</search>')) return ['<answer>55</answer>'];
    if (prompt.includes('<search>mill</search>')) return ['<search>south tower</search>'];
    return [
      '<search>mill</search>',
      '<search>south tower</search>',
      '<answer>40</answer>',
      '<search> </search>',
    ];
  };
  const finds = (role: string, prompt: string, text: string) => {
    scored.push(`${role} ${text}`);
    if (!prompt.includes('Found')) return -4;
    return prompt.includes('1. The south tower is 55') ? -1 : -5;
  };
  const tasks = [{ ...sayTask(FIRST, '55', 1), metadata: { documents } }];
  return play({
    recipe: 'siop',
    tasks: 1,
    groupSize: 4,
    given: { sources: [{ weight: 1, tasks }] },
    says,
    finds,
    ...(variant ? { variant } : {}),
    ...(reward ? { reward } : {}),
  }).then((played) => ({ ...played, scored }));
};
const itemsOf = ({ plan }: Awaited<ReturnType<typeof searched>>) =>
  (plan.updates[0]!.parts[0] as PolicyPart).items;

test('a round: each search is paid by what it does for the answer of its cluster', async () => {
  const played = await searched();
  const [{ samples, answersExact }] = played.groups as [(typeof played.groups)[0]];
  // Shares: 2/4 · e and 1/4 · e^0 weigh 1.3591409 and .25, so that q is .8446367 and .1553633.
  const [q, other] = [0.8446367, 0.1553633];
  expect(samples.map(({ rewards }) => rewards.turn)).toEqual(
    [-q, 4 * q, q / 2, 3 * q, q / 2, other / 2, 0].map((value) => expect.closeTo(value, 5)),
  );
  expect(samples[0]!.rewards.reward).toBeCloseTo(3.5 * q, 5);
  expect(answersExact).toEqual([true, true, true, true, true, false, null]);
  // Three prompts with one text each (both of the cluster write the same), and one of the other cluster.
  expect(played.scored.filter((text) => text.includes('55'))).toHaveLength(4);
  expect(played.scored.filter((text) => text.includes('40'))).toHaveLength(1);
  expect(new Set(played.scored.map((text) => text.split(' ')[0]))).toEqual(new Set(['scorer']));
  // In units of q the pays are −1, 4, .5, 3, .5, .0919703 and 0: mean 1.0131386, deviation (of 7) 1.66147.
  const toGo = [3.5, 4.5, 0.5, 3.5, 0.5, 0.0919703, 0];
  const turns = [3, 2, 1, 2, 1, 1, 1];
  expect(itemsOf(played).map(({ advantage }) => advantage)).toEqual(
    toGo.map((sum, i) => expect.closeTo((sum - turns[i]! * 1.0131386) / 1.66147, 3)),
  );
  // The finding searches are paid 4q and 3q, the other one −q.
  expect(played.plan.figures!.creditAtFind).toBeCloseTo(4.5 * q, 5);
  expect(played.plan.figures!.agreement).toBe(0.5);
});

test('variants: the majority pays outcomes, and broadcast credits all turns alike', async () => {
  const majority = await searched('majority');
  expect(majority.groups[0]!.samples.map(({ rewards }) => rewards.turn)).toEqual([0, 0, 1, 0, 1, 0, 0]);
  expect(majority.scored).toEqual([]);
  const [first, second, third] = itemsOf(await searched('broadcast')).map(({ advantage }) => advantage);
  expect([second, third]).toEqual([first, first]);
});

test('the controls and the upper bound pay the end of an episode', async () => {
  const paid = async (reward: string) =>
    (await searched(undefined, reward)).groups[0]!.samples.map(({ rewards }) => rewards.turn);
  expect(await paid('exact')).toEqual([0, 0, 1, 0, 1, 0, 0]);
  expect(await paid('format')).toEqual([0, 0, 1, 0, 1, 1, 0]);
});
