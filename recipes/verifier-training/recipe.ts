import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { DETECTION_FIGURES } from '../../protocols/evaluate/detection.ts';
import { CHECKED_LINES, rewriteLines, rewriting } from '../../protocols/rewritten-lines.ts';
import { smallSteps } from '../../protocols/solver.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { evaluate } from './evaluate.ts';
import { judgeLines, rewards } from './judge-lines.ts';
import { attack, GENERATOR_SET, teach, VARIANTS } from './learn.ts';
import { phaseOf, TAUGHT } from './phases.ts';

const tasksOf = familyTasks(plainProofs);
const lines = { propose: async (context: RoundContext) => tasksOf(context), rollOut: rewriteLines };

export const verifierTraining: WithoutSetup = {
  name: 'verifier-training',
  title: 'Verifiers trained by rewards and by fine-tuning, before a generator that attacks them',
  paper: { title: 'A study of our own', year: 2026 },
  summary:
    'A verifier of steps is taught on the slips of a careless generator, by rewards for exact marks or by fine-tuning on verdicts. Then it rests, and the generator is trained to write wrong lines that it lets pass. What the verifier finds of flaws of other kinds, and how long it withstands, is measured by an exact checker.',
  method: {
    setting:
      'Tasks are chains of four operators. Whether a line follows from the one before it can be checked exactly. In the start policy a solver slips in one line of three, and nearly half of a verifier’s checks copy what they are shown.',
    roles:
      'The generator goes on with a right solution at one of its lines, which follows from the task, and writes this line alone, as many times as the group is large; the lines after it follow from what it wrote. The judge, the verifier, reads each of these solutions, does every sum again and marks every line: four times while it is taught, when it reads the right solution, too, and twice afterwards. Each has weights of its own.',
    rewards:
      'A verdict earns 1 if its marks are those of the exact checker. A line earns the share of verdicts on it that let it pass if it is wrong, and -1 if it is not wrong or does not parse.',
    credit: 'Both are standardised among the samples that share a prompt (GRPO).',
    objective:
      'For both a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, without a KL penalty. The variants fine-tune the verifier in its place: on those of its verdicts that earn 1, or on as many exact verdicts as it wrote, on the same solutions.',
    schedule: `In the first ${TAUGHT} rounds the verifier is trained and the generator rests at version 0. Lines that could be flaws of the kinds that are examined are left out of them: ten too many or too few, the other operator, and the operand of another line. From then on the verifier rests and the generator is trained.`,
  },
  needsOfTasks: CHECKED_LINES,
  differences: [
    'One step size serves all ways of training, with as many updates on verdicts on the same kind of solutions; none was tuned for its way.',
    'The start policy has seen flaws of every kind, and about half of its checks copy them: what is held out are the kinds that training shows.',
    'A flaw is one wrong line of a sum; the verifier writes its sums out before its marks.',
  ],
  figures: {
    ...DETECTION_FIGURES,
    foundTaught:
      'Share of careless wrong lines of version 0’s generator, of kinds that were trained on, that a sampled verdict rejects, on held-out tasks.',
    corrupted: 'Share of the generator’s lines that are wrong.',
    breached: 'Share of the generator’s lines that are wrong and get past the verifier.',
    fooled: 'Share of the generator’s wrong lines that get past the verifier.',
  },
  ...rewriting(GENERATOR_SET),
  rewards,
  variants: VARIANTS,
  sets: {
    main: { optimizer: smallSteps({ learningRate: 2e-4, warmup: 5 }) },
    [GENERATOR_SET]: { optimizer: smallSteps({ learningRate: 8e-4, warmup: 5 }) },
  },
  ...inPhases(phaseOf, {
    teach: { ...lines, judge: judgeLines('teach'), learn: teach },
    attack: { ...lines, judge: judgeLines('attack'), learn: attack },
  }),
  evaluate,
};
