/** The claim of self-rewarding language models: two iterations on its own judgments make a policy both a better responder and a better judge. */
import type { Claim, Condition } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { curveOf } from '../rule/curves.ts';

/** How much the second iteration adds to a figure. */
const secondRound = (figure: string, called: string): Condition => ({
  description: `judge: the second round still raises ${called}`,
  measure: (r, s) => {
    const [, first, second] = curveOf(r, 'judge', s, figure);
    return second! - first!;
  },
  atLeast: 0.02,
});
const CORRELATION = 'rank correlation of its scores and exactness on fixed answers';

export const claim: Claim = {
  description:
    'Two rounds on its own judgments make a policy the better responder and the better judge, although no data for judging are added. Responses grow longer, and pairs teach the responder more than imitating the best responses.',
  rounds: 2,
  evaluateEvery: 1,
  pictures: {
    sampled: 'Held-out accuracy, sampled',
    judge: 'Rank correlation of scores and exactness, fixed answers',
    pairs: 'Right verdicts on a right and a wrong answer',
    checks: 'Comparisons that write a check',
  },
  arms: [
    { name: 'judge', description: 'the policy judges itself, each round anew' },
    { name: 'frozen judge', freeze: ['judge'], description: 'the judge stays that of the start' },
    {
      name: 'positive only',
      variant: 'positive-only',
      description: 'the best response is imitated, and nothing is preferred to anything',
    },
    { name: 'gold', reward: 'gold', description: 'upper bound: exactness makes the pairs' },
    coinArm('random preferences among well-formed answers', { seedCount: 8 }),
    formatArm('well-formed answers before others', { seedCount: 8 }),
  ],
  partners: [{ partner: 'judge', trained: 'judge', frozen: 'frozen judge' }],
  conditions: [
    rises('judge', POINTS),
    { ...rises('judge', 0.02, 'judge'), description: `judge: ${CORRELATION} rises` },
    { ...rises('judge', 0.5, 'length'), description: 'judge: responses grow longer, in tokens' },
    endsAbove('judge', 'positive only'),
    ...['random', 'format'].flatMap((arm) => [
      doesNotRise(arm, 0.02),
      { ...doesNotRise(arm, 0.02, 'judge'), description: `${arm}: ${CORRELATION} has not risen` },
      {
        ...doesNotRise(arm, 0.5, 'length'),
        description: `${arm}: responses have not grown longer, in tokens`,
      },
    ]),
  ],
  observations: [
    secondRound('sampled', 'sampled accuracy'),
    secondRound('judge', 'rank correlation'),
    endsAbove('judge', 'frozen judge', 0.02),
    endsAbove('gold', 'judge', 0.02),
    {
      ...endsAbove('judge', 'positive only', 0.02, 'judge'),
      description: `${CORRELATION} at the end, judge above positive only`,
    },
  ],
  diagnosis:
    'All ten conditions hold, on eight seeds. The responder and the judge both get better in both rounds, and with random preferences or preferences for form neither does. The responder learns to write its steps: greedy accuracy goes from 27 to 95 %, and with steps forced it stays at 95 %, so that the gain is a choice and sharper sampling, not new arithmetic. The judge was taught nothing, yet it writes a check before its verdict in 71 % of comparisons instead of 57 %, and the rank correlation of its scores rises from 0.63 to 0.70. It rises as much where a frozen judge, exact labels or imitation of the best response make what is trained on: what carries over is the responder’s learning, whoever judges it. Retraining the judge buys nothing over keeping it frozen (1.1 points of sampled accuracy less, 3.3 less to 1.0 more). Pairs matter for the responder: imitating the best response ends 20 points of sampled accuracy lower (17 to 23), with 95.6 % of its greedy answers right all the same.',
};
