/** What works on a test's mesh from outside: a learner in this process, and commands. */
import type { Command } from 'commander';
import { vi } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import type { Scene } from './scene.ts';

/** Starts a learner of one recipe. @returns what ends it */
export async function learns(scene: Scene, recipe: Recipe): Promise<() => Promise<void>> {
  const stop = new AbortController();
  await openDevice({ device: 'cpu', threads: 1 });
  const learning = runLearner(
    { queue: scene.queue, gateway: scene.gateway, trainer: new RoundTrainer(), log: () => {} },
    {
      recipes: { recipes: [recipe], find: () => recipe, hosted: new Map() },
      meshKey: scene.mesh.secrets.MESH_KEY,
      maxStaleness: 2,
      // Every sample is drawn again, and has to come to the same bits.
      audit: openAudit(1),
      device: 'test',
      leaseMs: 60_000,
      longestIdleMs: 100,
    },
    stop.signal,
  );
  return async () => {
    stop.abort();
    await learning;
  };
}

/** What a command prints; the mesh is the one that the environment names. */
export async function printed(scene: Scene, command: Command, ...args: string[]): Promise<string> {
  vi.stubEnv('ROLLMESH_URL', scene.mesh.url);
  vi.stubEnv('LEARNER_TOKEN', scene.mesh.secrets.LEARNER_TOKEN);
  const lines: unknown[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(line));
  try {
    await command.exitOverride().parseAsync(args, { from: 'user' });
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
  }
  return lines.join('\n');
}
