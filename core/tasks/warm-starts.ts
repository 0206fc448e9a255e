/**
 * The warm starts by name: what `npm run pretrain -- --family NAME` teaches a model with random weights before any reward is
 * paid. A family adds one line. Demonstrations are imperfect on purpose and never touch the held-out side.
 */
import type { Random } from '../random.ts';
import { demonstrateCareless } from './careless.ts';
import { demonstrateChains } from './chains.ts';
import { type Demonstration, demonstrate } from './demonstrations.ts';
import { demonstrateEquation } from './equation-demonstrations.ts';
import { demonstrateGame } from './games/demonstrations.ts';
import { demonstrateGrid } from './grids/demonstrations.ts';
import { demonstrateHasty } from './hasty.ts';
import { demonstrateJudging } from './judging/demonstrations.ts';
import { demonstrateOverthinking } from './judging/overthinking.ts';
import { demonstrateKnowledge } from './knowledge/demonstrations.ts';
import { demonstrateIncurious } from './knowledge/incurious.ts';
import { demonstratePrograms } from './programs/demonstrations.ts';
import { demonstrateProgramJudge } from './programs/judging.ts';
import { demonstrateNarrow } from './programs/narrow.ts';
import { demonstrateRambling } from './rambling.ts';
import { demonstrateRewriting } from './rewriting/demonstrations.ts';
import { demonstrateStyle } from './style-demonstrations.ts';
import { demonstrateTiring } from './tiring.ts';
import { demonstrateCorpus } from './worked-corpus.ts';

export interface WarmStart {
  /** A fresh demonstration each time; its role and text follow from `random` alone. */
  readonly demonstrate: (random: Random) => Demonstration;
  /** Shipped policy that it goes on from; default random weights. */
  readonly from?: string;
  /** Training steps; default 2500, about five minutes on a thread where sequences are short. */
  readonly steps?: number;
  /** Demonstrations a step; default 96. */
  readonly batch?: number;
  /** Highest step size; default 3e-3, of which a policy that only takes up a habit would forget. */
  readonly learningRate?: number;
  /** How much more a role's tokens count than others'; a demonstration's own weight comes before it. Default 1. */
  readonly weights?: Readonly<Record<string, number>>;
}

export const warmStarts: Readonly<Record<string, WarmStart>> = {
  // A judge's verdicts are few and hard.
  arithmetic: { demonstrate, weights: { judge: 2.5 } },
  careless: { demonstrate: demonstrateCareless, from: 'seed', steps: 1500, weights: { judge: 2.5 } },
  chains: {
    demonstrate: demonstrateChains,
    from: 'careless',
    steps: 2000,
    batch: 64,
    weights: { judge: 1.5 },
  },
  // What a proposer writes is mostly chance: its many tokens would drown the solver's.
  programs: { demonstrate: demonstratePrograms, steps: 2600, batch: 64, weights: { proposer: 0.5 } },
  narrow: {
    demonstrate: demonstrateNarrow,
    from: 'programs',
    steps: 2600,
    batch: 64,
    weights: { proposer: 0.5 },
  },
  'programs-judge': {
    demonstrate: demonstrateProgramJudge,
    from: 'programs',
    steps: 1500,
    batch: 64,
    weights: { judge: 2, proposer: 0.5 },
  },
  // A digit is one token beside a response's dozens.
  style: { demonstrate: demonstrateStyle, steps: 2200, batch: 64, weights: { judge: 4 } },
  knowledge: { demonstrate: demonstrateKnowledge, steps: 800, batch: 64 },
  incurious: {
    demonstrate: demonstrateIncurious,
    from: 'knowledge',
    steps: 200,
    batch: 64,
    learningRate: 5e-4,
  },
  grids: { demonstrate: demonstrateGrid, steps: 950, batch: 64 },
  equations: { demonstrate: demonstrateEquation, weights: { judge: 2 } },
  rewriting: { demonstrate: demonstrateRewriting, batch: 64, weights: { judge: 2 } },
  games: { demonstrate: demonstrateGame, steps: 1500 },
  tiring: { demonstrate: demonstrateTiring, from: 'seed', steps: 1500 },
  judging: { demonstrate: demonstrateJudging, from: 'seed', steps: 3000, weights: { judge: 2.5 } },
  overthinking: { demonstrate: demonstrateOverthinking, from: 'judging', steps: 900, weights: { judge: 2 } },
  // Solvers alone, with habits that leave room: no steps, or no end.
  hasty: { demonstrate: demonstrateHasty, from: 'seed', steps: 100, learningRate: 5e-4 },
  rambling: { demonstrate: demonstrateRambling, from: 'seed', steps: 700 },
  // Stopped early over a small corpus: right on two in five held-out tasks.
  undertrained: { demonstrate: demonstrateCorpus, steps: 500 },
};
