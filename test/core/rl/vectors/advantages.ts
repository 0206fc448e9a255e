/** Reference vectors of estimators, returns and rewards. */
import * as v from 'valibot';
import { CONVENTIONS } from '../../../../core/rl/conventions.ts';
import {
  discountedReturns,
  gae,
  grpo,
  hierarchicalGrpo,
  klShapedRewards,
  leaveOneOut,
  maxRl,
  meanCentred,
  processGrpo,
  rloo,
  roleAdvantages,
} from '../../../../core/rl/estimators/index.ts';
import { learnability, overlongPenalty } from '../../../../core/rl/rewards/index.ts';
import { deviationOfPresent, whiten } from '../../../../core/rl/statistics.ts';
import { expectClose } from '../../../learner/losses/finite-difference.ts';
import { grouped, numbers, numbersOrNan, rows, there, vectorCase } from './case.ts';

const one = (rewards: readonly number[]): number[] => rewards.map(() => 0);
const ofRewards = v.object({ rewards: numbers });
const ofGroups = v.object({ groups: rows });
const gaeInput = v.object({
  rewards: numbers,
  values: numbers,
  mask: v.optional(numbers),
  gamma: v.number(),
  lam: v.number(),
});

export const advantageCases = [
  vectorCase(
    /^grpo\./,
    v.object({ rewards: numbers, eps: v.number(), ddof: v.picklist([0, 1]) }),
    numbers,
    ({ rewards, eps, ddof }, expected, id) => {
      const name = v.parse(v.picklist(['verl', 'trl', 'openrlhf', 'art']), id.split('.')[1]);
      const convention = CONVENTIONS[name];
      if (convention.scale.epsilon !== eps || convention.scale.ddof !== ddof)
        throw new Error(`the preset ${name} is not what its vectors say`);
      expectClose(there(grpo(rewards, one(rewards), convention)), expected, 1e-8);
    },
  ),
  vectorCase(/^drgrpo\.groups$/, ofGroups, rows, ({ groups }, expected) => {
    const { rewards, keys } = grouped(groups);
    expectClose(there(meanCentred(rewards, keys)), expected.flat());
    expectClose(there(grpo(rewards, keys, CONVENTIONS.drgrpo)), expected.flat());
  }),
  vectorCase(/^rloo\.groups$/, ofGroups, rows, ({ groups }, expected) => {
    const { rewards, keys } = grouped(groups);
    expectClose(there(rloo(rewards, keys)), expected.flat());
  }),
  vectorCase(/^rloo\.binary$/, ofRewards, numbers, ({ rewards }, expected) =>
    expectClose(there(rloo(rewards, one(rewards))), expected, 1e-8),
  ),
  vectorCase(
    /^maxrl\.groups$/,
    v.object({ groups: rows, eps: v.number() }),
    rows,
    ({ groups, eps }, expected) => {
      const { rewards, keys } = grouped(groups);
      expectClose(there(maxRl(rewards, keys, eps)), expected.flat(), 1e-8);
    },
  ),
  vectorCase(/^maxrl\.binary$/, ofRewards, numbers, ({ rewards }, expected) =>
    expectClose(there(maxRl(rewards, one(rewards))), expected, 1e-12),
  ),
  vectorCase(/^areal\.leave1out$/, ofRewards, numbers, ({ rewards }, expected) =>
    expectClose(there(leaveOneOut(rewards, one(rewards))), expected, 1e-8),
  ),
  vectorCase(
    /^rfpp\.returns/,
    v.object({ rewards: numbers, mask: numbers, gamma: v.number() }),
    v.object({ returns: numbers }),
    ({ rewards, mask, gamma }, { returns }) =>
      expectClose(discountedReturns(rewards, { gamma, mask, masked: 'reset' }), returns, 1e-12),
  ),
  vectorCase(
    /^rfpp\.slime\./,
    v.object({ reward: v.number(), kl: numbers, mask: numbers, kl_coef: v.number(), gamma: v.number() }),
    numbers,
    ({ reward, kl, mask, kl_coef, gamma }, expected) => {
      const rewards = klShapedRewards({ reward, kl, mask }, kl_coef);
      expectClose(discountedReturns(rewards, { gamma, mask }), expected, 1e-9);
    },
  ),
  vectorCase(
    /^gae\.g/,
    gaeInput,
    v.object({ returns: numbers, raw_adv: numbers }),
    ({ lam, ...input }, expected) => {
      for (const masked of ['through', 'skip'] as const) {
        const out = gae({ rewards: input.rewards, values: input.values }, { ...input, lambda: lam, masked });
        expectClose(out.returns, expected.returns, 1e-12);
        expectClose(out.advantages, expected.raw_adv, 1e-12);
      }
    },
  ),
  vectorCase(
    /^gae\.masked\.skyrl$/,
    v.required(gaeInput),
    v.object({ returns: numbers, whitened_adv: numbers }),
    ({ rewards, values, mask, gamma, lam }, expected) => {
      const out = gae({ rewards, values, mask }, { gamma, lambda: lam, masked: 'through' });
      expectClose(out.returns, expected.returns, 1e-12);
      expectClose(whiten(out.advantages, mask), expected.whitened_adv, 1e-4);
    },
  ),
  vectorCase(
    /^gae\.masked\.verl$/,
    v.required(gaeInput),
    v.object({ returns: numbers }),
    ({ rewards, values, mask, gamma, lam }, expected) =>
      expectClose(
        gae({ rewards, values, mask }, { gamma, lambda: lam, masked: CONVENTIONS.verl.maskedGae }).returns,
        expected.returns,
        1e-12,
      ),
  ),
  vectorCase(
    /^process\./,
    v.object({ rewards: rows, gamma: v.optional(v.number(), 1) }),
    rows,
    ({ rewards, gamma }, expected) => {
      const out = processGrpo(
        rewards,
        rewards.map(() => 0),
        { gamma },
      );
      for (const [i, row] of expected.entries()) expectClose(out[i] ?? [], row, 1e-8);
    },
  ),
  vectorCase(/^hier\.centre$/, ofRewards, numbers, ({ rewards }, expected) => {
    const solving = hierarchicalGrpo([{ seed: 0, reward: 1, solvers: rewards }]);
    expectClose(there(solving.solver[0]!), expected, 1e-8);
    const proposing = hierarchicalGrpo(rewards.map((reward) => ({ seed: 'a', reward, solvers: [] })));
    expectClose(there(proposing.proposer), expected, 1e-8);
  }),
  vectorCase(
    /^rae$/,
    v.object({ rewards: numbers, decay: v.number(), start: v.number() }),
    v.object({ adv: numbers, baseline_after: v.number() }),
    ({ rewards, decay, start }, expected) => {
      const keys = rewards.map(() => 'game/agent');
      const out = roleAdvantages(rewards, keys, { decay, baselines: new Map([['game/agent', start]]) });
      expectClose(there(out.advantages), expected.adv, 1e-12);
      expectClose([out.baselines.get('game/agent')!], [expected.baseline_after], 1e-12);
    },
  ),
  vectorCase(/^learnability$/, v.object({ p: numbers }), numbers, ({ p }, expected) =>
    expectClose(p.map(learnability), expected, 1e-12),
  ),
  vectorCase(
    /^overlong$/,
    v.object({ max_len: v.number(), buffer: v.number(), factor: v.number(), len: numbers }),
    numbers,
    ({ max_len, buffer, factor, len }, expected) =>
      expectClose(
        len.map((length) => overlongPenalty(length, { maxLength: max_len, buffer, factor })),
        expected,
        1e-12,
      ),
  ),
  vectorCase(/^nanstd$/, v.object({ x: v.array(numbersOrNan) }), numbers, ({ x }, expected) => {
    const missing = x.map((row) => row.map((value) => (Number.isNaN(value) ? null : value)));
    expectClose(
      missing.map((row) => deviationOfPresent(row, 1)),
      expected,
      1e-8,
    );
  }),
];
