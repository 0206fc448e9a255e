/** Stopping the mesh anywhere and starting it again on the same folder: queues were in memory, the rounds go on all the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { runStateWords } from '../../cli/runs.ts';
import { storeTasks } from '../../cli/shared/store-tasks.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { ScoredMessage } from '../../core/schema/round.ts';
import type { MeshOptions } from '../../local/mesh/start.ts';
import { openScene, type Scene, temporaryFolder } from './scene.ts';

const ORDER = { recipe: 'trio', tasks: 24, groupSize: 2, seed: 9, engine: 'kernels' };
let last: { stop(): Promise<void> } | undefined;
afterEach(() => last?.stop());

/** Opens a mesh on the same folder each time. */
function reopening(options: MeshOptions = {}) {
  const stateDir = temporaryFolder();
  return async (): Promise<Scene> => {
    const scene = await openScene({ ...options, stateDir });
    last = scene;
    return scene;
  };
}

test('a round that is cut off in any stage ends, with each group scored once', async () => {
  const open = reopening();
  const first = await open();
  const { round } = await first.order(ORDER);
  // Stopped at once: the propose message is lost with the queue.
  await first.stop(true);

  const second = await open();
  expect((await second.gateway.getRound(round)).state).toBe('proposing');
  await second.mesh.cron();
  await second.reach(round, ['rollout']);
  // Stopped in the middle: rollout and judge messages are lost.
  await second.stop(true);

  const third = await open();
  await third.mesh.cron();
  const state = await third.reach(round, ['training']);
  expect(state.groups).toEqual({ rollout: 0, scored: 24, trained: 0, failed: 0 });
  const groups = await third.gateway.getGroups(round);
  const leased = await third.pullOf(round, groups.length);
  // Acknowledged, and then the learner's machine is gone: nobody has them any more but the clock, which seals them again.
  await third.queue.ack(leased.map(({ lease }) => lease));
  await third.stop(true);

  const fourth = await open();
  await fourth.mesh.cron();
  const again = new Map<string, ScoredMessage>();
  while (again.size < groups.length)
    for (const { body } of await fourth.drain()) {
      const message = body as ScoredMessage;
      again.set(message.group, message);
    }
  for (const { group, sha256 } of groups) expect(again.get(group)?.sha256).toBe(sha256);

  const { policy } = state.spec.settings;
  const files = await fourth.gateway.getVersion({ name: policy, version: 0 });
  const about = {
    policy,
    version: 1,
    parent: 0,
    groups: groups.map(({ group }) => group),
    round,
    settings: {},
  };
  await fourth.gateway.putVersion(files, about);
  expect((await fourth.gateway.getRound(round)).groups).toMatchObject({ trained: 24, scored: 0 });
  // A clock that comes late finds nothing to do.
  await fourth.mesh.cron();
  expect((await fourth.gateway.getRound(round)).state).toBe('done');
  expect(await fourth.gateway.listRounds(state.run)).toHaveLength(1);
});

test('a start that pauses plays nothing of an interrupted run until it is resumed, in every stage', async () => {
  const open = reopening({ pause: true });
  const order = { ...ORDER, tasks: 6, seed: 10 };
  const first = await open();
  const { run, round } = await first.order(order);
  await first.stop(true);

  /** What a mesh makes of the round that only ticks, and then of the run that is resumed. */
  const resumed = async (
    state: 'proposing' | 'rollout' | 'training',
    then: readonly ('rollout' | 'training')[],
  ) => {
    const scene = await open();
    await scene.mesh.cron();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await scene.mesh.cron();
    const before = await scene.gateway.getRound(round);
    expect(before).toMatchObject({ state, paused: true });
    const [listed] = await scene.gateway.listRuns();
    expect(listed).toMatchObject({ id: run, state: 'paused' });
    expect(runStateWords(listed!)).toBe('paused');
    expect((await scene.gateway.resumeRun(run)).state).toBe('open');
    await scene.mesh.cron();
    return { scene, after: await scene.reach(round, then), before };
  };
  const second = await resumed('proposing', ['rollout']);
  expect(second.after.paused).toBeUndefined();
  // The time of the pause is not the round's.
  expect(second.after.createdAt).toBeGreaterThan(second.before.createdAt);
  await second.scene.stop(true);

  const third = await resumed('rollout', ['training']);
  expect(third.after.groups).toEqual({ rollout: 0, scored: 6, trained: 0, failed: 0 });
  await third.scene.stop(true);

  // The messages for the learner outlive the mesh; it leaves them alone while the run is paused.
  const fourth = await open();
  expect(await fourth.gateway.getRound(round)).toMatchObject({ state: 'training', paused: true });
  // An order resumes as well, and adds its rounds.
  expect(await fourth.order({ ...order, rounds: 1 })).toMatchObject({ run, rounds: 2 });
  expect((await fourth.gateway.getRun(run)).state).toBe('open');
  await fourth.stop(true);

  // A run that has all its rounds is never paused.
  const fifth = await open();
  await fifth.gateway.stopRun(run, 'a test');
  await fifth.stop(true);
  const sixth = await open();
  expect((await sixth.gateway.getRun(run)).state).toBe('stopped');
});

test('a run on a large file that is cut off while it proposes loses no question, and asks none twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-restart-'));
  const file = join(folder, 'large.jsonl');
  const rows = Array.from({ length: 300 }, (_, i) => `{"question": "${i}+1", "answer": ${i + 1}}\n`);
  writeFileSync(file, rows.join(''));
  const made = (await taskRecipe(
    {
      ...{ recipe: 'grpo', policy: 'arithmetic-base', tasks: [file], heldOut: '0.1' },
      ...{ checker: 'number', extract: ['whole'], set: ['maxNew=4', 'examined=10'] },
    },
    { inCode: 12_000, shard: 1000 },
  ))!;
  const { modules } = await openRecipes([await made.write(join(folder, 'recipes'))]);
  const open = reopening({ recipes: modules.map((module) => module.file) });
  const order = {
    recipe: made.recipe.name,
    policy: 'arithmetic-base',
    tasks: 12,
    groupSize: 2,
    engine: 'kernels',
  };

  const first = await open();
  // Killed between the order and the objects: the round waits for them.
  const stored = [...new Set(made.recipe.stored)];
  expect(await first.gateway.missingTasks(stored)).toEqual(stored);
  const { round } = await first.order(order);
  await first.stop(true);

  const second = await open();
  await storeTasks(second.gateway, modules, () => {});
  expect(await second.gateway.missingTasks(stored)).toEqual([]);
  await second.mesh.cron();
  await second.reach(round, ['rollout']);
  await second.stop(true);

  const third = await open();
  await third.mesh.cron();
  const state = await third.reach(round, ['training']);
  expect(state.groups).toEqual({ rollout: 0, scored: 12, trained: 0, failed: 0 });
  const asked: string[] = [];
  for await (const { task } of third.gateway.contentsOf(round))
    asked.push(JSON.parse(task).messages[0].content);
  expect(new Set(asked).size).toBe(12);
  const all = new Set(rows.map((row) => JSON.parse(row).question as string));
  expect(asked.every((question) => all.has(question))).toBe(true);
  rmSync(folder, { recursive: true, force: true });
});
