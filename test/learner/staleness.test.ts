/** How many versions behind its samples the learner trains a round: as many as the operator allows, or as the recipe and the run ask for. */
import { beforeAll, expect, test } from 'vitest';
import { registry } from '../../core/registry.ts';
import type { LearnerSettings } from '../../learner/loop/settings.ts';
import { trio } from '../../recipes/trio/recipe.ts';
import { type HonestRound, playHonestRound } from '../trust/honest-round.ts';
import { learnFrom } from '../trust/learner-on-stored-round.ts';
import { putVersion, storeRound, versionRow } from '../trust/stored-round.ts';

/** Of a run that is one round ahead, sampled with version 0. */
let honest: HonestRound;
beforeAll(async () => {
  honest = await playHonestRound(1, 2, 2, { engine: 'kernels', ahead: 1 });
});

/** What becomes of the round once the policy has come through these versions, each made from the one before, to the last of them. */
async function learnAfter(
  chain: readonly number[],
  settings: Pick<LearnerSettings, 'maxStaleness'> & Partial<LearnerSettings>,
) {
  const round = storeRound(honest);
  const current = chain.at(-1)!;
  putVersion(round, honest.files, round.spec.settings.policy, current);
  const versions = Array.from({ length: current + 1 }, (_, version) => {
    const at = chain.indexOf(version);
    return at < 0
      ? versionRow(version, { withdrawn: 'It was rolled back.' })
      : versionRow(version, { parent: chain[at - 1] ?? null });
  });
  const learned = await learnFrom(round, undefined, settings, { current, versions: versions.reverse() });
  return { ...learned, groups: round.rows.map(({ group }) => group), failure: round.rows[0]!.failure };
}

test('a round whose samples are too many versions behind fails group by group, and nothing is made of it', async () => {
  const { trained, codes, manifest, failure } = await learnAfter([0, 1, 2, 3], { maxStaleness: 2 });
  expect(codes).toEqual(['group.stale', 'group.stale']);
  expect(failure).toMatchObject({
    kind: 'give-up',
    message: 'The samples are 3 versions behind; at most 2 are trained on.',
  });
  expect(trained).toEqual([]);
  expect(manifest).toBeNull();
});

test.each([
  ['as many versions behind as are allowed', [0, 1, 2], 3],
  ['no more behind along the chain of parents, whatever the numbers of withdrawn versions', [0, 3, 4], 5],
])('samples that are %s are trained on', async (_, chain, version) => {
  const { trained, codes, manifest, groups } = await learnAfter(chain, { maxStaleness: 2 });
  expect(codes).toEqual([null, null]);
  expect(trained).toEqual(groups);
  expect(manifest).toMatchObject({ version, parent: chain.at(-1), groups });
});

test('a recipe whose samples lag by design adds the rounds that its run is ahead; another one is held to what is allowed', async () => {
  const recipes = registry([{ ...trio, staleness: 1 }]);
  expect((await learnAfter([0, 1], { maxStaleness: 0 })).codes).toEqual(['group.stale', 'group.stale']);
  const { trained, groups } = await learnAfter([0, 1, 2], { maxStaleness: 0, recipes });
  expect(trained).toEqual(groups);
  const { failure } = await learnAfter([0, 1, 2, 3], { maxStaleness: 0, recipes });
  expect(failure).toMatchObject({ code: 'group.stale', message: expect.stringContaining('at most 2') });
  // What the operator allows beyond that holds.
  expect((await learnAfter([0, 1, 2, 3], { maxStaleness: 3, recipes })).trained).toEqual(groups);
});
