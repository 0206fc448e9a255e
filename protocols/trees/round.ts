/** The shape of round that recipes on search trees share: tasks, a tree for each by one solver, whose nodes the heads of other sets judge, and paid answers. */
import type { Game } from '../../core/game/game.ts';
import type { RoundShape } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import type { AnswerReward } from '../answer-rewards.ts';
import { ofFamily, rewardNamed, SOLVER } from '../solver.ts';
import { evaluateTrees } from './evaluate.ts';
import { payTree, recordTree, searchTasks, type TreeSearch } from './stage.ts';

interface Searching {
  /** The first is the default. */
  readonly rewards: Readonly<Record<string, AnswerReward>>;
  /** What each set with a head says of steps, by the name that it and its role share. */
  readonly critics: Readonly<Record<string, string>>;
  /** How the round's tasks are searched. */
  readonly search: (context: RoundContext, tasks: readonly AdmittedTask[]) => TreeSearch;
  /** How held-out tasks are searched, whose answers nobody checks meanwhile; default as the round's. */
  readonly examined?: (context: RoundContext) => TreeSearch;
}

/** A tree may draw as many tokens as a group's rollouts of the longest length. */
export function searchedRound(
  game: Game<'solve'>,
  { rewards, critics, search, examined = (context) => search(context, []) }: Searching,
): RoundShape {
  const { family, words } = game;
  const roles = Object.entries(critics).map(([name, description]) => [
    name,
    role(`${description}, and writes nothing`, 1, { speaksAs: SOLVER, set: name }),
  ]);
  return {
    ...ofFamily(family),
    rewards,
    roles: {
      [SOLVER]: role('draws the steps of answers', words.solve.maxNew),
      ...Object.fromEntries(roles),
    },
    propose: async (context) => game.tasks(context),
    rollOut: async (context, tasks) => {
      const budget = context.round.settings.groupSize * words.solve.maxNew;
      const trees = await searchTasks(game, context, SOLVER, tasks, search(context, tasks), budget);
      return tasks.map((task, t) => recordTree(game, context, SOLVER, task, trees[t]!));
    },
    judge: async (context, groups) => {
      const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
      return groups.map((group) => payTree(game, reward, context, group));
    },
    evaluate: (context) => evaluateTrees(game, context, SOLVER, examined),
  };
}
