/** The claim of SPIN: on the data of supervised fine-tuning alone, self-play against the previous iterate gains where more fine-tuning does not. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, rises } from '../rule/conditions.ts';
import { curveOf } from '../rule/curves.ts';

/** By how much a figure after the first iteration is higher for spin than for another arm. */
const lead =
  (figure: string, over: string): Measure =>
  (r, s) =>
    curveOf(r, 'spin', s, figure)[1]! - curveOf(r, over, s, figure)[1]!;
/** How much spin's third iteration gains beyond the first. */
const growth =
  (figure: string): Measure =>
  (r, s) => {
    const [start, first, second, third] = curveOf(r, 'spin', s, figure);
    return third! - second! - (first! - start!);
  };

export const claim: Claim = {
  description:
    'Playing against the previous iterate, on the data of supervised fine-tuning, gains where more fine-tuning on those data does not, most in the first iteration and little by the third.',
  startSeeds: 'one each',
  rounds: 3,
  evaluateEvery: 1,
  pictures: {
    accuracy: 'Held-out accuracy, greedy',
    sampled: 'Held-out accuracy, sampled',
    goldLikelihood: 'Likelihood of exact held-out traces, geometric mean a token',
  },
  arms: [
    { name: 'spin', description: 'three iterations as published' },
    {
      name: 'more sft',
      variant: 'sft',
      description: 'as many updates of supervised fine-tuning on the same data',
    },
    {
      name: 'published lambda',
      variant: 'published-lambda',
      description: 'the paper’s lambda of 0.1, which binds the player less to its opponent',
    },
    coinArm('a coin says which of a pair is preferred', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'sampled accuracy after the first iteration, spin above more sft',
      measure: lead('sampled', 'more sft'),
      atLeast: 0.02,
    },
    {
      description: 'likelihood of exact held-out traces after the first iteration, spin above more sft',
      measure: lead('goldLikelihood', 'more sft'),
      atLeast: 0.002,
    },
    rises('spin', 0.03, 'accuracy'),
    {
      description:
        'spin: likelihood of exact held-out traces, what the third iteration adds less what the first added',
      measure: growth('goldLikelihood'),
      atMost: -0.002,
    },
    doesNotRise('random', 0.02),
  ],
  observations: [
    {
      description: 'greedy accuracy after the first iteration, spin above more sft',
      measure: lead('accuracy', 'more sft'),
      atLeast: 0.02,
    },
  ],
  gap: {
    figures: [],
    label: 'no reward',
    meaning:
      'There is none. The response of the data is always preferred to that of the opponent, and nothing is rewarded.',
  },
  diagnosis:
    'As many updates of fine-tuning do at least as well, on eight seeds with a start of its own each: after the first iteration SPIN is 0.6 points of sampled accuracy below it (1.9 below to 0.7 above), and the exact held-out traces are 0.3 points less likely a token (0.2 to 0.5). SPIN itself gains 2.0 points of greedy accuracy in three iterations (0.3 less to 4.3 more), fine-tuning 3.2 (1.6 to 4.8). To first order the two are one method: the opponent’s answers are drawn from the very model that is trained, where the expected gradient of their log-likelihood is zero, so that each iteration begins with the gradient of fine-tuning times lambda / 2, plus the noise of the answers. SPIN should then win only where the steps of fine-tuning overfit, and pilots found no such start: over corpora learnt by heart the opponent writes the response of the data and nearly no prompt makes a pair, and from starts where fine-tuning is flat SPIN does not gain either (docs/log, entries 14 and 27). The paper’s lambda of 0.1 loses 1.7 points of greedy accuracy (4.6 less to 1.2 more), because it lets the likelihood of the data’s response fall as long as that of the opponent’s falls more.',
};
