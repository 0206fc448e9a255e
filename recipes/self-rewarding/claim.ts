/** The claim of self-rewarding language models: two rounds on its own judgments make a policy the better responder and the better judge. */
import type { Claim, Condition } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { curveOf } from '../../core/claims/curves.ts';

/** What the second round adds to a figure. */
const secondRound = (figure: string, called: string): Condition => ({
  description: `judge: the second round still raises ${called}`,
  measure: (r, s) => {
    const [, first, second] = curveOf(r, 'judge', s, figure);
    return second! - first!;
  },
  atLeast: 0.02,
});
const CORRELATION = 'rank correlation of its scores and exactness on fixed answers';

export const selfRewardingClaim: Claim = {
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
    coinArm('random preferences among readable answers', { seedCount: 8 }),
    formatArm('readable answers before unreadable ones', { seedCount: 8 }),
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
    'Both skills rise in both rounds on every seed, and with random preferences neither does, nor with preferences for form, which nearly every answer has (that arm was added later). The responder learns to write its steps (27 to 95 % exact when greedy; with steps forced it stays at 95 %, so it is a choice and sharper sampling, not new arithmetic). The judge was taught nothing, yet writes a check before its verdict in 71 % of comparisons instead of 57 %, and orders the same answers better: .63 to .70. That is the paper’s finding by a visible way: judging gains where it reasons as responding does. The better judge is worth 1 to 3 points more than the frozen one, and as much as exact labels. Judging gains as much where a frozen judge or exact labels make the pairs (.69 to .70): it is the responder’s learning that carries over, whoever judges it. Revised after runs on string transformations, whose judge gave a digit at once, so that nothing learned in responding could reach it (its correlation fell by .007 with every kind of pairs). A judge that rates a single answer did not do on pilots, either: its scores drifted downwards as its responder changed (.85 to .63), where a comparison has no level to drift.',
};
