/** Rounds that overlap: the mesh comes to the bytes of one process, whichever round is done first and whoever samples it, with the versions that it must. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { weightsFile } from '../../core/schema/policy.ts';
import { type RoundSpec, runIdOf } from '../../core/schema/round.ts';
import { type RoundToTrain, RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { endedRounds } from '../bench/rounds.ts';
import { NIGHT } from '../night.ts';
import { startNode } from '../nodes/in-process-node.ts';
import { openPlaying, type Playing } from './playing.ts';

const PLAYS = [
  // The same as three ahead under another number.
  ...(NIGHT ? [{ recipe: 'trio', ahead: 1, rounds: 3 }] : []),
  // More than the learner is told to allow (openPlaying): the run itself says how old its samples are.
  { recipe: 'trio', ahead: 3, rounds: 5 },
  // A proposer that reads a store of questions which every round adds to.
  { recipe: 'mae', ahead: 1, rounds: 3 },
  // A role with versions of its own behind.
  { recipe: 'llama-rl', ahead: 2, rounds: 4 },
];

const ORDER = { freeze: [], tasks: 4, groupSize: 4, engine: 'kernels' as const };

let playing: Playing;
/** Is called before a round is trained. */
let beforeTraining: (round: RoundSpec) => Promise<void> = async () => {};
class WaitingTrainer extends RoundTrainer {
  override async train(work: RoundToTrain) {
    await beforeTraining(work.round);
    return super.train(work);
  }
}
beforeAll(async () => {
  playing = await openPlaying(
    ['arithmetic-base', 'arithmetic-overthinking'],
    { vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' } },
    shipped,
    undefined,
    new WaitingTrainer(),
  );
});
afterAll(() => playing.stop());

test.each(PLAYS)(
  '$recipe, $ahead ahead: $rounds rounds in the mesh give the bytes of one process',
  async (play) => {
    const { mesh, alone, before } = await playing.play({ ...ORDER, seed: 5, ...play });
    expect(mesh).toEqual(alone);
    expect(mesh[weightsFile()]).not.toBe(before[weightsFile()]);
  },
);

test('a node samples a round that is prepared while another one trains: the bytes of one process', async () => {
  const { gateway, url } = playing;
  const order = { ...ORDER, recipe: 'trio', seed: 6, rounds: 3, ahead: 1 };
  const run = runIdOf(runOf(shipped, order).settings);
  const { token } = await gateway.makeNode('prepares');
  const node = await startNode(url, token);
  onTestFinished(async () => {
    beforeTraining = async () => {};
    await node.stop();
  });
  await expect.poll(async () => (await gateway.listNodes()).map(({ state }) => state)).toEqual(['idle']);
  // No round is trained before the next one is rolled out and judged.
  beforeTraining = async ({ index }) => {
    if (index === order.rounds) return;
    const isPrepared = async () =>
      (await gateway.listRounds(run)).some(
        (round) => round.index === index + 1 && round.state === 'training',
      );
    await expect.poll(isPrepared, { timeout: 120_000 }).toBe(true);
  };
  const { mesh, alone } = await playing.play(order);
  expect(mesh).toEqual(alone);

  const rounds = await endedRounds(gateway, run, order.rounds);
  const [, trained, prepared] = rounds;
  // All of round 3, from its beginning, lies within the time in which round 2 was in training.
  expect(trained!.trainingAt).toBeLessThanOrEqual(prepared!.createdAt);
  expect(prepared!.trainingAt).toBeLessThanOrEqual(trained!.endedAt!);
  for (const { id } of rounds) {
    const shares = await gateway.getShares(id);
    expect(shares.map(({ name }) => name)).toEqual(['prepares']);
    expect(shares[0]!.samples).toBeGreaterThanOrEqual(order.tasks * order.groupSize);
  }
  const [own] = await gateway.listNodes();
  expect(own).toMatchObject({ audited: own!.requests, reason: null });
});
