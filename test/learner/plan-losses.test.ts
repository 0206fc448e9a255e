/**
 * Each kind of part on a batch of two sequences: the loss of the report against one worked in plain numbers from the model's
 * scores, and the direction in which one round moves what the part is about. Version 1 is trained, version 0 is the reference.
 */
import { beforeAll, expect, test } from 'vitest';
import type {
  PolicyPart,
  PreferenceObjective,
  PreferencePart,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import type { Aggregation } from '../../core/rl/aggregation.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { sampleOf, scoresOf, sequences, sum, teach, tensorsOf, trained, version } from './plan-fixture.ts';

const versions = [version('start'), version('now')];
const [first, second] = sequences(4, 7) as [ReturnType<typeof sequences>[0], ReturnType<typeof sequences>[0]];
const both = [first, second];
const start = { set: 'main', version: 0 };
let now: ReturnType<typeof scoresOf>;
let before: ReturnType<typeof scoresOf>;

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  now = scoresOf(versions[1]!, both);
  before = scoresOf(versions[0]!, both);
});

const about = { role: 'solver', weight: 1 } as const;
const train = (part: UpdatePart, epochs = 1) =>
  teach({ updates: [{ set: 'main', parts: [part], epochs }] }, { versions });
/** Sums of log-probabilities after a round minus before it. */
const moved = (files: Awaited<ReturnType<typeof train>>['files']) =>
  scoresOf(files, both).logprobs.map((logprobs, s) => sum(logprobs) - sum(now.logprobs[s]!));
const logRatio = (s: 0 | 1) => sum(now.logprobs[s]!) - sum(before.logprobs[s]!);
const tokens = first.ids.length + second.ids.length;

/** The second sequence was sampled by a policy that gave its tokens more, the first by one that gave them far less. */
const sampled = () =>
  both.map((sequence, s) =>
    sampleOf(
      sequence,
      now.logprobs[s]!.map((p) => p + (s ? 0.4 : -3)),
    ),
  );
const policyPart = (change: Partial<PolicyPart>): PolicyPart => ({
  ...about,
  kind: 'policy',
  items: sampled().map((sample, s) => ({ sample, advantage: s ? -0.5 : 2 })),
  objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'token-mean' },
  ...change,
});

test('policy: clipped surrogate with truncated correction, k3 to the reference, entropy bonus, by token mean', async () => {
  const kl = { weight: 0.3, estimator: 'k3', reference: start } as const;
  const { report, files } = await train(policyPart({ kl, entropy: 0.05 }));
  let loss = 0;
  for (const s of [0, 1] as const)
    for (const [t, p] of now.logprobs[s]!.entries()) {
      // the ratio is 1 before the first update; exp(3) is cut to 2
      const surrogate = s ? 0.5 * Math.exp(-0.4) : -2 * 2;
      const delta = p - before.logprobs[s]![t]!;
      loss += (surrogate + 0.3 * (Math.exp(-delta) - 1 + delta) - 0.05 * now.entropy[s]![t]!) / tokens;
    }
  expect(report.loss).toBeCloseTo(loss, 4);
  expect(report.roles.solver!.entropy).toBeCloseTo(sum(now.entropy.flat()) / tokens, 5);
  expect(report.ratio.max).toBeCloseTo(Math.exp(3), 2);
  const plain = moved((await train(policyPart({}))).files);
  expect(plain[0]).toBeGreaterThan(0);
  expect(plain[1]).toBeLessThan(0);
  expect(moved(files)).not.toEqual(plain);
});

