/** A small round of the seed policy, played in this process: the honest record that forgers start from. */
import type { AuditTools, RoundRecord } from '../../core/audit/audit-round.ts';
import { playStages } from '../../core/roles/play-stages.ts';
import { openStage } from '../../core/roles/stage.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { openVersion } from '../../infer/open-version.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { readSeed } from '../../model/seed-files.ts';
import { trio } from '../../recipes/trio.ts';

export interface HonestRound {
  readonly record: RoundRecord;
  readonly tools: AuditTools;
  /** Of version 0, which plays in every role. */
  readonly files: VersionFiles;
}

export async function playHonestRound(index: number, tasks: number, group: number): Promise<HonestRound> {
  const files = await readSeed('models/seed');
  const settings = { recipe: 'trio', seed: 11, policy: 'trio-11', reward: 'mix', freeze: [], tasks, group };
  const round = roundOf(settings, { proposer: {}, solver: {}, judge: {} }, index, 0);
  const policy = await openVersion(nodeEngines, { name: 'trio-11', version: 0 }, files);
  const tools: AuditTools = {
    tokenizer: tokenizerOf(files, 'trio-11'),
    use: (_ref, work) => work(policy),
    memory: () => Promise.resolve(undefined),
  };
  const { proposals, groups } = await playStages(openStage({ recipe: trio, round, ...tools }));
  return {
    // As the mesh keeps it: JSON.
    record: { recipe: trio, round, ...JSON.parse(JSON.stringify({ proposals, groups })) },
    tools,
    files,
  };
}
