/** GenRM's claim: checks that are written out make a better verifier than a glance or a head, and more of them a better one still. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, difference, rises } from '../../core/claims/conditions.ts';
import { atEnd, curveOf, lately } from '../../core/claims/curves.ts';

export const genrmClaim: Claim = {
  description:
    'A verifier that writes its check chooses better among eight answers than a verdict at a glance, which is no better than a classifier’s head. Sixteen checks choose better than one. Labels that a coin gives do not do the same.',
  rounds: 12,
  evaluateEvery: 12,
  pictures: { accuracy: 'Best of 8 on held-out tasks, by the run’s own verifier' },
  arms: [
    { name: 'genrm', description: 'as published: checks, λ = 0.3' },
    { name: 'direct', variant: 'direct', description: 'a verdict at a glance' },
    {
      name: 'head',
      variant: 'head',
      description:
        'a classifier on the last token; it is not asked on held-out tasks, so that the figure is that of one answer at random',
    },
    coinArm('a coin is the label; everything else is as in genrm', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'best of 8 at the end, one check above a glance',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best1') - atEnd(r, 'direct', s, 'best1'),
      atLeast: 0.02,
    },
    {
      description: 'best of 8 at the end, sixteen checks above one',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'genrm', s, 'best1'),
      atLeast: 0.01,
    },
    {
      description: 'best of 8 on fresh tasks, last five rounds, distance between glance and head',
      measure: (r, s) => Math.abs(lately(r, 'direct', s, 'bestFresh') - lately(r, 'head', s, 'bestFresh')),
      atMost: 0.05,
    },
    {
      description: 'best of 8 at the end, sixteen checks of genrm above sixteen of random',
      measure: difference('genrm', 'random', 'best16'),
      atLeast: 0.1,
    },
  ],
  observations: [
    {
      ...rises('genrm', 0.02, 'best16'),
      description: 'genrm: best of 8 by sixteen checks rises with training',
    },
    {
      description: 'genrm: best of 8 by sixteen checks at the end, above one answer taken at random',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'genrm', s, 'one'),
      atLeast: 0.05,
    },
    {
      description: 'best of 8 before training, one check above a glance: the order is not there yet',
      measure: (r, s) => curveOf(r, 'genrm', s, 'best1')[0]! - curveOf(r, 'direct', s, 'best1')[0]!,
      atMost: 0.02,
    },
  ],
  diagnosis:
    'The order is the paper’s in every seed, and training makes it: before it no verdict can be read, so that the first answer is taken (.51); after some 5,000 labelled answers one check finds a right answer for .83 of the tasks and sixteen checks for .87, above the plain vote (.77) with a ceiling of .98. A glance and a head stay below an answer taken at random (.20 to .29 against .45): neither can do sums at once, right answers to a task are all alike and share one score, and every wrong one has a score of its own, so that the best of eight scores is most often that of a wrong answer. Coins as labels leave .56 of what the start knows of comparing, a rise of .02 to .07. N is 8, the contract’s 16; a format control would mean a verifier that calls every answer right, which is one at random. Revised twice. A first run (seeds 0 to 2) had the order from its warm start, unchanged by training, and two conditions of our own, now observations; the control is now that random labels stay below. A second (seeds 3 to 5) started from weights that do sums but have given no verdict, and held all conditions but one: with the steps of answers in sight a glance preferred answers that have any, and was as good as one check (.73 against .74). The verifier now sees answers without their steps and repeats the total it found before its verdict, on seeds that were not seen before.',
};
