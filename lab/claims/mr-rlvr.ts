/** The claim of MR-RLVR: after puzzles fewer tasks are failed by all attempts, and answers end better for as many updates. */

import { mean } from 'rollmesh';
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { monitorOf } from '../rule/curves.ts';

/** Rounds of the stage that trains on puzzles. */
const FIRST_STAGE = 6;
/** Rounds at the beginning of the second stage in which tasks are counted that all attempts fail: both its first passes over the labelled tasks. */
const BEGINNING = 4;

const deadAtFirst = (results: ArmResults, arm: string, seed: number, from: number): number =>
  mean(monitorOf(results, arm, seed, 'dead').slice(from, from + BEGINNING));

export const claim: Claim = {
  description:
    'A solver that first trains on puzzles from worked solutions fails fewer of the labelled tasks with all of its attempts when answers begin to be paid, and after as many updates answers held-out tasks better than one that was paid for answers alone: those to the labelled tasks, or those to the tasks of the worked solutions. Puzzles whose targets are drawn do not help.',
  rounds: 14,
  evaluateEvery: 7,
  quickRounds: FIRST_STAGE + 1,
  arms: [
    { name: 'mr-rlvr', description: 'as published' },
    { name: 'rlvr', variant: 'rlvr', description: 'answers to the labelled tasks from the first round on' },
    {
      name: 'corpus answers',
      variant: 'corpus-answers',
      description: 'the first stage pays answers to the tasks of the worked solutions',
    },
    {
      name: 'random targets',
      variant: 'random-targets',
      description: 'the steps that a puzzle asks for are in a drawn order',
    },
    coinArm('a fair coin pays puzzles and answers'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    {
      description: `share of labelled tasks that all attempts fail, first ${BEGINNING} rounds in which they are paid, mr-rlvr below rlvr`,
      measure: (r, s) => deadAtFirst(r, 'rlvr', s, 0) - deadAtFirst(r, 'mr-rlvr', s, FIRST_STAGE),
      atLeast: POINTS,
    },
    endsAbove('mr-rlvr', 'rlvr', 0.02),
    endsAbove('mr-rlvr', 'corpus answers', 0.02),
    endsAbove('mr-rlvr', 'random targets', 0.02),
    rises('mr-rlvr', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    {
      description:
        'share of hidden steps that are right, last three rounds of puzzles above the first three, mr-rlvr',
      measure: (r, s) => {
        const filled = monitorOf(r, 'mr-rlvr', s, 'filled');
        return mean(filled.slice(FIRST_STAGE - 3, FIRST_STAGE)) - mean(filled.slice(0, 3));
      },
      atLeast: POINTS,
    },
  ],
  diagnosis:
    'Puzzles teach, and answers teach more for as many updates. When answers begin to be paid 12 % of the labelled tasks are failed by all attempts, where 20 % were without puzzles: 7.6 points fewer (2.8 to 12.4), where 5 were asked. After six rounds of answers in place of the puzzles it is 8 %. At the end sampled accuracy is 4.4 points lower than with RLVR from the first round on (3.6 to 5.2) and 3.5 lower than where the first stage pays answers to the tasks of the worked solutions (1.9 to 5.1). What a puzzle is paid for matters: with targets in a drawn order 4.9 points less are reached (3.4 to 6.4). In six rounds the share of hidden steps that are right rises by 2.3 points only. Every arm that is paid for its answers gains by sharpening: greedy accuracy ends between 95 and 97 %, where it began. The start policy is right once in five attempts, so that answers alone already carry a signal for four tasks in five; the paper’s case, in which they seldom do, is not this one.',
};
