/** SPARK: a verifier that is trained on verdicts of its majority, and a solver that is trained by the verifier; no role sees a reference. */
import { readTags } from '../../core/recipe/reading.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { ofFamily, SOLVER } from '../../protocols/solver.ts';
import { JUDGE, OPTIMIZER } from '../../protocols/solver-verifier.ts';
import { anyLines, plainProofs } from '../../worlds/chains/analysis.ts';
import { chainMarks } from '../../worlds/chains/family.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { imitate, reinforce, VERIFIER_SET } from './learn.ts';
import {
  familyOf,
  LABELLER,
  labelSolutions,
  type ProcessGame,
  paySolutions,
  phaseOf,
  rewards,
  VARIANTS,
  writeLabelled,
} from './proofs.ts';

const optimizer = { ...OPTIMIZER, warmup: 2 };
/** How many held-out tasks are voted on, and how many answers each has. */
const EXAMINED = { voted: 100, answers: 4 };

const described = {
  name: 'spark',
  title: 'A verifier of steps trained on majorities of its verdicts, and a solver trained by it',
  paper: arXiv(
    '2512.03244',
    'SPARK: Stepwise Process-Aware Rewards for Reference-Free Reinforcement Learning',
  ),
  summary:
    'A verifier gives sixteen verdicts on each solution, and a line counts as right where most of them mark it so. A copy of it is fine-tuned on verdicts that share these marks. Then a solver is reinforced by that copy’s verdicts alone: no exact answer is read at any time.',
  method: {
    setting:
      'Tasks are chains of four operators. A solution has a line for each, and slips in one line of three; whether a line follows from the one before it can be checked exactly, which is used to measure and never to label or to pay. In the start policy nearly half of a verifier’s checks copy what they are shown.',
    roles:
      'The solver writes solutions. The labeller, version 0, gives sixteen verdicts on each of them; it does every sum again, marks every line and says whether the whole is right. The judge, a verifier that is fine-tuned in weights of its own, gives one verdict on each solution that is paid.',
    rewards:
      'A line’s label is what more than half of the verdicts that parse mark it. A well-formed solution, which has one line for each operator, earns 1 if the fine-tuned verifier calls it right, and 0 otherwise; what is not well-formed earns 0 and is shown to nobody.',
    credit:
      'Of sixteen verdicts on a solution the first whose marks are the labels is imitated; without one the solution is left out. A solver’s rewards are standardised among the solutions of a task (GRPO).',
    objective:
      'Negative log-likelihood for the verifier. For the solver a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'In the first six rounds solutions are labelled, half as many of each task as later, and the verifier makes one pass over the verdicts that are chosen. Then it rests, and the solver learns in every round.',
  },
  differences: [
    'Solutions are chains of sums, and their format is one line for each operator: a solution cannot be lengthened by trivial lines as the paper’s could, but without the gate it can be shortened.',
    'Solver, labeller and verifier start as one policy of 190 thousand parameters, which labels with its own verdicts; in the paper the labeller is twice as large.',
    'Majorities over lines, over the whole, and single verdicts are compared; verdicts that criticise verdicts are left out.',
    'Selective advantage is a variant that no arm of the claim plays; the sum of process and step advantages is left out.',
    'Eight solutions of a task instead of sixteen.',
  ],
  figures: {
    ...VERIFIER_FIGURES,
    labelAccuracy:
      'Balanced accuracy of the marks on lines that the majority keeps as labels, by the oracle; 0.5 is chance.',
    voteAccuracy: 'The same balanced accuracy over all verdicts that can be read; 0.5 is chance.',
    lines: 'Mean number of lines in a solution.',
    misshapen: 'Share of the solutions with more or fewer lines than the task has operations.',
  },
  rewards,
  variants: VARIANTS,
  sets: { main: { optimizer }, [VERIFIER_SET]: { optimizer } },
  freezable: [SOLVER, JUDGE],
  bindings: () => ({ [LABELLER]: { pinned: true } }),
} satisfies Described;

const { lines: _, misshapen: __, ...WITHOUT_LINES } = described.figures;

const written: RecipeOver<'solve' | 'verify'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'verify'], data: ['answer'] },
  over: (game: ProcessGame) => {
    const { family, tasks, words, readVerdict = readTags } = game;
    return {
      ...ofFamily(family),
      ...described,
      roles: {
        [SOLVER]: role('writes solutions line by line', words.solve.maxNew),
        [LABELLER]: role('gives the verdicts that labels are made of, at version 0', words.verify.maxNew, {
          speaksAs: JUDGE,
        }),
        [JUDGE]: role('marks every line and gives a verdict, which pays the solver', words.verify.maxNew, {
          set: VERIFIER_SET,
        }),
      },
      ...inPhases(phaseOf, {
        label: {
          propose: async (context) => tasks(context),
          rollOut: (context, admitted) => writeLabelled(game, context, admitted),
          judge: (context, groups) => labelSolutions(game, context, groups),
          learn: (records, tools) => imitate(game, records, tools),
        },
        solve: {
          propose: async (context) => tasks(context),
          rollOut: (context, admitted) =>
            rollOut({ family: familyOf(game, context.round) }, context, admitted),
          judge: (context, groups) => paySolutions(game, context, groups),
          learn: (records, tools) => reinforce(game, records, tools),
        },
      }),
      evaluate: (context) => evaluateVerifier(context, { family, solver: SOLVER, judge: JUDGE, ...EXAMINED }),
      describe: {
        difficulty: (task) => family.difficulty(task),
        parts: (role, text) => (role === SOLVER ? readTags : readVerdict)(text),
      },
    };
  },
  elsewhere: {
    figures: WITHOUT_LINES,
    variants: { single: VARIANTS.single },
    differences: [
      'A verdict is a yes or no to the whole solution, which counts as one step: texts of anybody’s policy have no marks for steps.',
      'A well-formed solution is one whose answer can be read; its number of steps is not bound.',
      'Solver, labeller and verifier start as one policy, which labels with its own verdicts; in the paper the labeller is twice as large.',
      'Verdicts that criticise verdicts, and the advantages that depend on steps, are left out.',
    ],
  },
  ownReward: 'the word of its verifier is the reward',
};

const proofs: ProcessGame = { ...familyGame(plainProofs, { readVerdict: chainMarks }), ungated: anyLines };

export const spark = played(written, proofs);
