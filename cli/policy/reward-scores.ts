/** Scores answers by a stored reward model: what `policy eval` and `policy solve` choose by. */
import { measure } from '../../core/policy/measure.ts';
import type { PolicyRef, TokenIds } from '../../core/policy/policy.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import { adapterFile, headFile, type VersionFiles, weightsFile } from '../../core/schema/policy.ts';
import { expectSameTokens, tokensOf } from '../../core/text/same-tokens.ts';
import { expectHead } from '../../model/head.ts';
import { paidProbabilities } from '../../protocols/questions/model-reward.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { VersionName } from '../shared/version-name.ts';
import { configOf, openPolicy } from './live-policy.ts';
import { fetchVersion } from './stored-version.ts';

/** A reward model whose files are there and fit the policy. */
export interface RewardModelFiles {
  readonly ref: PolicyRef;
  readonly files: VersionFiles;
}

/** Throws `head.missing` or `policy.tokens` where the version cannot read the answers of the policy with these files. */
export async function fetchRewardModel(
  gateway: GatewayClient,
  { name, version }: VersionName,
  { engine }: Pick<PolicyRef, 'engine'>,
  policy: VersionFiles,
): Promise<RewardModelFiles> {
  const ref: PolicyRef = { name, version, ...(engine ? { engine } : {}) };
  const wanted = [...TEXT_FILES, weightsFile(), adapterFile(), headFile()];
  const { files } = await fetchVersion(gateway, ref, wanted);
  expectHead(ref, 'classes', configOf(files), files[headFile()]);
  expectSameTokens(tokensOf(policy), tokensOf(files), ref);
  return { ref, files };
}

interface Answer {
  readonly prompt: TokenIds;
  readonly ids: TokenIds;
}

export interface Scorer {
  /** The probability that each answer is right or preferred, in the order given. An answer that does not fit the model's context gets NaN. */
  readonly score: (answers: readonly Answer[]) => Promise<number[]>;
  readonly dispose: () => Promise<void>;
}

export async function openScorer({ ref, files }: RewardModelFiles): Promise<Scorer> {
  const { maxPositions } = configOf(files);
  const model = await openPolicy(ref, files);
  return {
    async score(answers) {
      const fits = answers.filter(({ prompt, ids }) => prompt.length + ids.length <= maxPositions);
      const measured = await measure(model, fits);
      const scores = new Map(fits.map((answer, i) => [answer, paidProbabilities(measured[i]!, ref)[0]!]));
      return answers.map((answer) => scores.get(answer) ?? Number.NaN);
    },
    dispose: () => model.dispose(),
  };
}
