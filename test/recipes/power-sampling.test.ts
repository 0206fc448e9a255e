import { expect, test } from 'vitest';
import { type RoundRecord, redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import type { SftPart } from '../../core/plan/training-plan.ts';
import { uniforms } from '../../core/random.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { logRatio, powerChains } from '../../protocols/solve/power-chain.ts';
import { shipped } from '../../recipes/index.ts';
import { exactSolution } from '../../worlds/composition/family.ts';
import { playTree, written } from './play-trees.ts';
import { openMoment } from './played-plan.ts';

const powerSampling = shipped.find('power-sampling');

const TASK = 'f07 of f12 of bdca';
const RIGHT = `${exactSolution(TASK)
  .steps.map((step) => `${step}. `)
  .join('')}Answer: ${exactSolution(TASK).answer}<eos>`;

test('a proposal is accepted by the ratio of the probabilities, each raised to the power, and of what it is drawn by', () => {
  // p(s_x) = .5 · .2 = .1 and p(s_y) = .3 after one token that is kept; q(s_x) = .4 · .5 = .2, q(s_y) = .6; |x| = 3, |y| = 2.
  const x = {
    ids: [1, 2, 3],
    own: [Math.log(0.9), Math.log(0.5), Math.log(0.2)],
    proposed: [Math.log(0.99), Math.log(0.4), Math.log(0.5)],
  };
  const y = { ids: [4], own: [Math.log(0.3)], proposed: [Math.log(0.6)] };
  // 3^α · (1/3) · 1.5 = 3^α / 2.
  expect(Math.exp(logRatio(x, y, 1, 1))).toBeCloseTo(1.5, 12);
  expect(Math.exp(logRatio(x, y, 1, 4))).toBeCloseTo(40.5, 12);
  expect(Math.exp(logRatio(x, y, 1, 0))).toBeCloseTo(0.5, 12);
});

test('a chain keeps its answer where a proposal is refused, and goes on from the new one where it is accepted', async () => {
  // By p all tokens of a proposal are as likely; the second has a ratio of 1 and is taken, the third one of e^-50 and is not.
  const drawn = [
    { ids: [1, 2, 3, 4], own: [-1, -1, -1, -1], proposed: [-1, -1, -1, -1] },
    { ids: [7, 7, 7, 7], own: [-1, -1, -1, -1], proposed: [-1, -1, -1, -1] },
    { ids: [9, 9, 9, 9], own: [-50, -50, -50, -50], proposed: [-1, -1, -1, -1] },
  ];
  const placeOf = (step: number) => Math.floor(uniforms(`place ${step}`, 2)[0]! * 4);
  const [chain] = await powerChains({
    count: 1,
    alpha: 1,
    maxNew: 4,
    drawId: (_, step) => `${step}`,
    stepId: (_, step) => `place ${step}`,
    propose: async (asked) => {
      const { id, kept } = asked[0]!;
      const { ids, own, proposed } = drawn[Number(id)]!;
      const room = 4 - kept.length;
      return [{ ids: ids.slice(0, room), own: own.slice(0, room), proposed: proposed.slice(0, room) }];
    },
    goesOn: (step) => step <= 2,
  });
  const kept = [1, 2, 3, 4].slice(0, placeOf(1));
  expect(chain!.ids).toEqual([...kept, ...[7, 7, 7, 7].slice(kept.length)]);
  expect(chain!.proposals.map(({ accepted }) => accepted)).toEqual([true, true, false]);
  expect(chain!.proposals[2]!.kept).toEqual(chain!.ids.slice(0, placeOf(2)));
  expect(chain!.tokens).toBe(4 + (4 - placeOf(1)) + (4 - placeOf(2)));
});

const WRONG = 'Answer: hhhh<eos>';
/** An answer is right or wrong from its first token on. */
const write = (before: string, i: number): string => {
  const whole = before === '' ? [WRONG, RIGHT, RIGHT][i % 3]! : RIGHT.startsWith(before) ? RIGHT : WRONG;
  return whole.slice(before.length);
};
const play = (more: Partial<Parameters<typeof playTree>[0]> = {}) =>
  playTree({ recipe: powerSampling, task: TASK, write, groupSize: 4, ...more });

const imitatedBy = ({ plan }: Awaited<ReturnType<typeof play>>) =>
  plan.updates.flatMap(({ parts }) => (parts[0] as SftPart).items.map(written));

test('the last answer of each chain is its rollout, is paid, and is imitated whole, without a verifier', async () => {
  const played = await play();
  const [{ samples, answersExact, measurements }] = played.groups as [(typeof played.groups)[0]];
  const rollouts = samples.filter(({ of }) => of === undefined);
  // Four chains of the answer that it begins with and ten steps.
  expect([rollouts.length, samples.length]).toEqual([4, 44]);
  expect(new Set(samples.map(({ id }) => id)).size).toBe(44);
  for (const { id } of rollouts) {
    const chain = samples.filter((sample) => sample.id === id || sample.of === id);
    expect(chain.map(({ turn }) => turn).sort((a, b) => a! - b!)).toEqual([...Array(11).keys()]);
    const last = chain.filter(({ rewards }) => rewards.accepted === 1).sort((a, b) => b.turn! - a.turn!)[0]!;
    expect(last.id).toBe(id);
    // Every step has a place of its own.
    expect(new Set(chain.map(({ prompt }) => prompt.length)).size).toBeGreaterThan(3);
  }
  for (const [s, sample] of samples.entries())
    expect([answersExact[s], sample.rewards.reward ?? null]).toEqual(
      sample.of === undefined ? [written(sample) === RIGHT, 1] : [null, null],
    );
  expect(Object.keys(measurements!).length).toBeGreaterThan(4);
  expect(imitatedBy(played)).toEqual(rollouts.map(written));
  const right = rollouts.filter((sample) => written(sample) === RIGHT).length;
  expect(right).toBeGreaterThan(0);
  expect(played.plan.figures).toMatchObject({ imitated: 4, imitatedExact: right / 4 });
  const accepted = samples.filter(({ turn, rewards }) => turn! > 0 && rewards.accepted === 1).length;
  expect(played.plan.figures!.accepted).toBeCloseTo(accepted / 40, 12);
});

test('a checker leaves the right answers, and without training there is nothing to imitate', async () => {
  const checked = await play({ rewardFunction: 'exact', variant: 'own-samples' });
  const [{ samples }] = checked.groups as [(typeof checked.groups)[0]];
  // Without a chain every sample is a rollout: one in three is wrong.
  expect(samples.map(({ of, rewards }) => [of, rewards.reward])).toEqual(
    [0, 1, 1, 0].map((reward) => [undefined, reward]),
  );
  expect(imitatedBy(checked)).toEqual([RIGHT, RIGHT]);
  const free = await play({ variant: 'training-free' });
  expect(free.groups[0]!.samples).toHaveLength(44);
  expect(free.plan.updates).toEqual([]);
  expect(free.plan.figures!.imitated).toBe(4);
});

test.each([
  [undefined, 0.25, 10],
  ['alpha-2', 0.5, 10],
  ['two-steps', 0.25, 2],
  ['low-temperature', 0.25, 0],
  ['own-samples', 1, 0],
])('%s: answers are drawn at temperature %d and by %d steps', async (variant, temperature, steps) => {
  const asked = new Set<number>();
  const recipe = {
    ...powerSampling,
    rollOut: (context, tasks) =>
      powerSampling.rollOut(
        {
          ...context,
          generate: (role, prompts, change) => {
            asked.add(change!.temperature!);
            return context.generate(role, prompts, change);
          },
        },
        tasks,
      ),
  } satisfies typeof powerSampling;
  const { groups } = await play({ recipe, ...(variant ? { variant } : {}) });
  expect([...asked]).toEqual([temperature]);
  expect(groups[0]!.samples).toHaveLength(4 * (steps + 1));
  if (!steps) expect(groups[0]!.measurements).toBeUndefined();
});

test('an audit plays the chains of a record back without a model, draws them again to the same bits, and finds a step that was not accepted', async () => {
  const {
    policies,
    tokenizer: text,
    round,
    context,
  } = await openMoment(powerSampling, { index: 1 }, { seed: 3, tasks: 2, variant: 'two-steps' });
  try {
    const played = JSON.parse(JSON.stringify(await playStages({ ...context, recipe: powerSampling })));
    const record: RoundRecord = { recipe: powerSampling, round, ...played };
    const tools = { tokenizer: text, use: policies.use, recipeState: async () => undefined };
    const audit = async (of: RoundRecord) => {
      const ledger = new AuditLedger();
      await rereadRound(ledger, of, { ...tools, use: () => Promise.reject(new Error('no model')) });
      await redrawRound(ledger, of, tools, 1, 'secret');
      return ledger;
    };
    const honest = await audit(record);
    expect(honest.findings).toEqual([]);
    expect(honest.checked('token')).toBeGreaterThan(20);
    expect(honest.checked('measurement')).toBeGreaterThan(10);
    const [first, ...others] = record.groups;
    const [sample, ...rest] = first!.samples;
    const other = { ...sample!, rewards: { ...sample!.rewards, accepted: 1 - sample!.rewards.accepted! } };
    const forged = { ...record, groups: [{ ...first!, samples: [other, ...rest] }, ...others] };
    expect((await audit(forged)).findings).not.toEqual([]);
  } finally {
    await policies.dispose();
  }
});
