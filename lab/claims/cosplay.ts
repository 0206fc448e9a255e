/** The claim of CoSPlay: tests of one's own choose better among one's own programs than a majority does, and both pools get better by each other. */
import type { Claim, Condition } from '../rule/claim.ts';
import { POINTS } from '../rule/conditions.ts';
import { atEnd } from '../rule/curves.ts';

/** By how much one figure of an arm lies above another, or above the same of another arm. */
const above = (
  description: string,
  [arm, figure]: readonly [string, string],
  [other, lower]: readonly [string, string],
  bound: Pick<Condition, 'atLeast'> | Pick<Condition, 'atMost' | 'control'>,
): Condition =>
  ({
    description,
    measure: (results, seed) => atEnd(results, arm, seed, figure) - atEnd(results, other, seed, lower),
    ...bound,
  }) as Condition;

export const claim: Claim = {
  description:
    'Among a policy’s programs to a problem, the one that passes the most of its own tests is right more often than one of the largest group that puts out the same, and that more often than one program alone. Written again with a test that they fail, programs get better, and the tests of the pool do.',
  // Nothing is trained: one round, and one evaluation, say what there is to say.
  rounds: 1,
  evaluateEvery: 1,
  tasks: 4,
  pictures: {
    one: 'One program',
    majority: 'Majority',
    matrix: 'Matrix',
    renewed: 'Renewed',
    tests: 'Exact tests',
    testsRenewed: 'Exact tests, renewed',
  },
  along: {
    title: 'Share of problems whose chosen program is exact',
    xTitle: 'Way of choosing: one program, majority, matrix, matrix of renewed pools',
    at: { one: 1, majority: 2, matrix: 3, renewed: 4 },
  },
  arms: [
    { name: 'cosplay', description: 'as published' },
    {
      name: 'resampled',
      variant: 'resampled',
      description: 'as many programs are written anew, without a word about the program before or the test',
    },
    {
      name: 'shuffled tests',
      variant: 'shuffled-tests',
      description: 'control: every test asks for the output of another',
    },
    {
      name: 'exact tests',
      reward: 'exact-tests',
      seedCount: 4,
      description: 'upper bound: the outputs of all tests are exact',
    },
    { name: 'random', reward: 'random', seedCount: 4, description: 'control: a program is chosen at random' },
  ],
  conditions: [
    above('cosplay: majority above one program', ['cosplay', 'majority'], ['cosplay', 'one'], {
      atLeast: POINTS,
    }),
    above('cosplay: matrix above majority', ['cosplay', 'matrix'], ['cosplay', 'majority'], {
      atLeast: POINTS,
    }),
    above('cosplay: renewed pools above those written first', ['cosplay', 'renewed'], ['cosplay', 'matrix'], {
      atLeast: POINTS,
    }),
    above('renewed pools, cosplay above resampled', ['cosplay', 'renewed'], ['resampled', 'renewed'], {
      atLeast: POINTS,
    }),
    above(
      'cosplay: share of exact tests, renewed above first',
      ['cosplay', 'testsRenewed'],
      ['cosplay', 'tests'],
      {
        atLeast: 0.1,
      },
    ),
    above(
      'shuffled tests: matrix no better than majority',
      ['shuffled tests', 'matrix'],
      ['shuffled tests', 'majority'],
      {
        atMost: 0.03,
        control: true,
      },
    ),
    above('a program chosen at random is no better than one', ['random', 'chosen'], ['random', 'one'], {
      atMost: 0.03,
      control: true,
    }),
  ],
  observations: [
    above(
      'share of tests that the chosen program passes, where it is exact above where all programs were wrong',
      ['cosplay', 'passedRight'],
      ['cosplay', 'passedWrong'],
      { atLeast: 0.1 },
    ),
  ],
  diagnosis:
    'Tests choose and repair does not. One program is right in 58 % of the problems, one of the largest group in 70 %, and the one that passes the most tests in 78 %, although only 15 % of the tests are exact: wrong tests scatter, and few programs pass them. With outputs of other tests nothing is left of it (71 %), and with exact outputs the choice is right in 97 %. Writing programs and tests anew doubles the share of exact tests, since what no program passes is dropped, and leaves the choice as it was (−0.3 points, −2.6 to 2.0); programs that are told the test they fail do no better than ones that are sampled again. Where no program is right, which is one problem in 35, the chosen one passes as many tests (37 %) as a right one does elsewhere (34 %), so that the pools fail without a sign of it, as expected. The random choice stays within its bound in the mean (0.5 points above one program), which four seeds do not settle. It draws among the programs that parse, and is so the choice by form alone as well: a further arm for form would be the same one.',
};
