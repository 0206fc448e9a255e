/** STP: one policy conjectures and proves; a checker of proofs is the only source of reward. */
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { acceptedAtRandom, CONTROLS, exactReward } from '../../protocols/answer-rewards.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { learn } from './learn.ts';
import { CONJECTURER, derivations, propose, stpState } from './statements.ts';

/** Samples of each held-out statement behind the sampled accuracy. */
const DRAWS = 4;

const rewards = {
  checker: { ...exactReward, description: 'a proof counts that the exact checker accepts' },
  ...CONTROLS,
  random: acceptedAtRandom('proofs'),
};

export const stp: WithoutSetup = {
  name: 'stp',
  title: 'A conjecturer and a prover that learn from each other and a checker of proofs',
  paper: arXiv('2502.00212', 'STP: Self-play LLM Theorem Provers with Iterative Conjecturing and Proving'),
  summary:
    'One policy has a set of statements to prove and writes conjectures of its own beside it. A checker says which proofs hold. The policy is fine-tuned on accepted proofs of what it seldom proves, and on conjectures that it barely proved and that are near to what it has not proved yet.',
  method: {
    setting:
      'A statement is a string rewriting system with a start and a goal, and a proof is a derivation line by line, which can be checked exactly. The set has 256 statements whose shortest proofs have two to four lines. The start policy was taught derivations of one to four lines, one in four of them with a wrong line, and proves one such statement in ten at a try.',
    roles:
      'The conjecturer is given the rules of a statement of the set and writes a start and a goal in them, and may write the way. The solver, the prover, makes eight attempts at each conjecture, and at statements of the set that are not proved yet; half of a round’s tasks are conjectures, and statements take the places of those that are refused. Both share weights.',
    rewards:
      'A proof that the checker accepts counts 1, any other 0. A conjecture has no reward: it is kept if at least one attempt and at most a quarter of them prove it, unless it is among the fifth of those whose shortest proof is shortest for the length of the statement.',
    credit:
      'Each statement of the round that is still not proved gives its weight to the kept conjecture that is most like it by BLEU of characters; weights have a mean of 1 and are cut off at 4. Distinct proofs of one statement, which at most half of the attempts prove, share a weight of 1, times exp(-0.001 tokens).',
    objective: 'Negative log-likelihood of both kinds of text, each weighted as above: expert iteration.',
    schedule:
      'Each round conjectures, proves and makes one pass over its own examples and those of the two rounds before it.',
  },
  needsOfTasks: { datum: 'checker', which: 'statements whose proofs a checker reads' },
  differences: [
    'Statements are derivations in string rewriting systems; the paper proves in Lean and Isabelle.',
    'The shared lemma is the rule system: the conjecturer is given the rules and no proved theorem, which the start policy was not taught to read, and a conjecture in them uses them by construction.',
    'The paper keeps conjectures that less than a quarter of the attempts prove; of eight attempts that would be one, and two are kept here as well.',
    'Statements are matched by BLEU of characters instead of embeddings of a language model, and each gives its whole weight to one conjecture.',
    'Proofs take no measurable time to check, so that weights have no term for it.',
    'The policy goes on from round to round and is never trained again from its start, which the paper does at intervals.',
    'Eight attempts instead of 16 to 64; 24 rounds on 256 statements, where the paper has dozens of iterations on tens of thousands.',
  ],
  figures: {
    proved: 'Share of the set’s statements that have been proved so far.',
    newlyProved: 'Number of statements of the set that were proved in this round.',
    admitted: 'Share of the conjectures that became tasks.',
    conjecturesProved: 'Share of the conjectures with at least one proof.',
    conjecturesKept: 'Share of the conjectures that are barely proved and kept for training.',
    conjectureRate: 'Mean share of the attempts at a conjecture that prove it.',
    keptDifficulty:
      'Mean difficulty of the kept conjectures: the number of lines of the shortest derivation.',
  },
  // A derivation always has its lines: there is no form without steps.
  ...solverAlone({ family: derivations, rewards, draws: DRAWS, force: false }),
  state: stpState,
  variants: {
    'expert-iteration': 'nobody conjectures: all tasks are statements of the set',
    'no-matching': 'kept conjectures have the same weight, near to the set or not',
    'random-conjectures': 'conjectures are the ends of random walks, and nobody learns to write them',
  },
  sets: trainedSolver({ learningRate: 1e-4, warmup: 5, minibatches: 4 }),
  roles: {
    [CONJECTURER]: role('writes a statement in given rules', derivations.maxNew.proposer, {
      speaksAs: 'proposer',
      shown: 'rules of rewriting',
    }),
    [SOLVER]: role('proves statements and conjectures', derivations.maxNew.solver),
  },
  freezable: [CONJECTURER, SOLVER],
  propose,
  learn,
  describe: { difficulty: (task) => derivations.difficulty(task) },
};
