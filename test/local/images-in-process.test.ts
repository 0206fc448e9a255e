/** A run whose prompts show images, in one process: what it samples and trains depends on them, and who cannot see or carry them says so. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { imagesIn, piecesOf } from '../../core/images/patches.ts';
import { sha256Hex } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { hasToSee, type RoleSettings } from '../../core/recipe/role.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { keys, roundIdOf, runIdOf } from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { type RoundToTrain, RoundTrainer } from '../../learner/train/round-trainer.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { PATCH_PROJECTION } from '../../model/checkpoint.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { readTask } from '../../worlds/canvas/family.ts';
import { drawScene } from '../../worlds/canvas/scene.ts';
import { inShippedWorld } from '../../worlds/shipped-worlds.ts';
import { temporaryFolder } from '../mesh/scene.ts';

const recipe = inShippedWorld(shipped.find('dapo'), 'canvas');

/** A round of GRPO on few tasks, from a start policy, beside policies for other roles. */
async function play(
  start: VersionFiles,
  played: Recipe = recipe,
  others: Readonly<Record<string, VersionFiles>> = {},
) {
  const order = { recipe: played.name, variant: 'grpo', engine: 'kernels', tasks: 6, groupSize: 6 } as const;
  const run = runOf(registry([played]), { ...order, seed: 1, rounds: 1, freeze: [] });
  const store = new MemoryRunStore();
  const { policy } = run.settings;
  await store.commitVersion({ name: policy, version: 0 }, start);
  for (const [name, files] of Object.entries(others)) await store.commitVersion({ name, version: 0 }, files);
  const silent = { started: () => {}, evaluatedStart: () => {}, round: () => {}, finished: () => {} };
  const how = { device: 'cpu', threads: 1, revectorize: false, evalEvery: 1 } as const;
  await playInProcess(run, how, store, silent, { ...HELD_OUT, most: 14 });
  const round = roundIdOf(runIdOf(run.settings), 1);
  const { tasks } = (await store.getRecord(keys.proposals(round))) as Proposals;
  const groups = await Promise.all(tasks.map(({ group }) => store.getRecord(keys.scored(round, group))));
  return {
    groups: groups as ScoredGroup[],
    trained: await store.loadVersion({ name: policy, version: 1 }),
  };
}

test('a round of grpo on pictures trains the projection, to the same bytes', async () => {
  const start = await readPolicyFolder('models/canvas');
  const { groups, trained } = await play(start);
  for (const { task, samples } of groups)
    for (const { prompt, ids } of samples) {
      // The record says which picture was shown: that of the task.
      const [shown, ...others] = imagesIn(prompt);
      const { width, height, pixels } = drawScene(readTask(task)!.scene);
      const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`);
      expect(shown!.image).toBe(sha256Hex(Uint8Array.of(...header, ...pixels)));
      expect([others, ids.every((id) => id < 100)]).toEqual([[], true]);
    }
  const projection = (files: VersionFiles) =>
    readSafetensors(files['model.safetensors']!).get(PATCH_PROJECTION)!.data;
  expect(projection(trained)).not.toEqual(projection(start));
  const again = await play(start);
  expect(sha256Hex(again.trained['model.safetensors']!)).toBe(sha256Hex(trained['model.safetensors']!));
  expect(again.groups).toEqual(groups);
});

test('a policy that does not see is refused before anything is sampled', async () => {
  await expect(play(await readPolicyFolder('models/composition'))).rejects.toMatchObject({
    code: 'policy.blind',
  });
});

test('so is a judge, a teacher or a reward model that does not see, unless it is not told what is asked', async () => {
  const blind = await readPolicyFolder('models/composition');
  const start = await readPolicyFolder('models/canvas');
  const asked = { description: 'grades', speaksAs: 'solver', sampling: { maxNew: 4, temperature: 1 } };
  const graded = (role: RoleSettings): Recipe => ({
    ...recipe,
    roles: { ...recipe.roles, judge: role },
    bindings: () => ({ judge: { fixed: { name: 'blind', version: 0 } } }),
  });
  for (const role of [{ readsQuestion: true }, { teaches: true }, { measures: 'classes' }] as const)
    await expect(play(start, graded({ ...asked, ...role }), { blind })).rejects.toMatchObject({
      code: 'policy.blind',
      message: expect.stringContaining('The policy blind does not see, and '),
    });
  expect(hasToSee(asked)).toBe(false);
});

test('`--world canvas` writes a module of the recipe in the shipped world', async () => {
  const folder = temporaryFolder();
  const changed = (await changedRecipe('dapo', ['optimizer.learningRate=3e-4'], 'canvas'))!;
  expect(changed.recipe).toMatchObject({ startPolicy: 'canvas', showsImages: { rows: 6, columns: 6 } });
  const file = await changed.write(folder);
  expect(existsSync(file)).toBe(true);
  const { named } = await openRecipes([file]);
  expect(named[0]).toMatchObject({
    name: changed.recipe.name,
    startPolicy: 'canvas',
    showsImages: { rows: 6, columns: 6 },
  });
  await expect(changedRecipe('trio', [], 'canvas')).rejects.toMatchObject({ code: 'world.lacks' });
});

test('the trainer asks for the images of records that it lacks before it plans', async () => {
  const start = await readPolicyFolder('models/canvas');
  const unknown = sha256Hex(Uint8Array.of(1, 2, 3));
  const prompt = [...(piecesOf(`<image:${unknown}:3x3>`)[1] as number[]), 5];
  await openDevice({ device: 'cpu', threads: 1 });
  const trainer = new RoundTrainer();
  const asked: string[] = [];
  const work = {
    recipe,
    round: { settings: { policy: 'canvas' } },
    proposals: { tasks: [], samples: [] },
    groups: [{ samples: [{ prompt }], judgments: [] }],
    parent: 0,
    next: 1,
    load: async () => start,
    readImage: async (sha256: string) => {
      asked.push(sha256);
      return Uint8Array.of(1, 2, 3);
    },
  };
  await expect(trainer.train(work as unknown as RoundToTrain)).rejects.toMatchObject({
    code: 'image.damaged',
  });
  expect(asked).toEqual([unknown]);
  trainer.dispose();
});
