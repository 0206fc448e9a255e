/** Self-rewarding by hand: which pairs scores make, and what of a gain is length. */
import { expect, test } from 'vitest';
import { openStage } from '../../core/roles/stage.ts';
import { type Answered, pointsAtLengths } from '../../core/roles/style-exam.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import type { LearnTools } from '../../core/training.ts';
import { pairsOf, selfRewarding } from '../../recipes/self-rewarding.ts';
import { scriptedPolicy, textTokenizer } from '../roles/scripted-policy.ts';

const group = (rewards: readonly (number | null)[]): ScoredGroup => ({
  round: '0'.repeat(32),
  group: '1'.repeat(32),
  index: 0,
  task: 'az 2-4:tok bel ana dim',
  proposal: null,
  judgments: [],
  gold: rewards.map(() => null),
  truth: rewards.map(() => null),
  samples: rewards.map((reward, i) => ({
    id: String(i).repeat(32),
    role: 'responder',
    policy: { name: 'p', version: 0 },
    prompt: [9],
    ids: [i],
    logprobs: [0],
    stopped: true,
    outcome: 'ok',
    rewards: { reward },
  })),
});
const seq = (i: number) => ({ prompt: [9], ids: [i] });

test('best against worst by score; ties and unscored responses make no pair', () => {
  expect(
    pairsOf([group([3, 4.5, 2, null]), group([4, 4, 4, 4]), group([null, 5, null, null]), group([0, 1])]),
  ).toEqual([
    { chosen: seq(1), rejected: seq(2) },
    { chosen: seq(1), rejected: seq(0) },
  ]);
});

const answered = (response: string | null, score: number): Answered => ({ task: '', response, score });

test('a gain that is length alone is none at the lengths of the start', () => {
  // Short responses earn 2 points, long ones 4, before and after; only their shares change.
  const start = [answered('a b', 2), answered('a b', 2), answered('a b', 2), answered('a b c', 4)];
  const later = [answered('a b', 2), answered('a b c', 4), answered('a b c', 4), answered('a b c', 4)];
  expect(pointsAtLengths(start, start)).toBe(2.5);
  expect(pointsAtLengths(later, start)).toBe(2.5);
  // Better at one length: 3/4 of 3 and 1/4 of 4.
  expect(pointsAtLengths([answered('c d', 3), answered('a b c', 4)], start)).toBe(3.25);
  // A length that is gone does not count; what is no response is a length of its own.
  expect(pointsAtLengths([answered('a b c', 4)], start)).toBe(4);
  expect(pointsAtLengths([answered(null, 0), answered('a', 3)], [answered(null, 0), answered('a', 1)])).toBe(
    1.5,
  );
});

const settings = {
  recipe: 'self-rewarding',
  seed: 0,
  policy: 'p',
  reward: 'judge',
  freeze: [],
  tasks: 2,
  group: 4,
};

test('a round: three scores a response, their mean is what it is worth, and the pair follows them', async () => {
  const tokenizer = textTokenizer();
  const responses = ['<answer>ana bel<eos>', '<answer>ana<eos>', 'ana bel<eos>', '<answer>dim dim dim<eos>'];
  // Digits for two words, for one, for three: 4; 1, 2 and 3; none that can be read.
  const digits = { 2: ['4', '4', '4'], 1: ['1', '2', '3'], 3: ['9', 'ok', '33'] } as Record<number, string[]>;
  const policy = scriptedPolicy(tokenizer, (prompt, _id, i) => {
    if (prompt.startsWith('<solve>')) return responses[i]!;
    const response = prompt.split('<sep>')[1]!;
    return `${digits[response.split(' ').length]![i]}<eos>`;
  });
  const { propose, rollOut, judge, learn } = selfRewarding;
  const round = roundOf(settings, { responder: {}, judge: {} }, 1, 3);
  const stage = openStage({
    recipe: selfRewarding,
    round,
    tokenizer,
    memory: () => Promise.resolve(undefined),
    use: (_ref, work) => work(policy),
  });
  const proposals = await propose(stage);
  const groups = await judge(stage, await rollOut(stage, proposals.tasks));
  expect(groups).toHaveLength(2);
  for (const { samples, judgments } of groups) {
    // What is no response is worth nothing; what has no readable score is missing, which is not nothing.
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([0.8, 0.4, 0, null]);
    expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar', 'ok']);
    expect(judgments.map(({ of }) => samples.findIndex(({ id }) => id === of))).toEqual([
      0, 0, 0, 1, 1, 1, 3, 3, 3,
    ]);
  }
  const tools = { decode: (ids) => tokenizer.decode(ids) } as LearnTools;
  const lesson = await learn({ round, proposals, groups, memory: undefined, version: 3 }, tools);
  const [part] = lesson.updates[0]!.parts;
  expect(part).toMatchObject({
    kind: 'preference',
    objective: { kind: 'dpo', beta: 0.1 },
    reference: { set: 'main', version: 3 },
    pairs: groups.map(({ samples }) => ({
      chosen: { ids: samples[0]!.ids },
      rejected: { ids: samples[2]!.ids },
    })),
  });
});
