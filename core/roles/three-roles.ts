/**
 * Proposer, solver and judge over a task family: the shape of round that the flagship and its relatives share. A recipe says what
 * each is paid and how rewards become advantages; what the three do in a round is written once, here and beside.
 */
import type { Recipe, RoundShape } from '../recipe.ts';
import { assemble, priceProposals } from './assemble.ts';
import { examineThreeRoles } from './evaluate.ts';
import { judge } from './judge.ts';
import { propose } from './propose.ts';
import { solve } from './solve.ts';
import type { RoleName, ThreeRoles } from './three-role-game.ts';

const SAYS: Readonly<Record<RoleName, string>> = {
  proposer: 'writes tasks',
  solver: 'solves them, with or without steps',
  judge: 'gives a verdict on every step and on the whole',
};

export type ThreeRoleParts = RoundShape & Pick<Recipe, 'payProposals' | 'learn'>;

export function threeRoles(game: ThreeRoles): ThreeRoleParts {
  const { family, temperature } = game;
  const role = (name: RoleName) => ({
    says: SAYS[name],
    sampling: { maxNew: family.maxNew[name], temperature },
  });
  return {
    taskName: family.name,
    stop: family.stop,
    rewards: game.rewards,
    roles: {
      proposer: role('proposer'),
      solver: role('solver'),
      judge: { ...role('judge'), usesGold: true },
    },
    freezable: ['proposer', 'judge'],
    propose: (stage) => propose(game, stage),
    rollOut: (stage, tasks) => solve(game, stage, tasks),
    judge: (stage, groups) => judge(game, stage, groups),
    payProposals: ({ proposals, groups }) => priceProposals(game, proposals, groups),
    learn: (records) => assemble(game, records),
    evaluate: (exam) => examineThreeRoles(game, exam),
    describe: {
      difficulty: (task) => family.difficulty(task),
      worked: (text) => text.startsWith(family.workedPrefix),
    },
  };
}