test('policy: advantages a token, a part’s weight, and every aggregation over the whole step', async () => {
  const advantages = both.map(({ ids }, s) => ids.map((_, t) => (s + 1) * (t - 1)));
  // REINFORCE: the loss of a token is -A log p; no correction where the sampler is the policy
  const losses = advantages.map((each, s) => each.map((advantage, t) => -advantage * now.logprobs[s]![t]!));
  const items = both.map((sequence, s) => ({
    sample: sampleOf(sequence, now.logprobs[s]!),
    advantage: advantages[s]!,
  }));
  const [a, b] = [sum(losses[0]!), sum(losses[1]!)];
  const cases: [Aggregation, number][] = [
    [{ mode: 'token-mean' }, (a + b) / 11],
    [{ mode: 'token-sum' }, a + b],
    [{ mode: 'seq-mean-token-mean' }, (a / 4 + b / 7) / 2],
    [{ mode: 'seq-mean-token-sum' }, (a + b) / 2],
    [{ mode: 'seq-sum-constant', length: 10 }, (a + b) / 20],
    [{ mode: 'prompt-mean', groups: ['x', 'y'] }, (a / 4 + b / 7) / 2],
    [{ mode: 'prompt-mean', groups: ['x', 'x'] }, (a + b) / 11],
  ];
  for (const [aggregation, loss] of cases)
    for (const tokenBudget of [8192, 1]) {
      const part = policyPart({ items, objective: { kind: 'reinforce' }, aggregation, weight: 3 });
      const { report } = await teach(
        { updates: [{ set: 'main', parts: [part] }] },
        { versions, tokenBudget },
      );
      expect(report.loss, `${aggregation.mode} ${tokenBudget}`).toBeCloseTo(3 * loss, 3);
    }
});

test('policy: a mask leaves tokens out of every term and divisor, and the band is a hinge on either side', async () => {
  const mask = [
    [0, 1, 0, 1],
    [1, 0, 0, 1, 0, 0, 1],
  ];
  const all = now.entropy.flat();
  const middle = (Math.min(...all) + Math.max(...all)) / 2;
  const bands = [
    { low: middle, high: middle },
    { low: 0, high: middle },
  ];
  const items = both.map((sequence, s) => ({
    sample: sampleOf(sequence, now.logprobs[s]!),
    advantage: s ? -0.5 : 2,
    mask: mask[s]!,
    band: bands[s]!,
  }));
  const kl = { weight: 0.3, estimator: 'k3', reference: start } as const;
  const part = policyPart({ items, kl, entropyBand: 0.7 });
  let loss = 0;
  for (const s of [0, 1] as const)
    for (const [t, p] of now.logprobs[s]!.entries()) {
      const delta = p - before.logprobs[s]![t]!;
      const { low, high } = bands[s]!;
      const beyond = Math.max(0, now.entropy[s]![t]! - high, low - now.entropy[s]![t]!);
      // The ratio is 1 before the first update; five tokens are counted.
      const each = -items[s]!.advantage + 0.3 * (Math.exp(-delta) - 1 + delta) + 0.7 * beyond;
      loss += (mask[s]![t]! * each) / 5;
    }
  for (const tokenBudget of [8192, 1])
    expect(
      (await teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, tokenBudget })).report.loss,
    ).toBeCloseTo(loss, 4);
  // Against a sampler that gave less, each ratio with a positive advantage is clipped: two of the two that count.
  const low = sampled().slice(0, 1);
  const clipped = await train(
    policyPart({ old: 'sampler', items: low.map((sample) => ({ sample, advantage: 2, mask: mask[0]! })) }),
  );
  expect(clipped.report.clipFraction).toBe(1);
});

test('policy: the band alone raises entropy below it, lowers entropy above it, and leaves the rest alone', async () => {
  const band = async (low: number, high: number) => {
    const items = both.map((sequence, s) => ({
      sample: sampleOf(sequence, now.logprobs[s]!),
      advantage: 0,
      band: { low, high },
    }));
    const { files } = await train(policyPart({ items, entropyBand: 1 }));
    return sum(scoresOf(files, both).entropy.flat()) - sum(now.entropy.flat());
  };
  expect(await band(10, 11)).toBeGreaterThan(1e-4);
  expect(await band(0, 0)).toBeLessThan(-1e-4);
  expect(Math.abs(await band(0, 10))).toBeLessThan(1e-5);
});

