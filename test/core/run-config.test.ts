import { expect, test } from 'vitest';
import { defineConfig, flagsOf } from '../../core/runs/run-config.ts';

test('a configuration is the flags that say the same', () => {
  const config = defineConfig({
    recipe: 'grpo',
    policy: 'mine',
    files: { 'a.jsonl': 3, 'b.jsonl': 1 },
    tasks: 16,
    groupSize: 4,
    heldOut: 0.2,
    extract: ['boxed', 'whole'],
    fields: { question: 'problem' },
    reward: { checker: 1, './length.ts': -0.2 },
    settings: { maxNew: 64, optimizer: { learningRate: 3e-5, schedule: 'cosine' } },
    evalEvery: 2,
  });
  expect(flagsOf(config, 'c')).toEqual(
    [
      '--recipe=grpo',
      '--policy=mine',
      '--tasks=a.jsonl@3',
      '--tasks=b.jsonl@1',
      '--tasks-per-round=16',
      '--group-size=4',
      '--held-out=0.2',
      '--extract=boxed,whole',
      '--fields=question=problem',
      '--reward=checker=1,./length.ts=-0.2',
      '--set=maxNew=64',
      '--set=optimizer.learningRate=0.00003',
      '--set=optimizer.schedule=cosine',
      '--eval-every=2',
    ].sort((a, b) => order(a) - order(b)),
  );
  expect(flagsOf({ files: 'a.jsonl' }, 'c')).toEqual(['--tasks=a.jsonl']);
});

/** The place of a flag in the list, which goes by the order of the schema's fields. */
const order = (flag: string): number => {
  const fields = [
    'recipe',
    'policy',
    'tasks-per-round',
    'group-size',
    'tasks=',
    'held-out',
    'extract',
    'fields',
    'reward',
    'set',
    'eval-every',
  ];
  return fields.findIndex((field) => flag.startsWith(`--${field}`));
};

test('unknown fields and wrong values are told, with the nearest right name', () => {
  expect(() => flagsOf({ polcy: 'mine' }, 'rollmesh.config.ts')).toThrow(
    /rollmesh\.config\.ts has an unknown field "polcy"\. Expected policy, perhaps, or one of recipe/,
  );
  expect(() => flagsOf({ optimizer: {} }, 'c')).toThrow(/stands in `settings`/);
  expect(() => flagsOf({ rounds: 'ten' }, 'c')).toThrow(/c: rounds is "ten"\. Expected number for rounds/);
  expect(() => flagsOf(undefined, 'c')).toThrow(/c: it is undefined\. Expected export default defineConfig/);
});
