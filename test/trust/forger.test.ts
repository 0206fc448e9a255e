/** What the learner trains of a round that a forger had in hand: the learner's own code over the mesh's rows and objects. */
import { beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../core/audit/audit-round.ts';
import { keys, type RunSettings, roundOf, runIdOf } from '../../core/schema/round.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { withRoundPolicies } from '../../learner/loop/round-policies.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf, wrongRound } from '../../recipes/run-order.ts';
import { playHonestRound } from './honest-round.ts';
import { learnFrom } from './learner-on-stored-round.ts';
import {
  copyOf,
  gatewayOf,
  MESH_KEY,
  putObject,
  type StoredRound,
  sealAll,
  stateOf,
  storeRound,
} from './stored-round.ts';

const GROUPS = 8;

let honest: StoredRound;
beforeAll(async () => {
  honest = storeRound(await playHonestRound(1, GROUPS, 2));
});

/** The smallest lie that needs no change elsewhere, sealed by who has the key. */
function forgeLogprobs(round: StoredRound, groups: readonly string[]): void {
  for (const row of round.rows) {
    if (!groups.includes(row.group)) continue;
    const key = keys.scored(round.spec.id, row.group);
    const scored = JSON.parse(new TextDecoder().decode(round.objects.get(key)));
    scored.samples[0].logprobs[0] -= 0.001;
    row.sha256 = putObject(round, key, scored);
  }
  sealAll(round);
}

const groupsOf = ({ rows }: StoredRound) => rows.map(({ group }) => group);

test('the audit samples by the sealed manifests alone, whatever weights and manifest stand in their place', async () => {
  const { gateway } = gatewayOf(honest);
  const { spec, manifests } = stateOf(honest);
  const ref = { name: spec.settings.policy, version: 0 };
  const opened = (sealed: Readonly<Record<string, string>>) =>
    withRoundPolicies(gateway, { spec, manifests: sealed }, ({ use }) =>
      use(ref, async (policy) => policy.ref),
    );
  expect(await opened(manifests)).toMatchObject(ref);
  const another = Object.fromEntries(Object.keys(manifests).map((version) => [version, '0'.repeat(64)]));
  await expect(opened(another)).rejects.toMatchObject({ code: 'version.manifest' });
});

test('an honest round is trained whole, with and without an audit, and its manifest tells the draw', async () => {
  const all = groupsOf(honest);
  expect((await learnFrom(copyOf(honest))).trained).toEqual(all);
  const audit = openAudit(0.02);
  const { trained, manifest } = await learnFrom(copyOf(honest), audit);
  expect(trained).toEqual(all);
  expect(manifest?.audit).toEqual({ fraction: 0.02, drawSeed: audit.seedOf(honest.spec.id) });
});

test('one space in the proposals does not switch the audit off: the round is refused', async () => {
  const forged = copyOf(honest);
  forgeLogprobs(forged, groupsOf(forged));
  const key = keys.proposals(forged.spec.id);
  const text = new TextDecoder().decode(forged.objects.get(key));
  forged.objects.set(key, new TextEncoder().encode(`${text} `));
  const { trained, codes } = await learnFrom(forged, openAudit(1));
  expect(trained).toEqual([]);
  expect(codes).toEqual(Array(GROUPS).fill('object.hash'));
});

test('who holds the mesh’s key cannot know which groups are drawn again', async () => {
  const all = groupsOf(honest);
  const fraction = 0.25;
  /** Forges every group but those that a draw with this seed takes. */
  const avoiding = (seed: string) => {
    const drawn = drawShare(all, fraction, `${seed}/groups`);
    const forged = copyOf(honest);
    forgeLogprobs(
      forged,
      all.filter((group) => !drawn.includes(group)),
    );
    return forged;
  };
  // If the draw followed from the key, nothing would be found.
  const known = (round: string) => `${MESH_KEY}/${round}`;
  const control = await learnFrom(avoiding(known(honest.spec.id)), { fraction, seedOf: known });
  expect(control.trained).toEqual(all);
  // Of 20 learners that draw 2 of 8 by a secret of their own, one draws exactly the 2 honest ones with probability 1/28.
  let caught = 0;
  for (let start = 0; start < 20; start++) {
    const { codes } = await learnFrom(avoiding(known(honest.spec.id)), openAudit(fraction));
    if (codes.includes('audit.log-probability')) caught++;
  }
  // All are expected but 0.7; 14 or fewer would come about once in 10^4.
  expect(caught).toBeGreaterThanOrEqual(15);
});

test('no draw follows from another: not from that of another start, not from what a manifest told', () => {
  const [one, two] = [openAudit(0.5), openAudit(0.5)];
  const seeds = [one, two].flatMap((audit) => ['round a', 'round b'].map(audit.seedOf));
  expect(new Set(seeds).size).toBe(4);
  expect(one.seedOf('round a')).toBe(seeds[0]);
});

test('a round is held to its id by its settings, and its roles to the settings', () => {
  const order = { recipe: 'ttrl', seed: 3, rounds: 1, freeze: [] as string[], weights: 'int8' as const };
  const { settings, recipe } = runOf(shipped, order);
  const round = roundOf(settings, bindingsOf(recipe, settings), 2, 1);
  expect(wrongRound(shipped, round)).toBeNull();
  const withSettings = (change: Partial<RunSettings>) => ({ ...round, settings: { ...settings, ...change } });
  for (const change of [
    { seed: 4 },
    { rewardFunction: 'gold' },
    { tasks: 1 },
    { groupSize: 2 },
    { freeze: ['solver'] },
  ])
    expect(wrongRound(shipped, withSettings(change)), JSON.stringify(change)).toMatch(
      /not those from which its id/,
    );
  expect(wrongRound(shipped, { ...round, index: 3 })).toMatch(/not those from which its id/);
  // The id is made of joined text: these make the same one, and are no settings that anybody can order.
  const { weights: _, ...rest } = settings;
  const disguised = { ...round, settings: { ...rest, variant: 'weights int8' } };
  expect(runIdOf(disguised.settings)).toBe(round.run);
  expect(wrongRound(shipped, disguised)).toMatch(/never ordered/);
  const [role, ref] = Object.entries(round.roles)[0]!;
  const withRole = (change: object) => ({
    ...round,
    roles: { ...round.roles, [role]: { ...ref, ...change } },
  });
  expect(wrongRound(shipped, withRole({ weights: undefined }))).toMatch(/against the settings/);
  expect(wrongRound(shipped, withRole({ name: 'other' }))).toMatch(/against the settings/);
});

test('two frozen roles are not one whose name holds a comma, though they make the same id', () => {
  const { settings, recipe } = runOf(shipped, {
    recipe: 'trio',
    seed: 3,
    rounds: 1,
    freeze: ['proposer', 'judge'],
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  expect(wrongRound(shipped, round)).toBeNull();
  const thawed = { ...round, settings: { ...settings, freeze: ['judge,proposer'] } };
  expect(runIdOf(thawed.settings)).toBe(round.run);
  expect(wrongRound(shipped, thawed)).toMatch(/never ordered/);
});