test('policy: a mask of another length or of fractions and a band upside down are refused', async () => {
  const withItem = (change: object) =>
    train(policyPart({ items: sampled().map((sample) => ({ sample, advantage: 1, ...change })) }));
  await expect(withItem({ mask: [1] })).rejects.toThrow('Item 0 has 1 mask entries for 4 tokens.');
  await expect(withItem({ mask: [1, 0.5, 0, 0] })).rejects.toThrow('The mask of item 0 has the entry 0.5.');
  await expect(withItem({ band: { low: 2, high: 1 } })).rejects.toThrow(
    'The band of item 0 goes from 2 to 1 nats.',
  );
});

test('entropies under the parent and under an older version, for `learn`', async () => {
  const asked: Float32Array[][] = [];
  await teach(
    async (_, { entropies }) => {
      asked.push(await entropies('main', both), await entropies('main', both, 0));
      return { updates: [] };
    },
    { versions },
  );
  for (const [i, wanted] of [now, before].entries())
    for (const s of [0, 1])
      expect([...asked[i]![s]!]).toEqual(wanted.entropy[s]!.map((h) => expect.closeTo(h, 4)));
  // Worked from the distribution itself: the first token of the first sequence, with tied embeddings.
  const { data } = tensorsOf(versions[1]!).get('model.embed_tokens.weight')!;
  const logits = Array.from({ length: 13 }, (_, v) =>
    sum(now.states[0]![0]!.map((x, i) => x * data[v * 16 + i]!)),
  );
  const all = sum(logits.map(Math.exp));
  expect(asked[0]![0]![0]).toBeCloseTo(
    -sum(logits.map((x) => (Math.exp(x) / all) * Math.log(Math.exp(x) / all))),
    4,
  );
});

test('policy: against the sampler’s own log-probabilities there is a ratio and no correction', async () => {
  const aipo = await train(policyPart({ objective: { kind: 'aipo', maxRatio: 1.5 } }));
  // ratios: exp(3), cut to 1.5, and exp(-0.4)
  const expected = (-1.5 * 2 * sum(now.logprobs[0]!) + Math.exp(-0.4) * 0.5 * sum(now.logprobs[1]!)) / tokens;
  expect(aipo.report.loss).toBeCloseTo(expected, 3);
  expect(aipo.report.clipFraction).toBeCloseTo(4 / 11, 6);
  const ppo = await train(policyPart({ old: 'sampler' }));
  // A > 0 at ratio exp(3): clipped at 1.2; A < 0 at ratio exp(-0.4) = 0.67 < 0.8: clipped at 0.8
  expect(ppo.report.loss).toBeCloseTo((4 * -1.2 * 2 + 7 * 0.8 * 0.5) / tokens, 4);
  expect(ppo.report.clipFraction).toBe(1);
});

test('policy: decoupled PPO corrects once, by proximal over behaviour', async () => {
  const objective = { kind: 'decoupled-ppo', clipLow: 0.2, clipHigh: 0.2, cap: 5 } as const;
  const { report } = await train(policyPart({ objective }));
  expect(report.loss).toBeCloseTo((4 * -2 * 5 + 7 * 0.5 * Math.exp(-0.4)) / tokens, 4);
});

test('policy: at a temperature the logits are divided by it', async () => {
  const at = (temperature: number) =>
    train(
      policyPart({
        temperature,
        items: both.map((s, i) => ({ sample: sampleOf(s, now.logprobs[i]!), advantage: 1 })),
      }),
    );
  expect((await at(1)).report.mismatch.max).toBeLessThan(1e-5);
  // nearly uniform over 13 tokens
  const hot = (await at(1e6)).report;
  expect(hot.roles.solver!.entropy).toBeCloseTo(Math.log(13), 4);
});

test('imitation: mean NLL over tokens, an item’s weight multiplies its own', async () => {
  const items = both.map((sequence, s) => ({ ...sequence, ...(s ? { weight: 0.25 } : {}) }));
  const { report, files } = await train({ ...about, kind: 'sft', items });
  expect(report.loss).toBeCloseTo(-(sum(now.logprobs[0]!) + 0.25 * sum(now.logprobs[1]!)) / tokens, 4);
  for (const change of moved(files)) expect(change).toBeGreaterThan(0);
});

