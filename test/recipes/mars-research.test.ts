import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { playWritten } from '../../local/testing/index.ts';
import { packed } from '../../protocols/searcher.ts';
import { shipped } from '../../recipes/index.ts';
import { resampled } from '../../recipes/mars-research/recipe.ts';
import { answerOf, theWorld } from '../../worlds/knowledge/episode.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const marsResearch = shipped.find('mars-research');

test('texts go into as few parts as first-fit-decreasing finds, and long ones are cut', () => {
  // The longest first: 5, 4, 3 (beside the 5), 3 (beside the 4), 2, which no part of 8 has room for.
  expect(packed(['aa', 'bbb', 'ccccc', 'ddd', 'eeee'], 8)).toEqual([
    ['bbb', 'ccccc'],
    ['ddd', 'eeee'],
    ['aa'],
  ]);
  expect(packed(['abcdefghij'], 4)).toEqual([['abcd'], ['efgh'], ['ij']]);
  expect(packed([], 4)).toEqual([]);
});

test('as many items as wanted are taken, each as often as any other but for one', () => {
  const random = () => new Random('balance');
  expect(resampled([1, 2, 3], 3, random())).toEqual([1, 2, 3]);
  const fewer = resampled([1, 2, 3, 4], 2, random());
  expect(fewer).toHaveLength(2);
  expect(new Set(fewer).size).toBe(2);
  const more = resampled([1, 2, 3], 7, random());
  expect([1, 2, 3].map((one) => more.filter((other) => other === one).length).sort()).toEqual([2, 2, 3]);
  expect(resampled([], 4, random())).toEqual([]);
});

const LONG = 'Nothing of it matters. '.repeat(140);
const documents = [
  `${LONG}The south tower is 55 metres high.`,
  `${LONG}The south tower has 3 doors.`,
  'The mill has a wheel.',
];

/** Two episodes about the south tower: one searches, finds two long documents and answers; the other answers at once, wrongly. */
const searched = (variant?: string) => {
  const prompts: [string, string][] = [];
  const says = (role: string, prompt: string): readonly string[] => {
    prompts.push([role, prompt]);
    if (role === 'reader')
      return [prompt.includes('55 metres') ? 'It is 55 metres high.' : 'It has 3 doors.'];
    if (prompt.includes('Found:')) return ['<answer>55</answer>'];
    return ['<search>south tower</search>', '<answer>40</answer>'];
  };
  const tasks = [{ ...sayTask('How high is it?', '55', 1), metadata: { documents } }];
  return play({
    recipe: 'mars-research',
    tasks: 1,
    groupSize: 2,
    positions: 8192,
    given: { sources: [{ weight: 1, tasks }] },
    says,
    ...(variant ? { variant } : {}),
  }).then((played) => ({ ...played, prompts }));
};

test('a round: the reader reads in parts, the searcher sees what it writes, and both are paid for the answer', async () => {
  const { groups, plan, prompts, read } = await searched();
  const [{ samples }] = groups as [(typeof groups)[0]];
  expect(samples.map((sample) => [sample.role, read(sample), sample.about ?? 'search', sample.turn])).toEqual(
    [
      ['searcher', '<search>south tower</search>', 'search', 0],
      ['reader', expect.stringMatching(/^It /), 'digest', 1],
      ['reader', expect.stringMatching(/^It /), 'digest', 2],
      ['searcher', '<answer>55</answer>', 'search', 3],
      ['searcher', '<answer>40</answer>', 'search', 0],
    ],
  );
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 1, 0]);
  expect(samples.map(({ episode }) => episode)).toEqual([0, 0, 0, 0, 1]);
  // Documents of 3254 and 3248 characters do not fit into one part of 4000.
  const read1 = prompts.filter(([role]) => role === 'reader').map(([, prompt]) => prompt);
  expect(read1.map((prompt) => prompt.includes('55 metres'))).toEqual([true, false]);
  const last = prompts.findLast(([role]) => role === 'searcher')![1];
  expect(last).toContain('1. It is 55 metres high.\n2. It has 3 doors.');
  expect(last).not.toContain('Nothing of it matters');
  // The searcher's episodes earn 1 and 0; the reader's texts all earn 1, which says nothing.
  const [searcher, reader] = plan.updates[0]!.parts as [PolicyPart, PolicyPart];
  expect(searcher.items.map(({ advantage }) => advantage)).toEqual(
    [Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2].map((value) => expect.closeTo(value, 5)),
  );
  // Two texts are drawn as three, and each part weighs as its share of the tokens.
  expect(reader.items.map(({ advantage }) => advantage)).toEqual([0, 0, 0]);
  const tokens = [searcher, reader].map(({ items }) =>
    items.reduce((sum, { sample }) => sum + sample.ids.length, 0),
  ) as [number, number];
  expect(searcher.weight).toBeCloseTo(tokens[0] / (tokens[0] + tokens[1]), 12);
  expect(searcher.weight + reader.weight).toBeCloseTo(1, 12);
  expect(plan.figures).toEqual({ searches: 0.5, digests: 1, recall: 1 });
});

test('variants: no reader, one that is not trained, and all of its texts', async () => {
  const cut = await searched('truncation');
  expect(cut.groups[0]!.samples.map(({ role }) => role)).toEqual(['searcher', 'searcher', 'searcher']);
  const last = cut.prompts.at(-1)![1];
  expect(last).toContain(`1. ${LONG.slice(0, 200)}\n`);
  expect(last).not.toContain('55 metres');
  expect(cut.plan.figures).toMatchObject({ digests: 0, recall: 0 });
  const frozen = await searched('pinned-reader');
  expect(frozen.round.roles.reader).toMatchObject({ version: 0 });
  expect(frozen.plan.updates[0]!.parts.map(({ role }) => role)).toEqual(['searcher']);
  const all = (await searched('unbalanced')).plan.updates[0]!.parts as PolicyPart[];
  expect(all.map(({ items }) => items.length)).toEqual([3, 2]);
});

test('among one-line documents the reader answers the search by a name, which is told as a document', async () => {
  const shown: string[] = [];
  const { groups } = await playWritten(
    marsResearch,
    (prompt) => {
      shown.push(prompt);
      const question = /<solve>(.*?)<sep>/.exec(prompt)![1]!;
      const [, base] = /(\w+)\?$/.exec(question)!;
      // The start of a question over two documents or more: the reader's is over one.
      if (!question.startsWith(`the home of ${base}`))
        return prompt.includes('<step>?')
          ? `<answer>${answerOf(theWorld(), question)}<eos>`
          : `<step>?home ${base}<eos>`;
      return '<answer>bakido<eos>';
    },
    { tasks: 1, groupSize: 1 },
  );
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ role }) => role)).toEqual(['searcher', 'reader', 'searcher']);
  expect(answersExact).toEqual([true, true, true]);
  const base = /<step>\?home (\w+)<eos>/.exec(shown[1]!)![1]!;
  const [found] = theWorld().index.search(`home ${base}`, 1);
  expect(shown[1]).toBe(`<solve>the home of ${base}?<sep><step>?home ${base}<eos>${found}<sep>`);
  expect(shown[2]).toContain(`<eos>the home of ${base} is bakido.<sep>`);
});
