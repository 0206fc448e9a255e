/** Search Self-Play's claim: the proposer's training is what keeps the questions worth answering, and the reader what keeps them answerable. */
import { type ArmResults, atEnd, type Claim, lately, monitorOf, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';
import { PROPOSER, SOLVER } from '../../core/roles/searchers.ts';

/** Held-out questions of two and three hops, sampled at temperature 1: the greedy answer flips with the first change of strategy. */
const END = 'sampled';

const above = (results: ArmResults, other: string, seed: number) =>
  atEnd(results, 'ssp', seed, END) - atEnd(results, other, seed, END);

/** The least that a monitor was on average over five rounds in a row. */
const lowest = (results: ArmResults, arm: string, seed: number, figure: string) =>
  Math.min(
    ...monitorOf(results, arm, seed, figure).flatMap((_, i, all) =>
      i + 5 <= all.length ? [mean(all.slice(i, i + 5))] : [],
    ),
  );

export const sspClaim: Claim = {
  says: 'A proposer that is trained beside the solver makes questions harder as the solver gets better, so that it learns more than from a frozen proposer’s; without the reader, or with a penalty for refused questions, that fails.',
  seeds: [6, 7, 8],
  rounds: 30,
  evaluateEvery: 15,
  pictures: {
    sampled: 'Held-out questions of two and three hops, sampled',
    'sampled-3': 'Of three hops alone, sampled',
  },
  arms: [
    { name: 'ssp', says: 'as published: both roles trained, the reader admits' },
    { name: 'solver only', freeze: [PROPOSER], says: 'the proposer stays at version 0' },
    {
      name: 'proposer only',
      freeze: [SOLVER],
      says: 'the solver stays at version 0 while the proposer trains',
    },
    { name: 'no reader', variant: 'no-reader', says: 'nothing checks that a question has its answer' },
    { name: 'penalty', variant: 'penalty', says: 'a refused question earns -0.1' },
    { name: 'format', reward: 'format', says: 'control: any answer at all pays the solver' },
    { name: 'random', reward: 'random', says: 'control: a fair coin pays the solver' },
  ],
  conditions: [
    {
      says: 'held-out accuracy on two and three hops rises by 10 points',
      measure: (results, seed) => rise(results, 'ssp', seed, END),
      atLeast: 0.1,
    },
    {
      says: 'it ends above the arm with a frozen proposer',
      measure: (results, seed) => above(results, 'solver only', seed),
      atLeast: 0,
    },
    {
      says: 'above the arm with a frozen solver',
      measure: (results, seed) => above(results, 'proposer only', seed),
      atLeast: 0,
    },
    {
      says: 'and above the arm without a reader',
      measure: (results, seed) => above(results, 'no reader', seed),
      atLeast: 0,
    },
    {
      says: 'the solver’s reward stays below that on a frozen proposer’s questions (last five rounds)',
      measure: (results, seed) =>
        lately(results, 'solver only', seed, 'solverReward') - lately(results, 'ssp', seed, 'solverReward'),
      atLeast: 0.05,
    },
    {
      says: 'without the reader fewer questions have the answer they were written for, by 20 points (last five rounds)',
      measure: (results, seed) =>
        lately(results, 'ssp', seed, 'answerable') - lately(results, 'no reader', seed, 'answerable'),
      atLeast: 0.2,
    },
    {
      says: 'with a penalty fewer than half as many questions are admitted as without (last five rounds)',
      measure: (results, seed) =>
        lately(results, 'penalty', seed, 'valid') / lately(results, 'ssp', seed, 'valid'),
      atMost: 0.5,
    },
    {
      says: 'format reward: held-out accuracy rises by no more than 3 points',
      measure: (results, seed) => rise(results, 'format', seed, END),
      atMost: 0.03,
    },
    {
      says: 'random reward: held-out accuracy rises by no more than 3 points',
      measure: (results, seed) => rise(results, 'random', seed, END),
      atMost: 0.03,
    },
  ],
  observations: [
    {
      says: 'the solver’s reward dips: its lowest mean over five rounds is below that on a frozen proposer’s questions',
      measure: (results, seed) =>
        lowest(results, 'solver only', seed, 'solverReward') - lowest(results, 'ssp', seed, 'solverReward'),
      atLeast: 0.05,
    },
  ],
  diagnosis:
    'The gate does what the paper says: without a reader most questions lose the answer they were written for. The rest does not show in this run: the proposer asks little but one hop, which is solved already, so there is no frontier to move along. Pilots of 12 questions a round since then (docs/log.md) began where it asks three hops one time in fourteen and the solver stops before the third: after 20 rounds 72 to 89 % on three seeds with the proposer trained, 53 to 57 % with it frozen, from 53 %. No final was run, as two conditions fail there too. Once found, three hops are learnt within ten rounds, so that the solver’s reward is as high as on frozen questions (.96). And the penalty does no harm: .69 of questions are admitted with it against .58 without, and at a step of 1e-3, which wears everything down, .43 against .12. Perhaps it needs entropy to inflate: turns here are short and all but sure.',
};
