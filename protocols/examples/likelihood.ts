/** The evaluation of a policy by how likely it finds held-out answers. */
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOfShares } from '../../core/statistics/change.ts';
import { nothingExamined, total } from './round.ts';

/** What the figures of `examineLikelihood` mean. */
export const LIKELIHOOD_FIGURES = {
  nll: 'Mean negative log-likelihood of the held-out answers, nats per token.',
  perplexity:
    'Exponential of the mean negative log-likelihood of a token of the held-out answers; 1 = certain.',
  tokens: 'Number of tokens in the held-out answers that were scored.',
} as const;

/**
 * The main score is the geometric mean of the tokens' probabilities (1/perplexity); beside it stands the mean negative log-likelihood, in nats a
 * token. Versions are compared by the same mean of each example. `examples`: log-probabilities of the tokens of each span, nats, [examples][spans][tokens].
 */
export function examineLikelihood(examples: readonly (readonly Float64Array[])[]): Evaluation {
  const spans = examples.flat();
  const tokens = total(spans.map(({ length }) => length));
  if (tokens === 0) return nothingExamined();
  const nll = -total(spans.map(total)) / tokens;
  const likelihoods = examples.map((of) =>
    Math.exp(total(of.map(total)) / Math.max(1, total(of.map(({ length }) => length)))),
  );
  return evaluation(
    { n: examples.length, accuracy: Math.exp(-nll), tallies: { accuracy: tallyOfShares(likelihoods) } },
    { nll, perplexity: Math.exp(nll), tokens },
  );
}
