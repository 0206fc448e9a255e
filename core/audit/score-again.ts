/**
 * The audit of close nodes, whose engines (a GPU, a server) come to other last digits than the mesh's own, so that sampling again comes to
 * other tokens. Their tokens are scored again by the trusted policy instead, and the log-probabilities that the node stated must come within
 * `CLOSE`. This says that the stated log-probabilities are those of the tokens; it cannot say that the tokens were drawn by chance.
 */
import type { Policy, PolicyRef } from '../policy.ts';
import type { Sample } from '../schema/sample.ts';
import { CLOSE, type Mismatch, type RoundWork } from '../schema/work.ts';
import type { Finding } from './findings.ts';

/** What a token counts that the trusted policy could not have written, nats. */
const IMPOSSIBLE = 1000;

export interface ScoredAgain {
  readonly mismatch: Mismatch;
  /** The first request that is out of bounds; null = all are within. */
  readonly finding: Finding | null;
}

/** Scores the samples of some requests again, each by the policy that it names. A sample that the record does not hold is left out. */
export async function scoreAgain(
  use: <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>) => Promise<T>,
  requests: readonly Pick<RoundWork['work'][number], 'group' | 'samples'>[],
  recorded: (id: string) => Sample | undefined,
): Promise<ScoredAgain> {
  const total = { tokens: 0, sum: 0, most: 0 };
  let finding: Finding | null = null;
  for (const { group, samples } of requests) {
    const own = samples.flatMap((id) => recorded(id) ?? []).filter(({ ids }) => ids.length > 0);
    // All samples of a request are of one policy.
    const [first] = own;
    if (!first) continue;
    const scores = await use(first.policy, (policy) =>
      policy.score(own.map(({ prompt, ids }) => [...prompt, ...ids])),
    );
    const far = own.map(({ prompt, logprobs }, i) =>
      logprobs.map((stated, t) =>
        Math.min(IMPOSSIBLE, Math.abs(stated - scores[i]!.logprobs[prompt.length - 1 + t]!)),
      ),
    );
    const all = far.flat();
    const sum = all.reduce((a, b) => a + b, 0);
    const most = all.reduce((a, b) => Math.max(a, b), 0);
    total.tokens += all.length;
    total.sum += sum;
    total.most = Math.max(total.most, most);
    const mean = sum / all.length;
    if (finding || (mean <= CLOSE.mean && most <= CLOSE.most)) continue;
    const worst = far.findIndex((row) => row.includes(most));
    finding = {
      class: 'log-probability',
      group,
      sample: own[worst]!.id,
      message: `Its log-probabilities are ${mean.toPrecision(3)} nats off on average and ${most.toPrecision(3)} at most; a close node may be off by ${CLOSE.mean} and ${CLOSE.most}.`,
    };
  }
  return { mismatch: total, finding };
}
