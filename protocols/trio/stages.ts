/**
 * trio's stages over a game, and what its description says in every world. The folder's files in the order of a round: propose.ts, rewards.ts and judge.ts
 * (after the solver's rollouts), learn.ts, evaluate.ts.
 */
import type { Game } from '../../core/game/game.ts';
import type { RoundRecords } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { rollOut } from '../roll-out.ts';
import { ofFamily, rewardNamed } from '../solver.ts';
import { judge } from './judge.ts';
import { learn, type ProposalPay, payProposals, type Together } from './learn.ts';
import { propose } from './propose.ts';
import type { SolverReward } from './rewards.ts';

export const PAPER = { title: 'rollmesh’s flagship; after RL Tango and Multi-Agent Evolve', year: 2026 };
export const ROLES =
  'The proposer writes tasks until the round has as many as it wants; a task must keep to the grammar, must not be held out and must not repeat one of the round. The solver answers each task several times. The judge gives a verdict on every step of a solution and on the whole, once a solution, or four times where its verdict alone pays the solver.';
export const SCHEDULE =
  'Each round samples with the newest version and makes one update of the shared weights.';
export const DIFFERENCES = [
  'Tango keeps generator and verifier in two sets of weights; here all roles share one.',
  'Multi-Agent Evolve’s judge is paid for format only; here for agreement with an exact checker.',
];

interface Trio extends Together {
  readonly rewards: Readonly<Record<string, SolverReward>>;
  readonly proposals?: (round: RoundSpec) => ProposalPay;
  /** Whether the judge is asked; default yes. */
  readonly judged?: (round: RoundSpec) => boolean;
}

export type Asked = 'solve' | 'propose' | 'verify';

/** All of trio over a game but its descriptions, sets and evaluation. */
export const trioOver = (game: Game<Asked>, { rewards, proposals: pay, judged, ...together }: Trio) => {
  const { family, words } = game;
  const rewardOf = ({ settings }: RoundSpec) => rewardNamed(rewards, settings.rewardFunction);
  return {
    ...ofFamily(family),
    rewards,
    roles: {
      proposer: role('writes tasks', words.propose.maxNew),
      solver: role('solves them, with or without steps', words.solve.maxNew),
      judge: role('gives a verdict on every step and on the whole', words.verify.maxNew, { usesGold: true }),
    },
    freezable: ['proposer', 'judge'],
    propose: (context) => propose(game, context),
    rollOut: (context, tasks) => rollOut({ family }, context, tasks),
    judge: (context, groups) =>
      judge(family, rewardOf(context.round), context, groups, judged?.(context.round)),
    payProposals: ({ round, proposals, groups }) => payProposals(proposals, groups, pay?.(round)),
    learn: (records: RoundRecords) => learn(rewardOf(records.round), together, records),
  } satisfies Partial<Recipe>;
};
