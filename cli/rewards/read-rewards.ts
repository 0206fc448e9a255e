/** What pays a run on files: the parts of `--reward` as data, and the modules among them. */
import type { RewardModules } from '../../core/recipe/from-files.ts';
import { ensureSecret } from '../../local/mesh/secrets.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { type BundledReward, bundleReward, loadReward, tryReward } from './reward-module.ts';
import { parseRewards } from './reward-option.ts';
import { readRubric } from './rubric-file.ts';

/** Makes the secret with which requests to a service are signed, where there is none yet. */
function expectRewardSecret(url: string): void {
  if (ensureSecret('.', 'REWARD_SECRET'))
    console.error(
      `A new REWARD_SECRET is in .dev.vars: it signs the requests to ${url}, which can check them by it (docs/tasks.md).`,
    );
}

export interface ReadRewards {
  /** The weighted sum as data, rubrics included; empty where the option names no sum. */
  readonly rewards: readonly object[];
  readonly bundles: readonly BundledReward[];
  readonly modules: RewardModules;
}

/** The rewards of the option, each module tried on some of the tasks. */
export async function readRewards(
  option: string | undefined,
  tasks: readonly PlacedTask[],
): Promise<ReadRewards> {
  const rewards: object[] = [];
  const bundles: BundledReward[] = [];
  const modules: Record<string, RewardModules[string]> = {};
  for (const { name, weight, from } of (option === undefined ? null : parseRewards(option)) ?? [])
    if ('module' in from) {
      const bundle = await bundleReward(from.module);
      const module = await loadReward(from.module, bundle);
      tryReward(from.module, module, tasks);
      bundles.push(bundle);
      modules[bundle.hash] = module;
      rewards.push({ name, weight, from: { module: bundle.hash } });
    } else if ('rubric' in from)
      rewards.push({ name, weight, from: { ...from, rubric: await readRubric(from.rubric) } });
    else {
      if ('url' in from) expectRewardSecret(from.url);
      rewards.push({ name, weight, from });
    }
  return { rewards, bundles, modules };
}
