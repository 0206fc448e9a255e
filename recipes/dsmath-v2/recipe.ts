/** DeepSeekMath-V2: a prover that analyses its own proofs, a verifier that names issues, and a meta-verifier that checks them. */
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { inPhases, type PhasePlay } from '../../core/round/in-phases.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE, OPTIMIZER } from '../../protocols/solver-verifier.ts';
import {
  ANALYSIS_TOKENS,
  analysedProofs,
  analysisParts,
  META_TOKENS,
  PROOF_TOKENS,
} from '../../worlds/chains/analysis.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { evaluate } from './evaluate.ts';
import { learnIn, META_SET, VERIFIER_SET } from './learn.ts';
import { type Phase, phaseOf, VARIANTS } from './phases.ts';
import { JUDGING, judgeProofs, META_JUDGE, writeProofs } from './proof-groups.ts';
import { rewards } from './rewards.ts';

const optimizer = { ...OPTIMIZER, warmup: 2 };
const tasksOf = familyTasks(analysedProofs);

/** A phase in which each task has one proof. */
const training = (phase: Phase): PhasePlay => ({
  propose: async (context) => tasksOf(context),
  rollOut: (context, tasks) => writeProofs(context, tasks, 1),
  judge: (context, groups) => judgeProofs(JUDGING[phase], context, groups),
  learn: learnIn(phase),
});

export const dsmathV2: WithoutSetup = {
  name: 'dsmath-v2',
  title: 'Prover, verifier and meta-verifier of proofs',
  paper: arXiv('2511.22570', 'DeepSeekMath-V2: Towards Self-Verifiable Mathematical Reasoning'),
  summary:
    'A prover writes chains of sums line by line and analyses each of them itself. A verifier names the lines that do not follow and gives a score, and a meta-verifier says whether the issues that it names are real. The prover is paid the verifier’s score, and for an analysis of its own that is honest; later the verifier learns from proofs that it labelled itself by many analyses.',
  method: {
    setting:
      'A proof shows the sum of a chain of four operators line by line, and whether a line follows from the one before it can be checked exactly. A proof is worth 1 without a wrong line, 0.5 with one, and 0 otherwise. In the start policy a prover slips in nearly one line of four and mostly calls its proofs flawless, and a verifier gives the score that its sums justify, but in nearly half of its reports for lines that are drawn at random.',
    roles:
      'The solver, the prover, writes a proof and then an analysis of it. The judge, the verifier, reads a proof and writes an analysis: it does each sum again, then names the lines that it calls wrong and gives a score of 0, 0.5 or 1. The meta-judge, the meta-verifier, reads a proof and what an analysis reports, does the sums, marks every issue that is named as real or not, and gives the quality of the analysis. Each has weights of its own.',
    rewards:
      'An analysis s’ of a proof with the score s earns (1 - |s’ - s|) times the meta-verifier’s score of it, and a meta-verdict earns 1 - |m’ - m|, where the quality m is 1 if all issues named are real, 0.5 if some are, and 0 if none is or if they do not justify the score. A proof earns 0.76 times the verifier’s score of it plus 0.24 times (1 - |own score - verifier’s score|) times the meta-verifier’s score of its own analysis. What is not well-formed earns 0.',
    credit:
      'Each reward is one number for a whole completion, standardised among those on the same task, proof or analysis (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'For one round the verifier learns from exact scores alone, for two the meta-verifier from the exact quality of analyses, for three the verifier from exact scores and the meta-verifier. Then the prover learns for three rounds from a verifier that rests, and in every fourth its new proofs are labelled by many analyses, from which the verifier learns. A label is the lowest score among the analyses that report issues and that most of three meta-verdicts approve of, if two of them give it; 1 if there is none; otherwise the proof has no label. No exact score is read after the sixth round.',
  },
  needsOfTasks: { datum: 'checker', which: 'proofs of which a checker can say line by line what is right' },
  differences: [
    'Proofs are chains of sums. The experts of the first phases are an exact checker of their lines, and so is the judge of everything that is measured.',
    'A meta-verifier is shown the issues and the score of an analysis, and not its sums.',
    'Verifier and meta-verifier keep sets of their own. In the paper one model does both in the end, and the prover is initialised from it.',
    'A label is read from as many analyses as the group is large, eight by default, three meta-verdicts on each and two that agree, and the verifier is trained on the same analyses; the paper’s numbers could not be verified.',
    'In self-verification every round writes a new proof, and the one stands that its author scores highest. In the paper it reads its earlier proof and analysis; the start policy was not taught to.',
    'Clip range, KL weight and batch are not known to be the paper’s. The prover’s score is the mean over two analyses.',
  ],
  figures: {
    scoreAccuracy:
      'Mean of 1 less the distance of the verifier’s score from the exact one, on fixed proofs of version 0; 0 to 1.',
    issuePrecision: 'Share of the issues named by the verifier that are real.',
    issueRecall: 'Share of the wrong lines that the verifier names as issues.',
    analysisQuality:
      'Mean exact quality of the verifier’s analyses, which meta-verification is to raise; 0 to 1.',
    ownScoreAccuracy:
      'Mean of 1 less the distance of the verifier’s score from the exact one, on proofs of the evaluated version; 0 to 1.',
    metaAccuracy:
      'Mean of 1 less the distance of the meta-verifier’s score from an analysis’s exact quality; 0 to 1.',
    selfError:
      'Mean distance of the score that a prover gives its own proof from the exact one; 0 to 1, and 1 where the proof cannot be read.',
    sequential1: 'Share of held-out tasks whose first sampled proof is exact.',
    sequential2:
      'Share of held-out tasks that are proved after two rounds of self-verification, where the proof that scores itself best is handed in.',
    sequential4: 'The same share after four rounds of self-verification.',
    sequential8: 'The same share after eight rounds of self-verification.',
    overrated:
      'Mean of the score that proofs get in the round less the exact one; above 0 the reward overrates.',
    labelled: 'Share of the proofs for which majorities of analyses gave a label.',
    labelsExact: 'Share of the labels that are exact.',
  },
  taskName: 'chains',
  stop: analysedProofs.stop,
  rewards,
  variants: VARIANTS,
  sets: { main: { optimizer }, [VERIFIER_SET]: { optimizer }, [META_SET]: { optimizer } },
  roles: {
    [SOLVER]: role('writes a proof and analyses it', PROOF_TOKENS),
    [JUDGE]: role('names the lines of a proof that do not follow, and scores it', ANALYSIS_TOKENS, {
      set: VERIFIER_SET,
    }),
    [META_JUDGE]: role('says whether the issues that an analysis names are real', META_TOKENS, {
      set: META_SET,
    }),
  },
  freezable: [SOLVER, JUDGE, META_JUDGE],
  ...inPhases(phaseOf, {
    score: training('score'),
    meta: training('meta'),
    verify: training('verify'),
    prove: { ...training('prove'), rollOut: (context, tasks) => writeProofs(context, tasks) },
    label: training('label'),
  }),
  evaluate,
  describe: {
    difficulty: (task) => analysedProofs.difficulty(task),
    parts: (_role, text) => analysisParts(text),
  },
};
