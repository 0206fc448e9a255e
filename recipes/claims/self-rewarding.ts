/** The claim of self-rewarding language models: two rounds on own judgments better both the responder and its judge. */
import { type ArmResults, atEnd, type Claim, rise } from '../../core/claims.ts';
import { STYLE_JUDGE } from '../../core/roles/score-responses.ts';

/** The variant that imitates the best response and makes no pairs. */
export const POSITIVE_ONLY = 'positive-only';

const versus = (arm: string, other: string) => (r: ArmResults, s: number) =>
  atEnd(r, arm, s, 'sampled') - atEnd(r, other, s, 'sampled');
const riseOf = (arm: string, figure: string) => (r: ArmResults, s: number) => rise(r, arm, s, figure);

export const selfRewardingClaim: Claim = {
  says: 'Two rounds on its own judgments make a policy the better responder and the better judge, although no judge data is added; responses grow longer; preferences do more than imitation of the best.',
  seeds: [0, 1, 2],
  rounds: 2,
  evaluateEvery: 1,
  pictures: {
    sampled: 'Share of the rubric’s points, sampled',
    judge: 'Rank correlation of judge and rubric',
  },
  arms: [
    { name: 'judge', says: 'the policy judges itself, each round anew' },
    { name: 'frozen judge', freeze: [STYLE_JUDGE], says: 'the judge stays that of the start' },
    { name: POSITIVE_ONLY, variant: POSITIVE_ONLY, says: 'imitation of the best response, no pairs' },
    { name: 'gold', reward: 'gold', says: 'upper bound: the rubric itself makes the pairs' },
    { name: 'random', reward: 'random', says: 'control: random preferences' },
  ],
  conditions: [
    { says: 'judge: points of sampled responses rise', measure: riseOf('judge', 'sampled'), atLeast: 0.04 },
    {
      says: 'judge: they rise at the lengths of the start, too',
      measure: riseOf('judge', 'sampledAtStartLengths'),
      atLeast: 0.02,
    },
    {
      says: 'judge: rank correlation of judge and rubric on a fixed set rises',
      measure: riseOf('judge', 'judge'),
      atLeast: 0.005,
    },
    { says: 'judge: responses grow longer (words)', measure: riseOf('judge', 'words'), atLeast: 0.1 },
    {
      says: 'judge against positive-only at the end',
      measure: versus('judge', POSITIVE_ONLY),
      atLeast: 0.01,
    },
    { says: 'gold against judge at the end', measure: versus('gold', 'judge'), atLeast: 0 },
    { says: 'random: points do not rise', measure: riseOf('random', 'sampled'), atMost: 0.02 },
  ],
};
