import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';

const part = (role: string): PolicyPart => ({
  kind: 'policy',
  role,
  weight: 1,
  items: [],
  objective: { kind: 'reinforce' },
  aggregation: { mode: 'token-mean' },
});

const frozen = async (freeze: readonly string[], updates: TrainingPlan['updates']) => {
  const records = { groups: [], round: { settings: { freeze } } } as unknown as RoundRecords;
  const recipe = { name: 'r', sets: { main: { optimizer: {} } }, learn: () => ({ updates }) };
  const plan = await planTraining(recipe as never, records, {} as LearnTools);
  return plan.updates.map(({ set, parts }) => [set, ...parts.map(({ role }) => role)]);
};

test('frozen roles are taken out, and with them an update that teaches nobody else', async () => {
  const updates = [
    { set: 'main', parts: [part('solver'), part('judge')] },
    { set: 'main', parts: [part('judge')] },
  ];
  expect(await frozen([], updates)).toEqual([
    ['main', 'solver', 'judge'],
    ['main', 'judge'],
  ]);
  expect(await frozen(['judge'], updates)).toEqual([['main', 'solver']]);
  expect(await frozen(['judge', 'solver'], updates)).toEqual([]);
});

test('an update without parts is the recipe’s own doing, and stays for the trainer to refuse', async () => {
  expect(await frozen(['judge'], [{ set: 'main', parts: [] }])).toEqual([['main']]);
});

test('gradients that a recipe compares and updates that it tries before it plans are at its roles’ temperatures', async () => {
  const asked: (number | undefined)[] = [];
  const alignment: LearnTools['alignment'] = async (_, parts, against) => {
    for (const one of [...parts, against]) asked.push((one as PolicyPart).temperature);
    return [];
  };
  const trial: LearnTools['trial'] = async (_, [update]) => {
    expect(update).toMatchObject({ only: { layers: [1], learningRate: 0.1 }, epochs: 2 });
    for (const one of update!.parts) asked.push((one as PolicyPart).temperature);
    return [];
  };
  const sampling = (temperature: number) => ({
    description: 'answers',
    sampling: { maxNew: 8, temperature },
  });
  const recipe = {
    name: 'r',
    sets: { main: { optimizer: {} } },
    roles: { solver: sampling(0.7), judge: sampling(1) },
    learn: async (_: RoundRecords, tools: LearnTools) => {
      await tools.alignment('main', [part('solver'), part('judge')], part('solver'));
      const only = { layers: [1], learningRate: 0.1 };
      await tools.trial('main', [{ parts: [part('judge'), part('solver')], epochs: 2, only }], []);
      return { updates: [] };
    },
  };
  const records = { groups: [], round: { settings: { freeze: [] } } } as unknown as RoundRecords;
  await planTraining(recipe as never, records, { alignment, trial } as LearnTools);
  expect(asked).toEqual([0.7, undefined, 0.7, undefined, 0.7]);
});
