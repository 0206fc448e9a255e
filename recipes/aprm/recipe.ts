import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { DETECTION_FIGURES } from '../../protocols/evaluate/detection.ts';
import { CHECKED_LINES, rewriteLines, rewriting } from '../../protocols/rewritten-lines.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { evaluate } from './evaluate.ts';
import { judgeLines, rewards } from './judge-lines.ts';
import { GENERATOR_SET, learn } from './learn.ts';

const tasksOf = familyTasks(plainProofs);
/** Without momentum, because optimism extrapolates the direction of the newest gradient. */
const optimizer = smallSteps({ learningRate: 2e-4, warmup: 5, betas: [0, 0.95] });

const shape = rewriting(GENERATOR_SET);

export const aprm: WithoutSetup = {
  name: 'aprm',
  title: 'A generator of wrong steps and a verifier of steps, trained against each other',
  paper: { title: 'Adversarial Training for Process Reward Models', year: 2025, source: 'arXiv:2511.22888' },
  summary:
    'A generator is given a right solution up to one of its lines and writes that line; a verifier reads the solution that it makes and marks every line. The generator is paid for wrong lines that pass, the verifier for exact marks. Both learn at the same time, by optimistic steps.',
  method: {
    setting:
      'Tasks are chains of four operators. Whether a line follows from the one before it can be checked exactly. In the start policy a solver slips in one line of three, and nearly half of a verifier’s checks copy what they are shown.',
    roles:
      'The generator goes on with a right solution at one of its lines, which follows from the task, and writes this line alone, as many times as the group is large; the lines after it follow from what it wrote. The judge, the verifier, reads each of these solutions and the right one as many times, does every sum again and marks every line. Each has weights of its own. The solver answers held-out tasks at version 0, and is not trained.',
    rewards:
      'A verdict earns 1 if its marks are those of the exact checker. A line earns the share of verdicts on it that let it pass if it is wrong, which is 1 for a verdict that is fooled and 0 for one that is not, and -1 if it is not wrong or does not parse.',
    credit: 'Both are standardised among the samples that share a prompt (GRPO).',
    objective:
      'For both a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.01 times a k3 estimate of the KL divergence to version 0, minus 0.01 times the entropy: these make the game strongly monotone.',
    schedule:
      'In each round both are updated from the same records. Their steps are optimistic AdamW: twice along the direction of the new gradient and once back along the last one.',
  },
  needsOfTasks: CHECKED_LINES,
  differences: [
    'Payoffs, weights of KL and entropy, step sizes and how many updates either player has could not be checked against the paper’s; each round updates both.',
    'The generator is not shown the line that it replaces: it writes one in its place, as a solver would, whose weights it starts from.',
    'Lines are sums, and the verifier writes its sums out before its marks; the paper has a classifier of steps.',
    'Optimism is Daskalakis’ for Adam, in which directions, and not gradients, are extrapolated; AdamW has no momentum here.',
    'What a verifier is worth to a solver is measured by Best-of-4 of a solver that stays as it is, and not by reinforcement.',
  ],
  figures: {
    ...DETECTION_FIGURES,
    corrupted: 'Share of the generator’s lines that are wrong.',
    distance: 'Mean distance of a wrong line’s number from the right one.',
    fooled: 'Share of the verdicts on wrong solutions that pass the wrong line.',
    falseAlarms: 'Share of the verdicts on right solutions that reject them.',
    bestOfFour:
      'Share of held-out tasks at which the likeliest of four answers of version 0, by the verifier, is exact.',
  },
  ...shape,
  rewards,
  variants: {
    static: 'the verifier is shown lines whose last digit is random, and the generator is not trained',
    'no-optimism': 'plain AdamW for both players',
    unregularised: 'neither KL nor entropy in either utility',
    imitation: 'the verifier is fine-tuned on its verdicts that earn 1, instead of being reinforced',
  },
  sets: { main: { optimizer }, [GENERATOR_SET]: { optimizer } },
  roles: {
    ...shape.roles,
    [SOLVER]: role(
      'answers held-out tasks for the verifier to choose from, at version 0',
      plainProofs.maxNew.solver,
    ),
  },
  bindings: () => ({ [SOLVER]: { pinned: true } }),
  propose: async (context) => tasksOf(context),
  rollOut: rewriteLines,
  judge: judgeLines,
  learn,
  evaluate,
};