const softplus = (x: number) => Math.log1p(Math.exp(x));
const pairPart = (objective: PreferenceObjective, change: Partial<PreferencePart> = {}): PreferencePart => ({
  ...about,
  kind: 'preference',
  pairs: [{ chosen: first, rejected: second, winRates: [0.9, 0.2] }],
  objective,
  reference: start,
  ...change,
});

test('preference: DPO, SPIN, IPO and SPPO against the reference, with NLL beside them', async () => {
  const margin = logRatio(0) - logRatio(1);
  const cases: [PreferenceObjective, number][] = [
    [{ kind: 'dpo', beta: 0.3 }, softplus(-0.3 * margin)],
    [{ kind: 'dpo', beta: 0.3, level: 'mean' }, softplus(-0.3 * (logRatio(0) / 4 - logRatio(1) / 7))],
    [{ kind: 'spin', lambda: 0.1 }, softplus(-0.1 * margin)],
    [{ kind: 'ipo', tau: 0.5 }, (logRatio(0) / 4 - logRatio(1) / 7 - 1) ** 2],
    [{ kind: 'ipo', tau: 0.5, level: 'sum' }, (margin - 1) ** 2],
    [{ kind: 'sppo', beta: 0.2 }, 0.5 * ((logRatio(0) - 0.4 / 0.2) ** 2 + (logRatio(1) + 0.3 / 0.2) ** 2)],
  ];
  for (const [objective, loss] of cases) {
    const plain = await train(pairPart(objective));
    expect(plain.report.loss, objective.kind).toBeCloseTo(loss, 3);
    const withNll = await train(pairPart(objective, { sft: 2, weight: 0.5 }));
    expect(withNll.report.loss, objective.kind).toBeCloseTo(
      0.5 * (loss - (2 * sum(now.logprobs[0]!)) / 4),
      3,
    );
  }
  const { files, figures } = await train(pairPart({ kind: 'dpo', beta: 0.3 }));
  const [up, down] = moved(files) as [number, number];
  expect(up - down).toBeGreaterThan(0);
  expect(figures['main/solver/preference/accuracy']).toBe(margin > 0 ? 1 : 0);
});

test('preference: spans choose the tokens of the margin, an offset shifts it, a weight multiplies the pair alone', async () => {
  const ratios = both.map((_, s) => now.logprobs[s]!.map((p, t) => p - before.logprobs[s]![t]!));
  const spans = [
    [0, 1, 1, 0],
    [1, 0, 0, 0, 0, 0, 1],
  ] as const;
  const compared = ratios.map((row, s) => sum(row.map((x, t) => x * spans[s as 0 | 1][t]!)));
  const margin = compared[0]! - compared[1]!;
  const pairs = [
    { chosen: first, rejected: second, spans, offset: 0.7, weight: 3 },
    { chosen: second, rejected: first, weight: 0.5 },
  ];
  const whole = logRatio(1) - logRatio(0);
  const loss = (3 * softplus(0.7 - 0.3 * margin) + 0.5 * softplus(-0.3 * whole)) / 2;
  const anchors = -(3 * sum(now.logprobs[0]!) + 0.5 * sum(now.logprobs[1]!)) / tokens;
  for (const tokenBudget of [8192, 1])
    for (const sft of [0, 2]) {
      const part = pairPart({ kind: 'dpo', beta: 0.3 }, { pairs, sft });
      const { report } = await teach(
        { updates: [{ set: 'main', parts: [part] }] },
        { versions, tokenBudget },
      );
      expect(report.loss).toBeCloseTo(loss + sft * anchors, 3);
    }
  // By means, over the tokens that are compared: two of each response.
  const means = pairPart({ kind: 'ipo', tau: 0.5 }, { pairs: [{ chosen: first, rejected: second, spans }] });
  expect((await train(means)).report.loss).toBeCloseTo((margin / 2 - 1) ** 2, 3);
});

