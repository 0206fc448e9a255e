/** EPO: a strategist that is trained to advise a frozen actor. */

import type { Side } from '../../core/game/seated-game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { GAME_FIGURES } from '../../protocols/evaluate/games.ts';
import { gameRound } from '../../protocols/game-round.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { SEAT_FIGURES, seatFigures, seatItems, seatUpdates } from '../../protocols/seat-credit.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { advisedSplit, bothAdvisedSplit, split } from '../../worlds/games/split.ts';

/** Which game a variant plays, and which of its seats it trains; the others keep version 0. */
const PLAYED = {
  '': { game: advisedSplit, trained: ['strategist'] },
  'self-play': { game: bothAdvisedSplit, trained: ['strategist', 'adviser'] },
  'actor-alone': { game: split, trained: ['actor'] },
} as const;
const playedIn = (variant = '') => PLAYED[variant as keyof typeof PLAYED];
const ROLES = ['strategist', 'adviser', 'actor', 'partner'] as const;

/** The evaluated version advises the actor, and the start plays whatever it advises and the other side; alone it is the actor. */
const sides = ({ seats }: { readonly seats: readonly string[] }): readonly Side[] => [
  seats.includes('strategist')
    ? { holds: ['strategist'], team: ['strategist', 'actor'] }
    : { holds: ['actor'] },
];

function learn({ round, groups }: RoundRecords): TrainingPlan {
  const { trained } = playedIn(round.settings.variant);
  return {
    updates: seatUpdates(
      seatItems(groups, trained, { by: 'turn', compare: 'seat', within: 'deal' }, grpo),
      epo.roles,
      ppoClip(),
    ),
    figures: seatFigures(groups, ROLES),
  };
}

export const epo: WithoutSetup = {
  name: 'epo',
  title: 'A strategist that advises a frozen actor turn by turn',
  paper: arXiv(
    '2502.12486',
    'EPO: Explicit Policy Optimization for Strategic Reasoning in LLMs via Reinforcement Learning',
  ),
  summary:
    'Two seats negotiate over a split of ten coins. A strategist writes one word before each move of the actor, who follows it and is not trained. The strategist is paid what the actor earns.',
  method: {
    setting:
      'Actor and partner divide ten coins by offers in turn, four at most. Each offer that is not taken costs a coin, and whoever gets no deal has an outside option of one to four coins, which the other does not know.',
    roles:
      'The strategist reads what the actor reads and writes hard, fair, soft or take; the actor reads that word beside the offer and moves. Actor and partner are version 0 in every round.',
    rewards:
      'Both sides are paid the tenth of their coins, at the end; a strategist is paid as the side that it advises. Advice that is none of the words, and a move that the rules refuse, cost 0.1 at once.',
    credit:
      'What a strategist’s word and its later ones earned, standardised over all of its words in the episodes of one deal.',
    objective: 'A clipped policy gradient with ratios in [0.8, 1.2] on the strategist’s tokens alone.',
    schedule: 'Each round plays eight episodes of each deal and trains once.',
  },
  needsOfTasks: { datum: 'turns', which: 'a game of several seats' },
  differences: [
    'One negotiation over coins with four words of advice; no SOTOPIA, WebShop or ALFWorld, and no free text.',
    'The paper’s process rewards come from a judge. Here a turn earns what the game pays for it, and the goal is paid with the last one.',
    'Strategist and actor begin as one policy; the actor keeps version 0.',
    'How the paper splits rewards between turns, and its estimator, could not be checked: turns are compared as GRPO compares answers.',
  ],
  figures: { ...SEAT_FIGURES, ...GAME_FIGURES },
  variants: {
    'self-play': 'the partner has a strategist too, who is trained with the same weights',
    'actor-alone': 'no strategist: the actor is trained',
  },
  sets: trainedSolver({ warmup: 5 }),
  bindings: ({ variant }) =>
    Object.fromEntries(
      ROLES.filter((role) => !(playedIn(variant).trained as readonly string[]).includes(role)).map((role) => [
        role,
        { pinned: true },
      ]),
    ),
  ...gameRound({
    games: [advisedSplit, split, bothAdvisedSplit],
    examined: [advisedSplit, split],
    trainedOn: ({ variant }) => [playedIn(variant).game],
    sides,
    roles: {
      strategist: { description: 'writes a word of advice before each move of the actor' },
      adviser: { description: 'advises the partner', speaksAs: 'strategist' },
      actor: { description: 'negotiates, by the advice that it reads', speaksAs: 'player' },
      partner: { description: 'negotiates on the other side', speaksAs: 'player' },
    },
  }),
  learn,
};
