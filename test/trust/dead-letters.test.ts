import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { openScene, type Scene } from '../mesh/scene.ts';

let scene: Scene;
let round: string;
beforeAll(async () => {
  scene = await openScene();
  // A policy without a tokenizer is valid for token ids, but its roles cannot speak.
  const { 'tokenizer.json': _, ...mute } = await scene.gateway.getVersion({
    name: 'arithmetic-base',
    version: 0,
  });
  const about = { policy: 'mute', version: 0, parent: null, groups: [], round: null, settings: {} };
  await scene.gateway.putVersion(mute, about);
  ({ round } = await scene.order({
    recipe: 'trio',
    seed: 5,
    tasks: 2,
    groupSize: 2,
    policy: 'mute',
    engine: 'kernels',
  }));
  await scene.reach(round, ['failed']);
});
afterAll(() => scene.stop());

/** The command against this mesh; its lines, and its exit code. */
async function command(...args: readonly string[]): Promise<{ lines: string[]; code: number }> {
  const env = {
    ...process.env,
    ROLLMESH_URL: scene.mesh.url,
    LEARNER_TOKEN: scene.mesh.secrets.LEARNER_TOKEN,
  };
  const done = promisify(execFile)(
    process.execPath,
    [...NODE_FLAGS, 'cli/rollmesh.ts', 'dead-letters', ...args],
    {
      env,
    },
  ).catch((error: unknown) => error);
  const { stdout, code = 0 } = (await done) as { stdout: string; code?: number };
  return { lines: stdout.trim().split('\n'), code };
}

test('a message that died is listed with its cause, sent again, and dies as the same letter', async () => {
  const listed = await command('list', '--json');
  const letter = JSON.parse(listed.lines[0]!) as Record<string, unknown>;
  expect(letter).toMatchObject({
    round,
    queue: 'propose',
    kind: 'wrong-input',
    attempts: 1,
    replayedAt: null,
  });
  expect(letter.cause).toMatch(/tokenizer/);

  expect(await command('replay', String(letter.id))).toEqual({ lines: [`${letter.id}  sent`], code: 0 });
  await scene.reach(round, ['failed']);
  const again = await scene.gateway.listDeadLetters(true);
  expect(again.map(({ id }) => id)).toEqual([letter.id]);
});

test('a round that has moved on takes nothing back, and the letter is kept', async () => {
  const [letter] = await scene.gateway.listDeadLetters(true);
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  await db.prepare(`UPDATE rounds SET state = 'done' WHERE id = ?`).bind(round).run();
  const { lines, code } = await command('replay', '--json');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { id: letter!.id, state: 'refused' },
  ]);
  expect(code).toBe(1);
  expect(await scene.gateway.listDeadLetters()).toHaveLength(1);
});