test('preference: T-REG pulls each token by its own reward, as much as the pair still weighs in DPO', async () => {
  const tokenRewards = both.map(({ ids }, s) => ids.map((_, t) => (t % 3) / 4 - 0.2 * s)) as [
    number[],
    number[],
  ];
  const pair = { chosen: first, rejected: second, tokenRewards };
  const margin = logRatio(0) - logRatio(1);
  const pulled = sum(both.flatMap((_, s) => now.logprobs[s]!.map((p, t) => p * tokenRewards[s]![t]!)));
  const weight = 1 / (1 + Math.exp(0.3 * margin));
  const { report } = await train(pairPart({ kind: 't-reg', beta: 0.3, alpha: 0.5 }, { pairs: [pair] }));
  expect(report.loss).toBeCloseTo(softplus(-0.3 * margin) - 0.5 * weight * 0.3 * pulled, 3);
  // A token that alone has a reward becomes likelier than DPO makes it, or less likely.
  const lone = async (reward: number) => {
    const only = [first.ids.map((_, t) => (t === 1 ? reward : 0)), second.ids.map(() => 0)] as const;
    const part = pairPart(
      { kind: 't-reg', beta: 0.3, alpha: 5 },
      { pairs: [{ ...pair, tokenRewards: only }] },
    );
    return scoresOf((await train(part)).files, both).logprobs[0]![1]!;
  };
  const plain = await lone(0);
  expect(await lone(0.5)).toBeGreaterThan(plain);
  expect(await lone(-0.5)).toBeLessThan(plain);
});

test('preference with a token KL beside it: the loss is the sum, and the chosen response stays closer to the reference', async () => {
  const spans = [
    [0, 1, 0, 0],
    [0, 0, 1, 0, 0, 0, 0],
  ] as const;
  const pair = pairPart({ kind: 'dpo', beta: 0.3 }, { pairs: [{ chosen: first, rejected: second, spans }] });
  const leash = (weight: number): UpdatePart => ({
    role: 'solver',
    kind: 'distillation',
    weight,
    items: [first],
    teacher: start,
    divergence: { kind: 'forward-kl' },
  });
  const optimizer = { ...trained.optimizer!, learningRate: 1e-2 };
  const play = (parts: UpdatePart[]) =>
    teach(
      { updates: [{ set: 'main', parts, epochs: 5 }] },
      { versions: versions.slice(0, 1), sets: { main: { ...trained, optimizer } } },
    );
  const of = (files: Awaited<ReturnType<typeof play>>['files']) => scoresOf(files, both).logprobs;
  const free = await play([pair]);
  const held = await play([pair, leash(2)]);
  const drift = (logprobs: number[][]) =>
    sum(logprobs[0]!.map((p, t) => (t === 1 ? 0 : Math.abs(p - before.logprobs[0]![t]!))));
  expect(drift(of(held.files))).toBeLessThan(0.7 * drift(of(free.files)));
  // Version 1 against version 0: both terms are there, each with its own mean.
  const [alone, together, kl] = [
    await train(pair),
    await teach({ updates: [{ set: 'main', parts: [pair, leash(2)] }] }, { versions }),
    await train(leash(2)),
  ];
  expect(together.report.loss).toBeCloseTo(alone.report.loss! + kl.report.loss!, 5);
});

test('outcome: cross-entropy of the summed log-ratio; the logits part', async () => {
  const items = both.map((sequence, s) => ({ ...sequence, outcome: s ? 0 : 1 }));
  const { report, files } = await train(
    { ...about, kind: 'implicit-prm', items, beta: 0.2, reference: start },
    3,
  );
  const first = await train({ ...about, kind: 'implicit-prm', items, beta: 0.2, reference: start });
  const expected = (softplus(-0.2 * logRatio(0)) + softplus(0.2 * logRatio(1))) / 2;
  expect(first.report.loss).toBeCloseTo(expected, 4);
  expect(report.loss).toBeLessThan(first.report.loss);
  const [up, down] = moved(files) as [number, number];
  expect(up - down).toBeGreaterThan(0);
  const [one, other] = items as [(typeof items)[number], (typeof items)[number]];
  const weighted = [{ ...one, weight: 1.5 }, other];
  const unequal = await train({
    ...about,
    kind: 'implicit-prm',
    items: weighted,
    beta: 0.2,
    reference: start,
  });
  expect(unequal.report.loss).toBeCloseTo(expected + (0.5 * softplus(-0.2 * logRatio(0))) / 2, 4);
});

