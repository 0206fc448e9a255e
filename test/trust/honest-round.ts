/** A small round of the start policy, played in this process: the honest record that forgers start from. */
import type { AuditTools, RoundRecord } from '../../core/audit/audit-round.ts';
import type { KernelEngine } from '../../core/policy/policy.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { trio } from '../../recipes/trio/recipe.ts';

export interface HonestRound {
  readonly record: RoundRecord;
  readonly tools: AuditTools;
  /** Of version 0, which plays in every role. */
  readonly files: VersionFiles;
}

/**
 * `engine`: samples here, and in what `tools` draw again; whoever else audits the record draws with ONNX Runtime, as it says.
 * `ahead`: of the run.
 */
export async function playHonestRound(
  index: number,
  tasks: number,
  groupSize: number,
  { engine, ahead }: { readonly engine?: KernelEngine; readonly ahead?: number } = {},
): Promise<HonestRound> {
  const files = await readPolicyFolder('models/arithmetic-base');
  const settings = {
    recipe: 'trio',
    seed: 11,
    policy: 'trio-11',
    rewardFunction: 'mix',
    freeze: [],
    ...(ahead ? { ahead } : {}),
    tasks,
    groupSize,
  };
  const round = roundOf(settings, { proposer: {}, solver: {}, judge: {} }, index, 0);
  const policy = await openVersion(
    nodeEngines,
    { name: 'trio-11', version: 0, ...(engine && { engine }) },
    files,
  );
  const tools: AuditTools = {
    tokenizer: tokenizerOf(files, 'trio-11'),
    use: (_ref, work) => work(policy),
    recipeState: () => Promise.resolve(undefined),
  };
  const { proposals, groups } = await playStages(openRoundContext({ recipe: trio, round, ...tools }));
  return {
    // As the mesh keeps it: JSON.
    record: { recipe: trio, round, ...JSON.parse(JSON.stringify({ proposals, groups })) },
    tools,
    files,
  };
}
