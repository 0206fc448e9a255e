/** How many versions behind its samples the learner trains a round: as many as the operator allows, or as the recipe and the run ask for; and none of a version that was rolled back. */
import { beforeAll, expect, test } from 'vitest';
import { registry } from '../../core/recipe/registry.ts';
import type { LearnerSettings } from '../../learner/loop/settings.ts';
import { shipped } from '../../recipes/index.ts';
import { type HonestRound, playHonestRound } from '../trust/honest-round.ts';
import { learnFrom } from '../trust/learner-on-stored-round.ts';
import { putVersion, storeRound, versionRow } from '../trust/stored-round.ts';

const trio = shipped.find('trio');

/** Sampled with version 0: of a run on policy, and of one that is three rounds ahead. */
let onPolicy: HonestRound;
let ahead: HonestRound;
beforeAll(async () => {
  onPolicy = await playHonestRound(1, 2, 2, { engine: 'kernels' });
  ahead = await playHonestRound(1, 2, 2, { engine: 'kernels', ahead: 3 });
});

/** What becomes of the round once the policy has come through these versions, each made from the one before, to the last of them. The others were rolled back. */
async function learnAfter(
  honest: HonestRound,
  chain: readonly number[],
  settings: Pick<LearnerSettings, 'maxStaleness'> & Partial<LearnerSettings>,
  { sampled = 0, newest = chain.at(-1)! }: { readonly sampled?: number; readonly newest?: number } = {},
) {
  const round = storeRound(honest);
  const { roles } = round.spec;
  round.spec = {
    ...round.spec,
    roles: Object.fromEntries(
      Object.entries(roles).map(([role, ref]) => [role, { ...ref, version: sampled }]),
    ),
  };
  const current = chain.at(-1)!;
  const hashes = new Map([
    [0, round.manifests['0']!],
    [current, putVersion(round, honest.files, round.spec.settings.policy, current)],
  ]);
  const versions = Array.from({ length: newest + 1 }, (_, version) => {
    const at = chain.indexOf(version);
    return at < 0
      ? versionRow(version, { withdrawn: 'It was rolled back.' })
      : versionRow(version, {
          parent: chain[at - 1] ?? null,
          ...(hashes.has(version) ? { manifestSha256: hashes.get(version)! } : {}),
        });
  });
  const learned = await learnFrom(round, undefined, settings, { current, versions: versions.reverse() });
  return { ...learned, groups: round.rows.map(({ group }) => group), failure: round.rows[0]!.failure };
}

test('a round whose samples are too many versions behind fails group by group, and nothing is made of it', async () => {
  const { trained, codes, manifest, failure } = await learnAfter(onPolicy, [0, 1, 2, 3], { maxStaleness: 2 });
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
  const { trained, codes, manifest, groups } = await learnAfter(onPolicy, chain, { maxStaleness: 2 });
  expect(codes).toEqual([null, null]);
  expect(trained).toEqual(groups);
  expect(manifest).toMatchObject({ version, parent: chain.at(-1), groups });
});

test('a run is trained as many versions behind as it is rounds ahead, whatever the operator allows, and no more', async () => {
  for (const maxStaleness of [0, 2]) {
    const { trained, groups } = await learnAfter(ahead, [0, 1, 2, 3], { maxStaleness });
    expect(trained).toEqual(groups);
    const { trained: none, failure } = await learnAfter(ahead, [0, 1, 2, 3, 4], { maxStaleness });
    expect(none).toEqual([]);
    expect(failure).toMatchObject({ code: 'group.stale', message: expect.stringContaining('at most 3') });
  }
  // What the operator allows beyond that holds.
  const { trained, groups } = await learnAfter(ahead, [0, 1, 2, 3, 4], { maxStaleness: 4 });
  expect(trained).toEqual(groups);
});

test('a recipe whose samples lag by design adds that to the rounds that its run is ahead', async () => {
  const recipes = registry([{ ...trio, staleness: 1 }]);
  const lagging = await learnAfter(onPolicy, [0, 1], { maxStaleness: 0, recipes });
  expect(lagging.trained).toEqual(lagging.groups);
  const both = await learnAfter(ahead, [0, 1, 2, 3, 4], { maxStaleness: 0, recipes });
  expect(both.trained).toEqual(both.groups);
  const { failure } = await learnAfter(ahead, [0, 1, 2, 3, 4, 5], { maxStaleness: 0, recipes });
  expect(failure).toMatchObject({ code: 'group.stale', message: expect.stringContaining('at most 4') });
});

test.each([
  ['was rolled back while the round waited', [0, 1], { sampled: 2, newest: 3 }],
  ['was rolled back, and later versions were made', [0, 1, 4], { sampled: 2 }],
])('samples of a version that %s are not trained on, however old samples may be', async (_, chain, of) => {
  const { trained, codes, manifest, failure } = await learnAfter(onPolicy, chain, { maxStaleness: 9 }, of);
  expect(codes).toEqual(['version.withdrawn', 'version.withdrawn']);
  expect(failure).toMatchObject({
    kind: 'missing-version',
    message: 'Version 2 of trio-11 was withdrawn.',
  });
  expect(trained).toEqual([]);
  expect(manifest).toBeNull();
});