test('log-ratio: squared error of the scaled log-probability above a constant, which moves towards its target', async () => {
  const items = both.map((sequence, s) => ({ ...sequence, target: s ? 0 : 1 }));
  const part = { ...about, kind: 'log-ratio', beta: 0.1, reference: -30 } as const;
  const score = (s: 0 | 1) => 0.1 * (sum(now.logprobs[s]!) + 30);
  const { report, files } = await train({ ...part, items });
  expect(report.loss).toBeCloseTo(((score(0) - 1) ** 2 + score(1) ** 2) / 2, 4);
  const change = moved(files);
  expect(Math.sign(change[0]!)).toBe(Math.sign(1 - score(0)));
  expect(Math.sign(change[1]!)).toBe(Math.sign(0 - score(1)));
  const [one, other] = items as [(typeof items)[number], (typeof items)[number]];
  const weighted = await train({ ...part, items: [{ ...one, weight: 3 }, other], weight: 2 });
  expect(weighted.report.loss).toBeCloseTo(3 * (score(0) - 1) ** 2 + score(1) ** 2, 4);
});

test('value: an expectile weighs what was underestimated by τ, and tokens have weights of their own', async () => {
  const sets = { main: { ...trained, head: { kind: 'value' } } } as const;
  // The head starts at zero: targets above it are underestimated.
  const targets = both.map(({ ids }, s) => ids.map((_, t) => (s ? -1 : 1) * (1 + t)));
  const weights = both.map(({ ids }) => ids.map((_, t) => (t === 1 ? 0.5 : 1)));
  const items = both.map((sequence, s) => ({ ...sequence, targets: targets[s]!, weights: weights[s]! }));
  const part = { ...about, kind: 'value', items, expectile: 0.8 } as const;
  const { report } = await teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, sets });
  const losses = targets.flatMap((row, s) =>
    row.map((target, t) => weights[s]![t]! * (s ? 0.2 : 0.8) * target ** 2),
  );
  expect(report.loss).toBeCloseTo(sum(losses) / tokens, 3);
});

test('value: half the squared error of the value before each token', async () => {
  const targets = both.map(({ ids }, s) => ids.map((_, t) => s + 0.1 * t));
  const items = both.map((sequence, s) => ({ ...sequence, targets: targets[s]! }));
  const part = { ...about, kind: 'value', items } as const;
  const sets = { main: { ...trained, head: { kind: 'value' } } } as const;
  const plan = { updates: [{ set: 'main', parts: [part] }] };
  const one = await teach(plan, { versions, sets });
  // the head starts at zero
  expect(one.report.loss).toBeCloseTo(sum(targets.flat().map((target) => target ** 2 / 2)) / tokens, 5);
  const next = [...versions, one.files];
  let told: Float32Array[] = [];
  const two = await teach(
    async (_, tools) => {
      told = await tools.values('main', both);
      return plan;
    },
    { versions: next, sets },
  );
  const head = tensorsOf(one.files, 'main.head.safetensors');
  const weight = head.get('value_head.weight')!.data;
  const bias = head.get('value_head.bias')!.data[0]!;
  const values = scoresOf(one.files, both).states.map((rows) =>
    rows.map((state) => bias + sum(state.map((x, i) => x * weight[i]!))),
  );
  for (const [s, row] of values.entries())
    for (const [t, value] of row.entries()) expect(told[s]![t]).toBeCloseTo(value, 5);
  const errors = values.flatMap((row, s) => row.map((value, t) => (value - targets[s]![t]!) ** 2 / 2));
  expect(two.report.loss).toBeCloseTo(sum(errors) / tokens, 5);
  expect(two.report.loss).toBeLessThan(one.report.loss);
});

