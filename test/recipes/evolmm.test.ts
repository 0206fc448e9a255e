import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { agreementPay, answerEntropy, questionPay } from '../../recipes/evolmm/recipe.ts';
import { shipped } from '../../recipes/index.ts';
import { canvas } from '../../worlds/canvas/family.ts';
import { type Played, play } from './play-questions.ts';

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5));

test('rewards by hand', () => {
  // 0.6^0.7 and 0.4^0.7; nine words are half of the way from six to twelve, and thirty are beyond it.
  expect([agreementPay(0.6, 0), agreementPay(0.4, 6), agreementPay(1, 9), agreementPay(1, 30)]).toEqual(
    close([0.699373, 0.526552, 0.95, 0.9]),
  );
  // −0.6 ln 0.6 − 0.4 ln 0.4; what cannot be read is like nothing else: ln 5.
  const split = ['a', 'a', 'a', 'b', 'b'];
  const unread = [null, null, null, null, null];
  expect([answerEntropy(split), answerEntropy(unread)]).toEqual(close([0.673012, 1.609438]));
  // exp(−0.226988²/0.245), exp(−0.81/0.245) and exp(−0.709438²/0.245).
  const alike = ['a', 'a', 'a', 'a', 'a'];
  expect([split, alike, unread].map((answers) => questionPay(answers))).toEqual(
    close([0.810338, 0.036657, 0.128183]),
  );
  expect([split, alike, unread].map((answers) => questionPay(answers, 'discrete'))).toEqual([1, 0, 0]);
});

/** The proposer asks “Say four”, and three of five answers are alike. */
const ask = (more: Partial<Played> = {}) =>
  play({
    recipe: 'evolmm',
    tasks: 1,
    groupSize: 5,
    says: (role) => (role === 'proposer' ? ['Say four'] : ['a', 'a', 'a', 'b', 'b']),
    ...more,
  });
const advantagesOf = ({ parts }: { readonly parts: readonly unknown[] }) =>
  (parts[0] as PolicyPart).items.map(({ advantage }) => advantage as number);

test('a round: agreement pays the solver, and running means are its baseline', async () => {
  const { proposals, groups, plan } = await ask();
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok']);
  expect(JSON.parse(groups[0]!.task).messages).toEqual([{ role: 'user', content: 'Say four' }]);
  const [most, rest] = [0.699373, 0.526552];
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual(
    close([most, most, most, rest, rest]),
  );
  expect(plan.earnings).toEqual({ [proposals.samples[0]!.id]: expect.closeTo(0.810338, 5) });
  // The first baseline is the mean of the batch, (3 · 0.699373 + 2 · 0.526552)/5; the proposer is not trained yet.
  expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
  expect(advantagesOf(plan.updates[0]!)).toEqual(close([0.069128, 0.069128, 0.069128, -0.103693, -0.103693]));
  // Nothing has moved from the start: e^−0.1 of the weight is left.
  expect(plan.recipeState).toEqual({
    solver: { baseline: expect.closeTo(0.630245, 5), klWeight: expect.closeTo(0.000904837, 9) },
    proposer: { baseline: null, klWeight: 0.001 },
  });
  expect(plan.updates[0]!.parts[0]).toMatchObject({
    objective: { kind: 'reinforce' },
    aggregation: { mode: 'seq-mean-token-mean' },
    kl: { weight: 0.001, estimator: 'k3', reference: { set: 'main', version: 0 } },
  });
  expect(plan.figures).toMatchObject({ entropy: expect.closeTo(0.673012, 5), agreement: 0.6 });
});

test('what is carried on: baselines, and weights of the KL term that a divergence moves', async () => {
  const recipeState = {
    solver: { baseline: 0.5, klWeight: 0.002 },
    proposer: { baseline: 0.25, klWeight: 0.001 },
  };
  const round = { index: 5, recipeState, atStart: -1.5 };
  const { plan } = await ask(round);
  expect(plan.updates.map(({ set }) => set)).toEqual(['main', 'proposer']);
  expect(advantagesOf(plan.updates[0]!)).toEqual(close([0.199373, 0.199373, 0.199373, 0.026552, 0.026552]));
  expect(advantagesOf(plan.updates[1]!)).toEqual(close([0.560338]));
  // e^−0.5 − 1 + 0.5 = 0.106531 nats a token: both weights grow by exp(0.1 · (0.106531 − 0.02)/0.02) = 1.541342.
  expect(plan.recipeState).toEqual({
    solver: { baseline: expect.closeTo(0.513024, 5), klWeight: expect.closeTo(0.00308268, 7) },
    proposer: { baseline: expect.closeTo(0.306034, 5), klWeight: expect.closeTo(0.00154134, 7) },
  });
  // At e^5 − 1 − 5 = 142 nats it would be beyond every bound.
  const far = await ask({ ...round, atStart: 4 });
  expect(far.plan.recipeState).toMatchObject({ solver: { klWeight: 1 }, proposer: { klWeight: 1 } });
  const fixed = await ask({ ...round, variant: 'fixed-kl' });
  expect(fixed.plan.recipeState).toMatchObject({
    solver: { klWeight: 0.002 },
    proposer: { klWeight: 0.001 },
  });
});

test('variants: a majority pays 1, and nobody proposes', async () => {
  const discrete = await ask({ variant: 'discrete' });
  expect(discrete.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 0, 0]);
  expect(Object.values(discrete.plan.earnings)).toEqual([1]);
  const given = await ask({ variant: 'given-questions', index: 5 });
  expect(given.proposals.samples).toEqual([]);
  expect(given.plan.updates.map(({ set }) => set)).toEqual(['main']);
});

test('words before an answer cost, and a question that cannot be read earns nothing', async () => {
  const nine = 'one two three four five six seven eight nine <answer>a</answer>';
  const { groups, proposals, plan } = await ask({
    given: { settings: { maxNew: 80 } },
    says: (role) => (role === 'proposer' ? ['  '] : [nine, 'a', 'a', 'a', 'a']),
  });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual(close([0.95, 1, 1, 1, 1]));
  // A question of the file takes its place.
  expect(groups[0]!.proposal).toBeNull();
  expect(plan.earnings).toEqual({ [proposals.samples[0]!.id]: 0 });
});

test('on canvases the control shows the solver another picture than the one that is asked about', async () => {
  const shownIn = async (variant: string) => {
    const prompts: string[] = [];
    const { groups } = await playWritten(
      shipped.find('evolmm'),
      (prompt) => {
        prompts.push(prompt);
        return 'x<eos>';
      },
      {
        variant,
        tasks: 1,
        groupSize: 1,
        tools: { score: async (_, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)) },
      },
    );
    return { own: canvas.solverPrompt(groups[0]!.task), shown: prompts.at(-1)! };
  };
  const given = await shownIn('given-questions');
  expect(given.shown).toBe(given.own);
  const blind = await shownIn('other-pictures');
  const question = (prompt: string) => prompt.replace(/^<image:[^>]+>/, '');
  expect(question(blind.shown)).toBe(question(blind.own));
  expect(blind.shown).not.toBe(blind.own);
});
