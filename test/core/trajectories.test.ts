import { describe, expect, test } from 'vitest';
import { type EpisodeKind, isPicked, rowOf, trajectoriesOf } from '../../core/runs/trajectories.ts';
import type { GroupContent, ReadableSample } from '../../core/schema/answers.ts';

const said = (id: string, more: Partial<ReadableSample> = {}): ReadableSample => ({
  id,
  role: 'solver',
  policy: { name: 'run', version: 3 },
  prompt: [1, 2],
  ids: [5, 6],
  logprobs: [-0.5, -1.25],
  stopped: true,
  outcome: 'ok',
  rewards: { exact: 1 },
  text: { prompt: 'q', completion: `says ${id}`, parts: [], seen: [], tokens: ['a', 'b'] },
  ...more,
});

const group = (more: Partial<GroupContent>): GroupContent => ({
  group: 'g',
  index: 0,
  task: '2+3',
  state: 'trained',
  sha256: null,
  mac: null,
  failure: null,
  proposal: [],
  title: [],
  samples: [],
  judgments: [],
  answersExact: [],
  solutionsExact: [],
  endings: {},
  ...more,
});

test('the turns of an episode are one trajectory, with the verdicts on it', () => {
  const judge = said('j', {
    role: 'judge',
    of: 'a',
    policy: { name: 'run', version: 3, set: 'judge' },
    oracle: { right: true, hit: false },
  });
  const content = group({
    samples: [
      said('a'),
      said('b', { rewards: { exact: 0 } }),
      said('a2', { of: 'a', turn: 1, prompt: [1, 2, 5, 6, 9] }),
    ],
    answersExact: [true, null, true],
    solutionsExact: [false, null, false],
    judgments: [judge],
  });
  const [first, second] = trajectoriesOf(7, content);
  expect(trajectoriesOf(7, content)).toHaveLength(2);
  expect(first).toMatchObject({
    round: 7,
    id: 'a',
    role: 'solver',
    policy: 'run@3',
    answerExact: true,
    solutionExact: false,
  });
  expect(first!.turns.map(({ promptIds }) => promptIds)).toEqual([
    [1, 2],
    [1, 2, 5, 6, 9],
  ]);
  expect(first!.verdicts).toEqual([
    {
      role: 'judge',
      policy: 'run@3/judge',
      text: 'says j',
      outcome: 'ok',
      rewards: { exact: 1 },
      agrees: false,
    },
  ]);
  expect(second).toMatchObject({ id: 'b', answerExact: null, verdicts: [] });
  expect(rowOf('r', second!)).toMatchObject({
    run: 'r',
    answer_exact: null,
    turns: [{ prompt_ids: [1, 2], token_ids: [5, 6], logprobs: [-0.5, -1.25], rewards: { exact: 0 } }],
  });
});

test('a group without a record has none', () => {
  expect(trajectoriesOf(1, group({ samples: null, judgments: null, answersExact: null }))).toEqual([]);
});

describe('episodes are picked for', () => {
  const kindsOf = (
    sample: Partial<ReadableSample>,
    exact: boolean | null,
    judged: Partial<ReadableSample>[] = [],
  ) => {
    const [episode] = trajectoriesOf(
      1,
      group({
        samples: [said('a', sample)],
        answersExact: [exact],
        judgments: judged.map((judgment) => said('j', { of: 'a', ...judgment })),
      }),
    );
    const all: EpisodeKind[] = ['right', 'wrong', 'invalid', 'cut-off', 'missing', 'misjudged'];
    expect(isPicked(episode!, [])).toBe(true);
    return all.filter((kind) => isPicked(episode!, [kind]));
  };

  test.each([
    ['right', {}, true, []],
    ['wrong', {}, false, []],
    ['invalid', { outcome: 'off-grammar' }, null, []],
    ['cut-off', { stopped: false }, null, []],
    ['missing', { rewards: { exact: 1, service: null } }, null, []],
    ['misjudged', {}, null, [{ oracle: { right: true, hit: false } }]],
  ] as const)('%s', (kind, sample, exact, judged) => {
    expect(kindsOf(sample, exact, [...judged])).toEqual([kind]);
  });

  test('nothing of the kind', () => {
    expect(kindsOf({}, null, [{ oracle: { right: true, hit: true } }])).toEqual([]);
  });
});