test('value: an expectile weighs what is above and below it, and weights leave positions out', async () => {
  // The head starts at zero: what is above it counts τ, what is below 1 - τ.
  const targets = both.map(({ ids }, s) => ids.map((_, t) => (s ? 1 : -1) * (1 + 0.5 * t)));
  const items = both.map((sequence, s) => ({ ...sequence, targets: targets[s]! }));
  const sets = { main: { ...trained, head: { kind: 'value' } } } as const;
  const lossOf = async (part: UpdatePart) =>
    (await teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, sets })).report.loss;
  const squares = (s: number) => sum(targets[s]!.map((target) => target ** 2));
  expect(await lossOf({ ...about, kind: 'value', items, expectile: 0.9 })).toBeCloseTo(
    (0.1 * squares(0) + 0.9 * squares(1)) / tokens,
    5,
  );
  expect(await lossOf({ ...about, kind: 'value', items, expectile: 0.5 })).toBeCloseTo(
    (squares(0) + squares(1)) / 2 / tokens,
    5,
  );
  // Twice the last position of the first sequence, and no other.
  const weighted = items.map((item, s) => ({
    ...item,
    weights: item.ids.map((_, t) => (s === 0 && t === item.ids.length - 1 ? 2 : 0)),
  }));
  expect(await lossOf({ ...about, kind: 'value', items: weighted })).toBeCloseTo(
    targets[0]!.at(-1)! ** 2 / tokens,
    5,
  );
});

test('label: cross-entropy of classes after the last token', async () => {
  const items = both.map((sequence, s) => ({ ...sequence, label: s ? 2 : 0 }));
  const part = { ...about, kind: 'classification', items } as const;
  const sets = { main: { ...trained, head: { kind: 'classes', count: 3 } } } as const;
  const plan = { updates: [{ set: 'main', parts: [part], epochs: 4 }] };
  const once = await teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, sets });
  expect(once.report.loss).toBeCloseTo(Math.log(3), 5);
  const { files } = await teach(plan, { versions, sets });
  let told: Float32Array[] = [];
  const after = await teach(
    async (_, tools) => {
      told = await tools.classes('main', both);
      return { updates: [{ set: 'main', parts: [part] }] };
    },
    { versions: [...versions, files], sets },
  );
  for (const row of told) expect(sum(Array.from(row, Math.exp))).toBeCloseTo(1, 5);
  expect(told[0]![0]).toBeGreaterThan(-Math.log(3));
  expect(told[1]![2]).toBeGreaterThan(-Math.log(3));
  expect(after.report.loss).toBeCloseTo(-(told[0]![0]! + told[1]![2]!) / 2, 5);
});

test('reward pairs: the loss of Bradley and Terry on the log-odds of the second class', async () => {
  const part = { ...about, kind: 'reward-pairs', pairs: [{ chosen: first, rejected: second }] } as const;
  const sets = { main: { ...trained, head: { kind: 'classes', count: 2 } } } as const;
  // A new head tells nothing apart: log 2.
  const once = await teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, sets });
  expect(once.report.loss).toBeCloseTo(Math.log(2), 5);
  const { files } = await teach({ updates: [{ set: 'main', parts: [part], epochs: 4 }] }, { versions, sets });
  let told: Float32Array[] = [];
  const after = await teach(
    async (_, tools) => {
      told = await tools.classes('main', both);
      return { updates: [{ set: 'main', parts: [part] }] };
    },
    { versions: [...versions, files], sets },
  );
  const [chosen, rejected] = told.map((row) => row[1]! - row[0]!);
  expect(chosen! - rejected!).toBeGreaterThan(0);
  expect(after.report.loss).toBeCloseTo(Math.log(1 + Math.exp(rejected! - chosen!)), 5);
  const three = { main: { ...trained, head: { kind: 'classes', count: 3 } } } as const;
  await expect(
    teach({ updates: [{ set: 'main', parts: [part] }] }, { versions, sets: three }),
  ).rejects.toThrow(/has 3 classes\. Expected 2/);
});

