/** Who can forge what, and what the learner does of it: the table of README.md, played. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { auditMesh } from '../../cli/audit/audit-mesh.ts';
import { drawShare } from '../../core/audit/audit-round.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { shipped } from '../../recipes/index.ts';
import { type HonestRound, playHonestRound } from './honest-round.ts';
import { learnFrom } from './learner-on-stored-round.ts';
import { forgeStored, STORED_FORGERIES, type StoredForgery } from './stored-forgeries.ts';
import { gatewayOf, MESH_KEY, type StoredRound, storeRound } from './stored-round.ts';

const FRACTION = 0.02;

let honest: HonestRound;
let stored: StoredRound;
beforeAll(async () => {
  honest = await playHonestRound(1, 4, 2);
  stored = storeRound(honest);
});

/** A seed whose draw takes the group, or one that leaves it. */
function seedThat(takes: boolean, group: string, groups: readonly string[]): string {
  for (let i = 0; ; i++)
    if (drawShare(groups, FRACTION, `${i}/groups`).includes(group) === takes) return String(i);
}

type Cell = 'refused' | 'trained' | 'refused if drawn';

async function play(forgery: StoredForgery, key: boolean, fraction: number | null): Promise<Cell> {
  const outcome = async (seed: string | null) => {
    const { round, affected } = await forgeStored(forgery, stored, honest, key);
    const audit =
      fraction === null ? undefined : seed === null ? openAudit(fraction) : { fraction, seedOf: () => seed };
    const { trained } = await learnFrom(round, audit);
    const bad = affected.filter((group) => trained.includes(group));
    return { refused: bad.length === 0, round, affected };
  };
  if (fraction !== FRACTION) return (await outcome(null)).refused ? 'refused' : 'trained';
  const groups = stored.rows.map(({ group }) => group);
  const [first] = groups as [string];
  const drawn = await outcome(seedThat(true, first, groups));
  const left = await outcome(seedThat(false, first, groups));
  if (drawn.refused === left.refused) return drawn.refused ? 'refused' : 'trained';
  expect(drawn.refused).toBe(true);
  return 'refused if drawn';
}

test('the honest round is trained, whatever the audit', async () => {
  const none: StoredForgery = {
    name: 'nothing',
    where: 'R2',
    forge: (round) => round.rows.map((r) => r.group),
  };
  for (const key of [false, true])
    for (const fraction of [null, FRACTION, 1]) expect(await play(none, key, fraction)).toBe('trained');
});

test('README.md says who can forge what', async () => {
  const lines = [];
  for (const forgery of STORED_FORGERIES) {
    const cells: Cell[] = [];
    for (const key of [false, true])
      for (const fraction of [null, FRACTION, 1]) cells.push(await play(forgery, key, fraction));
    lines.push(`| ${[forgery.name, forgery.where, ...cells].join(' | ')} |`);
  }
  const told = readFileSync('test/trust/README.md', 'utf8').split('\n');
  const at = told.findIndex((line) => line.startsWith('| forged | written to |')) + 2;
  expect(told.slice(at, at + lines.length)).toEqual(lines);
});

test('the command finds every one of them afterwards, and nothing in an honest round', async () => {
  const audit = async (round: StoredRound) =>
    (
      await auditMesh(gatewayOf(round).gateway, {
        recipes: shipped,
        round: round.spec.id,
        fraction: 1,
        meshKey: MESH_KEY,
        seed: 'any',
      })
    ).findings;
  expect(await audit(stored)).toEqual([]);
  const unseen = [];
  for (const forgery of STORED_FORGERIES)
    for (const key of [false, true]) {
      const { round } = await forgeStored(forgery, stored, honest, key);
      if ((await audit(round)).length === 0) unseen.push([forgery.name, key]);
    }
  expect(unseen).toEqual([]);
});
