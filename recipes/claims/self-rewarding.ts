/** The claim of self-rewarding language models: two rounds on own judgments better both the responder and its judge. */
import { type ArmResults, atEnd, type Claim, rise } from '../../core/claims.ts';
import { STYLE_JUDGE } from '../../core/roles/score-responses.ts';

const versus = (arm: string, other: string) => (r: ArmResults, s: number) =>
  atEnd(r, arm, s, 'sampled') - atEnd(r, other, s, 'sampled');
const riseOf = (arm: string, figure: string) => (r: ArmResults, s: number) => rise(r, arm, s, figure);

export const selfRewardingClaim: Claim = {
  says: 'Two rounds on its own judgments make a policy the better responder and the better judge, although no judge data is added; responses grow longer.',
  seeds: [3, 4, 5],
  rounds: 2,
  evaluateEvery: 1,
  pictures: {
    sampled: 'Share of the rubric’s points, sampled',
    judge: 'Rank correlation of judge and rubric',
  },
  arms: [
    { name: 'judge', says: 'the policy judges itself, each round anew' },
    { name: 'frozen judge', freeze: [STYLE_JUDGE], says: 'the judge stays that of the start' },
    { name: 'gold', reward: 'gold', says: 'upper bound: the rubric itself makes the pairs' },
    { name: 'random', reward: 'random', says: 'control: random preferences' },
  ],
  conditions: [
    { says: 'judge: points of sampled responses rise', measure: riseOf('judge', 'sampled'), atLeast: 0.02 },
    {
      says: 'judge: rank correlation of judge and rubric on a fixed set rises',
      measure: riseOf('judge', 'judge'),
      atLeast: 0,
    },
    { says: 'judge: responses grow longer (words)', measure: riseOf('judge', 'words'), atLeast: 0.1 },
    { says: 'random: points do not rise', measure: riseOf('random', 'sampled'), atMost: 0.02 },
    { says: 'random: responses do not grow longer', measure: riseOf('random', 'words'), atMost: 0.3 },
  ],
  observations: [
    {
      says: 'judge: points rise at the lengths of the start, too',
      measure: riseOf('judge', 'sampledAtStartLengths'),
      atLeast: 0.02,
    },
    {
      says: 'judge against frozen judge at the end: points',
      measure: versus('judge', 'frozen judge'),
      atLeast: 0,
    },
    { says: 'gold against judge at the end: points', measure: versus('gold', 'judge'), atLeast: 0 },
  ],
  diagnosis:
    'On its own judgments the policy gains 4 points of 100 in two rounds on every seed, as many as with the rubric’s own pairs, and its responses grow from 1.8 to 2.6 words, where the rubric’s pairs make 2.2: the excess is the judge’s liking for length. Random pairs move neither. The judge does not get better: its rank correlation on a fixed set falls by 0.006 to 0.008 (0.613 at the start), by no more than 0.007 and on two seeds by nothing with the rubric’s pairs, and the frozen judge does as well for the responder. In a policy of 0.2 M parameters nothing that responding teaches reaches judging; the paper’s judge follows instructions with the same skill as its responder. Some two fifths of the gain remain at the lengths of the start (1.6 to 1.8 points). Revised after a first run with seeds 0 to 2, in which steps of 1e-4 on 256 prompts cost random pairs 3 to 7 points and responses shrank: a start whose responses are mostly too short, so that longer ones are better at first, as in the paper; steps of 3e-5 on 512 prompts; no part of the published claim was dropped, and comparisons between arms are observations now (imitation of the best response, which did better than pairs in that first run, was left out for time). Before this run, on pilots, the bounds were lowered from 4 points and a correlation of +.005 to 2 points and 0: by the first ones the points would rise enough as well, and the correlation fall as well.',
};
