/** A small round of the seed policy, played in this process: the honest record that forgers start from. */
import type { AuditTools, RoundRecord } from '../../core/audit/audit-round.ts';
import { judge } from '../../core/roles/judge.ts';
import { propose } from '../../core/roles/propose.ts';
import { solve } from '../../core/roles/solve.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { readSeed } from '../../model/seed-files.ts';
import { trio } from '../../recipes/trio.ts';

export interface HonestRound {
  readonly record: RoundRecord;
  readonly tools: AuditTools;
}

export async function playHonestRound(index: number, tasks: number, group: number): Promise<HonestRound> {
  const files = await readSeed('models/seed');
  const settings = { recipe: 'trio', seed: 11, policy: 'trio-11', reward: 'mix', freeze: [], tasks, group };
  const round = roundOf(settings, trio.roles, index, 0);
  const policy = await openVersion(await loadOrt(), { name: 'trio-11', version: 0 }, files);
  const tokenizer = tokenizerOf(files, 'trio-11');
  const stage = { recipe: trio, round, policy, tokenizer };
  const proposals = await propose(stage);
  const groups = await judge(stage, await solve(stage, proposals.tasks));
  return {
    // As the mesh keeps it: JSON.
    record: { recipe: trio, round, ...JSON.parse(JSON.stringify({ proposals, groups })) },
    tools: { policyOf: () => policy, tokenizerOf: () => tokenizer },
  };
}
