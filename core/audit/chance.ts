/**
 * Does a close node draw by chance, at the temperature that it was asked for? Scoring its tokens again shows that the log-probabilities it
 * states are true, and nothing about how the tokens were chosen. So the trusted policy draws after the same prompts too, and both draws are
 * measured alike: by the surprise of each completion,
 *
 *     z = Σ over its tokens of (log p(token) + entropy of p at that token), nats,
 *
 * which is 0 on average where tokens are drawn from p, above 0 at a lower temperature, with truncation or greedily, and below 0 at a higher
 * one. For an honest node the two z of a prompt are drawn from one distribution, so that their difference D is symmetric about 0, however
 * skewed z is. Then exp(λ ΣD − λ² ΣD² / 2) is a supermartingale for every λ (de la Peña 1999), and so is its mixture over λ ~ N(0, 1/PRIOR):
 *
 *     √(PRIOR / (ΣD² + PRIOR)) · exp((ΣD)² / (2 (ΣD² + PRIOR))).
 *
 * By Ville's inequality it ever exceeds 1 / ERROR with a probability of at most ERROR, so that a node may be looked at after every round,
 * and sums are all that has to be kept of it.
 */
import { CLOSE, type Mismatch } from '../schema/work.ts';

/** The probability with which an honest node is ever shut out. */
const ERROR = 1e-6;
/** nats²; decides only at how many draws the test is sharpest. */
const PRIOR = 20;

/** Log-probabilities and entropies of a completion's tokens under the trusted policy, nats; lists of equal length. */
export interface ScoredTokens {
  readonly logprobs: readonly number[];
  readonly entropy: readonly number[];
}

type Draws = Pick<Mismatch, 'drift' | 'squares' | 'slack'>;

/** What one completion of the node, beside one of the trusted policy after the same prompt, adds to the sums. */
export function compareDraws(node: ScoredTokens, trusted: ScoredTokens): Draws {
  const difference = surprise(node) - surprise(trusted);
  // An engine whose log-probabilities are off by δ at a token shifts the mean of z there by at most δ times the mean of |z|.
  const slack = CLOSE.mean * surprises(trusted).reduce((sum, z) => sum + Math.abs(z), 0);
  return { drift: difference, squares: difference ** 2, slack };
}

const surprises = ({ logprobs, entropy }: ScoredTokens) => logprobs.map((x, t) => x + entropy[t]!);
const surprise = (tokens: ScoredTokens) => surprises(tokens).reduce((sum, z) => sum + z, 0);

/** Whether draws whose sums these are may be those of the policy, of an engine within `CLOSE.mean`. */
export function mayBeByChance({ drift, squares, slack }: Draws): boolean {
  const beyond = Math.max(0, Math.abs(drift) - slack);
  const logEvidence = beyond ** 2 / (2 * (squares + PRIOR)) - Math.log((squares + PRIOR) / PRIOR) / 2;
  return logEvidence < -Math.log(ERROR);
}

/** How far the draws are from those of the policy, in standard deviations: about a standard normal deviate for an honest node. */
export const deviationOf = ({ drift, squares }: Draws): number =>
  squares > 0 ? drift / Math.sqrt(squares) : 0;
