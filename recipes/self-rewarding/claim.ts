/** The claim of self-rewarding language models: two rounds on own judgments better both the responder and its judge. */
import { type ArmResults, atEnd, type Claim, curveOf, rise } from '../../core/claim.ts';

const versus = (arm: string, other: string) => (r: ArmResults, s: number) =>
  atEnd(r, arm, s, 'sampled') - atEnd(r, other, s, 'sampled');
const riseOf = (arm: string, figure: string) => (r: ArmResults, s: number) => rise(r, arm, s, figure);
/** What the second round adds to a figure. */
const secondRound = (arm: string, figure: string) => (r: ArmResults, s: number) => {
  const [, first, second] = curveOf(r, arm, s, figure);
  return second! - first!;
};

export const selfRewardingClaim: Claim = {
  description:
    'Two rounds on its own judgments make a policy the better responder and the better judge, although no judge data is added; responses grow longer.',
  seeds: [6, 7, 8],
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
    { name: 'gold', reward: 'gold', description: 'upper bound: exactness makes the pairs' },
    { name: 'random', reward: 'random', description: 'control: random preferences among readable answers' },
    { name: 'format', reward: 'format', description: 'control: readable answers before unreadable ones' },
  ],
  conditions: [
    { description: 'judge: sampled accuracy rises', measure: riseOf('judge', 'sampled'), atLeast: 0.02 },
    {
      description: 'judge: rank correlation of its scores and exactness on fixed answers rises',
      measure: riseOf('judge', 'judge'),
      atLeast: 0.02,
    },
    {
      description: 'judge: responses grow longer (tokens)',
      measure: riseOf('judge', 'length'),
      atLeast: 0.5,
    },
    ...['random', 'format'].flatMap((arm) => [
      {
        description: `${arm}: sampled accuracy does not rise`,
        measure: riseOf(arm, 'sampled'),
        atMost: 0.02,
      },
      { description: `${arm}: rank correlation does not rise`, measure: riseOf(arm, 'judge'), atMost: 0.02 },
      { description: `${arm}: responses do not grow longer`, measure: riseOf(arm, 'length'), atMost: 0.5 },
    ]),
  ],
  observations: [
    {
      description: 'judge: the second round still betters accuracy',
      measure: secondRound('judge', 'sampled'),
      atLeast: 0,
    },
    {
      description: 'judge: the second round still betters rank correlation',
      measure: secondRound('judge', 'judge'),
      atLeast: 0,
    },
    {
      description: 'judge against frozen judge at the end: sampled accuracy',
      measure: versus('judge', 'frozen judge'),
      atLeast: 0,
    },
    {
      description: 'gold against judge at the end: sampled accuracy',
      measure: versus('gold', 'judge'),
      atLeast: 0,
    },
  ],
  diagnosis:
    'Both skills rise in both rounds on every seed, and with random preferences neither does, nor with preferences for form, which nearly every answer has (that arm was added later). The responder learns to write its steps (27 to 95 % exact when greedy; with steps forced it stays at 95 %, so it is a choice and sharper sampling, not new arithmetic). The judge was taught nothing, yet writes a check before its verdict in 71 % of comparisons instead of 57 %, and orders the same answers better: .63 to .70. That is the paper’s finding by a visible way: judging gains where it reasons as responding does. The better judge is worth 1 to 3 points more than the frozen one, and as much as exact labels. Judging gains as much where a frozen judge or exact labels make the pairs (.69 to .70): it is the responder’s learning that carries over, whoever judges it. Revised after runs on string transformations, whose judge gave a digit at once, so that nothing learned in responding could reach it (its correlation fell by .007 with every kind of pairs). A judge that rates a single answer did not do on pilots, either: its scores drifted downwards as its responder changed (.85 to .63), where a comparison has no level to drift.',
};
