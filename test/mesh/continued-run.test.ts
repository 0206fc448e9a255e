/** A run in one process that continues a policy which another run trained. */
import { expect, test } from 'vitest';
import { explainStart } from '../../cli/start/progress.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { progressOf, runInProcess } from '../../local/run/single-process.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

test('it begins at the newest version, goes on from its own rounds, and its curve begins there', async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  const store = new MemoryRunStore();
  const seed = await readPolicyFolder('models/arithmetic-base');
  await store.commitVersion({ name: 'shared', version: 0 }, seed);
  const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
  const trainer = new RoundTrainer();
  const play = async (tasks: number, rounds: number) => {
    const sizes = { rounds, tasks, groupSize: 4, engine: 'kernels' as const };
    const { recipe, settings } = runOf(shipped, {
      recipe: 'trio',
      seed: 0,
      freeze: [],
      policy: 'shared',
      ...sizes,
    });
    const progress = await progressOf(settings, store);
    const summary = await runInProcess({
      recipe,
      settings,
      rounds,
      evaluateEvery: 100,
      store,
      trainer,
      tokenizer: tokenizerOf(seed, 'shared'),
      use: policies.use,
      roles: bindingsOf(recipe, settings),
      evaluationTasks: { ...HELD_OUT, most: 8 },
    });
    return { settings, progress, summary };
  };
  const first = await play(4, 2);
  expect(first.progress).toEqual({ done: 0, from: 0 });
  expect(first.summary).toMatchObject({ from: 0, versions: { solver: 2 } });

  const second = await play(6, 1);
  expect(second.progress).toEqual({ done: 0, from: 2 });
  expect(explainStart({ settings: second.settings, rounds: 1, device: 'CPU', from: 2 }).join('\n')).toContain(
    'shared is at version 2, trained before this run',
  );
  expect(second.summary).toMatchObject({ from: 2, versions: { solver: 3 } });
  // Its curve begins where the first run's ended, not at version 0.
  expect(second.summary.heldout[0]!.accuracy).toBe(first.summary.heldout.at(-1)!.accuracy);

  const extended = await play(6, 2);
  expect(extended.progress).toEqual({ done: 1, from: 0 });
  expect(extended.summary).toMatchObject({ from: 2, rounds: 2, versions: { solver: 4 } });
  await policies.dispose();
  trainer.dispose();
});
