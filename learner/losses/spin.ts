/**
 * SPIN (Chen et al. 2024): the policy plays against its previous iterate. The preferred response is the data's own, the other is
 * sampled from the opponent, which is also the reference; the loss is DPO's logistic loss with λ for β. At the fixed point, where
 * the policy writes like the data, chosen and rejected cannot be told apart and the gradient vanishes.
 */
import { dpo } from './dpo.ts';
import type { PairLoss, Pairs, ScoredResponses } from './pairs.ts';

/** −log σ(λ·margin); `chosen` = the data's response, `rejected` = the opponent's. λ = 0.1, 5 in the paper's last iteration. */
export const spin = (
  responses: ScoredResponses,
  pairs: Pairs,
  { lambda }: { readonly lambda: number },
): PairLoss => dpo(responses, pairs, { beta: lambda });