test('turn preference: turns’ mean log-ratios are summed by trajectory, and the sums are compared', async () => {
  // The chosen trajectory has both sequences as turns, the rejected one the second alone.
  const pairs = [{ chosen: both, rejected: [second] }];
  const part = { ...about, kind: 'turn-preference', pairs, beta: 2, reference: start } as const;
  const [a, b] = [logRatio(0), logRatio(1)];
  const [meanA, meanB] = [a / first.ids.length, b / second.ids.length];
  const logistic = (margin: number) => Math.log(1 + Math.exp(-2 * margin));
  expect((await train(part)).report.loss).toBeCloseTo(logistic(meanA + meanB - meanB), 5);
  expect((await train({ ...part, level: 'sum' })).report.loss).toBeCloseTo(logistic(a), 5);
  const against = { ...part, pairs: [{ chosen: [second], rejected: [first] }] };
  expect((await train(against)).report.loss).toBeCloseTo(logistic(meanB - meanA), 5);
  const [movedFirst, movedSecond] = moved((await train(against, 4)).files);
  expect(movedSecond!).toBeGreaterThan(movedFirst!);
  await expect(train({ ...part, pairs: [{ chosen: [], rejected: [first] }] })).rejects.toThrow(
    /chosen trajectory of pair 0 has no turns/,
  );
});

test('what an item lacks is said before anything is trained', async () => {
  const [sample] = sampled();
  const short = { ...sample!, logprobs: sample!.logprobs.slice(1) };
  const refused: [UpdatePart, string][] = [
    [policyPart({ items: [{ sample: short, advantage: 1 }] }), 'training-plan.length'],
    [policyPart({ items: [{ sample: sample!, advantage: [1] }] }), 'training-plan.length'],
    [{ ...about, kind: 'value', items: [{ ...first, targets: [1] }] }, 'training-plan.length'],
    [{ ...about, kind: 'value', items: [{ ...first, targets: [1, 2, 3, 4] }] }, 'training-plan.head'],
    [
      { ...about, kind: 'value', items: [{ ...first, targets: [1, 2, 3, 4], weights: [1] }] },
      'training-plan.length',
    ],
    [
      { ...about, kind: 'value', items: [{ ...first, targets: [1, 2, 3, 4] }], expectile: 1 },
      'training-plan.expectile',
    ],
    [{ ...about, kind: 'classification', items: [{ ...first, label: 0 }] }, 'training-plan.head'],
    [
      pairPart({ kind: 'sppo', beta: 1 }, { pairs: [{ chosen: first, rejected: second }] }),
      'training-plan.win-rates',
    ],
    [pairPart({ kind: 't-reg', beta: 1, alpha: 1 }), 'training-plan.token-rewards'],
    ...(
      [
        [{ spans: [[1], [1]] }, 'length'],
        [{ spans: [first.ids.map(() => 0.5), second.ids.map(() => 1)] }, 'spans'],
        [{ spans: [first.ids.map(() => 0), second.ids.map(() => 0)] }, 'spans'],
        [{ tokenRewards: [[1], [1]] }, 'length'],
        [{ offset: Number.NaN }, 'offset'],
        [{ weight: -1 }, 'weight'],
      ] as const
    ).map(([wrong, code]): [UpdatePart, string] => [
      pairPart({ kind: 'dpo', beta: 1 }, { pairs: [{ chosen: first, rejected: second, ...wrong }] }),
      `training-plan.${code}`,
    ]),
    [
      pairPart({ kind: 'orpo', lambda: 1 }, { pairs: [{ chosen: first, rejected: second, offset: 1 }] }),
      'training-plan.offset',
    ],
  ];
  for (const [part, code] of refused) await expect(train(part)).rejects.toMatchObject({ code });
});
