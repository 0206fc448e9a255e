/** Measurements are kept in the records of their groups, played back from there, and made again in an audit. */

import * as v from 'valibot';
import { beforeAll, expect, test } from 'vitest';
import { type AuditTools, type RoundRecord, redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { measure, measurementKey } from '../../core/policy/measure.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { judgeStage, playStages, proposeStage, rollOutStage } from '../../core/round/play-stages.ts';
import { proposals as proposalsSchema, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import { shipped } from '../../recipes/index.ts';
import { BudgetExceeded, budgeted, CpuBudget, PartialResults } from '../../workers/shared/cpu-budget.ts';
import { playHonestRound } from './honest-round.ts';

const trio = shipped.find('trio');

/** It measures its proposals, its rollouts with a prompt that the judge has, and pays by what the judge measures. */
const measuring: Recipe = {
  ...trio,
  async propose(context) {
    const made = await trio.propose(context);
    await context.measure(
      'proposer',
      made.samples.map(({ prompt, ids }) => ({ prompt, ids })),
    );
    return made;
  },
  async rollOut(context, tasks) {
    const groups = await trio.rollOut(context, tasks);
    await context.measure(
      'solver',
      groups.flatMap(({ group, samples }) => samples.map(({ prompt, ids }) => ({ group, prompt, ids }))),
    );
    return groups;
  },
  async judge(context, groups) {
    const scored = await trio.judge(context, groups);
    const paid: ScoredGroup[] = [];
    for (const { group, samples, ...rest } of scored) {
      const [first] = await context.measure('judge', [
        { group, prompt: samples[0]!.ids.slice(0, 1), ids: [3, 4] },
      ]);
      // The field is left out on purpose: what was measured before must not be lost.
      const { measurements: _, ...others } = { ...rest };
      paid.push({
        group,
        ...others,
        samples: samples.map((sample) => ({
          ...sample,
          rewards: { ...sample.rewards, likely: first!.logProbabilities[0]! },
        })),
      });
    }
    return paid;
  },
};

let record: RoundRecord;
let tools: AuditTools;
beforeAll(async () => {
  const honest = await playHonestRound(1, 3, 2, { engine: 'kernels' });
  tools = honest.tools;
  const { round } = honest.record;
  const played = await playStages(openRoundContext({ recipe: measuring, round, ...tools }));
  record = { recipe: measuring, round, ...JSON.parse(JSON.stringify(played)) };
});

const audit = async (of: RoundRecord, using = tools) => {
  const ledger = new AuditLedger();
  await rereadRound(ledger, of, using);
  await redrawRound(ledger, of, using, 1, 'secret');
  return ledger;
};

test('each stage’s measurements are in the record of their group, and the reward is what was measured', () => {
  const { proposals, groups } = record;
  expect(v.parse(proposalsSchema, proposals)).toEqual(proposals);
  const texts = new Set(proposals.samples.map(({ prompt, ids }) => `${prompt}/${ids}`));
  expect(Object.keys(proposals.measurements!)).toHaveLength(texts.size);
  for (const group of groups) {
    expect(v.parse(scoredGroup, group)).toEqual(group);
    const all = Object.values(group.measurements!);
    // What a sample’s tokens are worth at temperature 1 was told when they were drawn.
    for (const { ids, logprobs } of group.samples)
      expect(all).toContainEqual({
        logProbabilities: logprobs,
        entropies: expect.toSatisfy((x) => x.length === ids.length),
      });
    expect(all.some(({ logProbabilities }) => logProbabilities[0] === group.samples[0]!.rewards.likely)).toBe(
      true,
    );
  }
});

test('stages with contexts of their own, as Workers have, leave the same record', async () => {
  const context = () => openRoundContext({ recipe: measuring, round: record.round, ...tools });
  const proposals = await proposeStage(measuring, context());
  const rolledOut = await rollOutStage(measuring, context(), proposals.tasks);
  const groups = await judgeStage(measuring, context(), rolledOut);
  expect(JSON.parse(JSON.stringify({ proposals, groups }))).toEqual({
    proposals: record.proposals,
    groups: record.groups,
  });
});

test('an audit reads them back without a model, and makes them again', async () => {
  const ledger = await audit(record);
  expect(ledger.findings).toEqual([]);
  expect(ledger.checked('measurement')).toBeGreaterThan(record.groups.length * 3);
  const none = { ...tools, use: () => Promise.reject(new Error('no model')) };
  const read = new AuditLedger();
  await rereadRound(read, record, none);
  expect(read.findings).toEqual([]);
});

test('a measurement that was changed, left out or added is found', async () => {
  const [first, ...others] = record.groups;
  const [key, was] = Object.entries(first!.measurements!)[0]!;
  const withMeasured = (measurements: NonNullable<ScoredGroup['measurements']>) => ({
    ...record,
    groups: [{ ...first!, measurements }, ...others],
  });
  const near = { ...was, entropies: [was.entropies[0]! + 1e-7, ...was.entropies.slice(1)] };
  const changed = await audit(withMeasured({ ...first!.measurements, [key]: near }));
  expect(changed.findings).toMatchObject([{ class: 'measurement', group: first!.group }]);
  const { [key]: _, ...rest } = first!.measurements!;
  const gone = new AuditLedger();
  await rereadRound(gone, withMeasured(rest), tools);
  expect(gone.findings[0]!.message).toMatch(/holds no measurement by trio-11@0/);
  const added = new AuditLedger();
  await rereadRound(added, withMeasured({ ...first!.measurements, ['0'.repeat(32)]: was }), tools);
  expect(added.findings).toMatchObject([{ class: 'measurement', message: /one too many/ }]);
});

test('a measurement of a proposal that was changed or added is found, too', async () => {
  const { proposals } = record;
  const [key, was] = Object.entries(proposals.measurements!)[0]!;
  const near = { ...was, entropies: [was.entropies[0]! + 1e-7, ...was.entropies.slice(1)] };
  const withMeasured = (more: Record<string, typeof was>) => ({
    ...record,
    proposals: { ...proposals, measurements: { ...proposals.measurements, ...more } },
  });
  const changed = await audit(withMeasured({ [key]: near }));
  expect(changed.findings).toMatchObject([{ class: 'measurement', group: null }]);
  const added = new AuditLedger();
  await rereadRound(added, withMeasured({ ['0'.repeat(32)]: was }), tools);
  expect(added.findings).toMatchObject([{ class: 'measurement', message: /one too many/ }]);
});

test('measurements by other weights, or at other places, are kept apart', () => {
  const ref = { name: 'p', version: 1 };
  const sequence = { prompt: [1, 2], ids: [3, 4] };
  const keys = [
    measurementKey(ref, sequence),
    ...[{ name: 'q' }, { version: 2 }, { set: 'critic' }, { weights: 'int8' as const }].map((more) =>
      measurementKey({ ...ref, ...more }, sequence),
    ),
    measurementKey({ ...ref, engine: 'kernels' }, sequence),
    ...[{ prompt: [1] }, { ids: [3] }, { prompt: [1, 2, 3], ids: [4] }, { ends: [0] }].map((more) =>
      measurementKey(ref, { ...sequence, ...more }),
    ),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  // Without places, the place after the last token is meant.
  expect(measurementKey(ref, { ...sequence, ends: [2] })).toBe(keys[0]);
});

test('what does not fit a CPU budget is measured later, to the same bits', async () => {
  const sequences = record.groups.flatMap(({ samples }) =>
    samples.map(({ prompt, ids }) => ({ prompt, ids })),
  );
  await tools.use(record.round.roles.solver!, async (policy) => {
    const whole = await measure(policy, sequences);
    let stored = {};
    let invocations = 0;
    for (;;) {
      const kept = new PartialResults();
      kept.add(JSON.parse(JSON.stringify(stored)));
      try {
        // Two of these sequences take more than a millisecond each by what is reckoned with.
        const made = await measure(budgeted(policy, kept, new CpuBudget(1)), sequences);
        expect(made).toEqual(whole);
        break;
      } catch (error) {
        expect(error).toBeInstanceOf(BudgetExceeded);
        kept.takeTouched();
        await expect(measure(budgeted(policy, kept, null), sequences)).rejects.toThrow(BudgetExceeded);
        stored = kept.takeTouched();
        invocations++;
      }
    }
    expect(invocations).toBe(new Set(sequences.map((one) => JSON.stringify(one))).size - 1);
  });
});
