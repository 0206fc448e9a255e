/** Scores answers by a stored reward model: what `policy eval` and `policy solve` choose by. */

import { wrongInput } from '../../core/errors.ts';
import { measure } from '../../core/policy/measure.ts';
import type { PolicyRef, TokenIds } from '../../core/policy/policy.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import type { Measurement } from '../../core/schema/measurement.ts';
import { adapterFile, headFile, type VersionFiles, weightsFile } from '../../core/schema/policy.ts';
import { expectSameTokens, tokensOf } from '../../core/text/same-tokens.ts';
import { expectHead, readHead } from '../../model/head.ts';
import { paidProbabilities } from '../../protocols/questions/model-reward.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { nameOfSet, type SetName } from '../shared/version-name.ts';
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
  { name, version, set }: SetName,
  { engine }: Pick<PolicyRef, 'engine'>,
  policy: VersionFiles,
): Promise<RewardModelFiles> {
  const ref: PolicyRef = { name, version, ...(set ? { set } : {}), ...(engine ? { engine } : {}) };
  const own = set ? [weightsFile(set), adapterFile(set)] : [];
  const wanted = [...TEXT_FILES, weightsFile(), adapterFile(), ...own, headFile(set)];
  const { files } = await fetchVersion(gateway, ref, wanted);
  const head = files[headFile(set)];
  if (set !== undefined && !head)
    throw wrongInput('head.missing', `${nameOfSet({ name, version, set })} has no head to score by.`, {
      expected: 'a set with a class head or a value head that a round has trained, as `value` of rest-mcts',
      next: 'Name a later version, or run `npx rollmesh policy list`.',
    });
  // A value head of a set that the user names scores, too.
  const kind =
    set !== undefined && head && readHead(configOf(files), head).kind === 'value' ? 'value' : 'classes';
  expectHead(ref, kind, configOf(files), head);
  expectSameTokens(tokensOf(policy), tokensOf(files), ref);
  return { ref, files };
}

interface Answer {
  readonly prompt: TokenIds;
  readonly ids: TokenIds;
}

export interface Scorer {
  /**
   * The probability that each answer is right or preferred, or the value before its last token, in the order given. An answer that does not fit the model's
   * context gets NaN.
   */
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
      const scoreOf = (one: Measurement) => one.values?.at(-1) ?? paidProbabilities(one, ref)[0]!;
      const scores = new Map(fits.map((answer, i) => [answer, scoreOf(measured[i]!)]));
      return answers.map((answer) => scores.get(answer) ?? Number.NaN);
    },
    dispose: () => model.dispose(),
  };
}
