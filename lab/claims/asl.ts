/** The claim of agentic self-learning: a judge that stays as it is gets outwitted, and one that goes on learning from its own votes does not. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { meanOf, monitorOf } from '../rule/curves.ts';

/** A cycle has four rounds, of which the generator's measures no gap. */
const ROUNDS = 24;
const CYCLE = 4;
const GREEDY = 'accuracy';

/** What answers are paid less the share that is exact, mean over the rounds of two cycles that measure it: the first two or the last two. */
const gap =
  (arm: string, when: 'early' | 'late'): Measure =>
  (results, seed) => {
    const values = monitorOf(results, arm, seed, 'rewardGap');
    const of = when === 'early' ? values.slice(0, 2 * CYCLE) : values.slice(-2 * CYCLE);
    return meanOf(of.filter(Number.isFinite));
  };
export const claim: Claim = {
  description:
    'A policy that writes, answers and judges its own questions is paid ever more for wrong answers where its judge stays as the start has it. Where the judge goes on learning from the majority of its own verdicts, pay stays close to what is right, and late labels on 2 % of the answers lift what it reaches.',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS / 2,
  startSeeds:
    'All seeds begin from arithmetic-base, which answers 34 % of single questions greedily. Eight more at five minutes of a thread each would take longer than the claim takes to play, so that the intervals are those of sampling and training alone.',
  arms: [
    { name: 'asl', description: 'as published: the judge is trained on the majority of its verdicts' },
    { name: 'frozen judge', freeze: ['judge'], description: 'the judge is version 0 throughout' },
    {
      name: 'late labels',
      reward: 'late-gold',
      description: 'as published, and from round 9 on the checker labels 2 % of the answers',
    },
    coinArm('a fair coin says which answers are right'),
  ],
  conditions: [
    {
      description:
        'what answers are paid less the share that is exact, last two cycles: frozen judge above asl',
      measure: (r, s) => gap('frozen judge', 'late')(r, s) - gap('asl', 'late')(r, s),
      atLeast: 0.1,
    },
    endsAbove('asl', 'frozen judge', 0.05, GREEDY),
    endsAbove('late labels', 'asl', 0.05, GREEDY),
    {
      description:
        'frozen judge: what answers are paid less the share that is exact grows, last two cycles less first two',
      measure: (r, s) => gap('frozen judge', 'late')(r, s) - gap('frozen judge', 'early')(r, s),
      atLeast: 0.1,
    },
    rises('asl', 0.05, GREEDY),
    doesNotRise('random', 0.05, GREEDY),
  ],
  diagnosis:
    'A judge that learns from the majority of its own verdicts holds pay less close to what is right than one that stays as it was: what answers are paid beyond the share that is exact grows from 0.05 to 0.22 with it and from 0.04 to 0.13 with the frozen judge, in the last two cycles 0.076 more (0.031 to 0.121). The judge learns from nothing but its own agreement. Both arms gain greedy accuracy all the same (34.2 to 47.7 %, and to 52.7 % with the frozen judge; 5.0 points apart, −2.9 to 12.9), and sampled answers gain in neither (40.8 to 37.9 and 37.3 %), so that the policies become more certain and not more often right. Labels on 2 % of the answers from round 9 on lift nothing (−1.2 points, −10.5 to 8.0) and leave a gap of 0.16. A coin loses 12.6 points. That a frozen verifier is exploited ever more is seen (0.093, 0.067 to 0.120), at just under the bound; that co-training heals it is not.',
};
