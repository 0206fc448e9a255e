/**
 * trio on compositions: one set of weights composes tasks, solves them and judges the solutions. The proposer is paid at the solver's frontier, so that
 * the tasks grow deeper as the solver gains skill. The files in the order of a round: propose.ts, judge.ts of trio, learn.ts, evaluate.ts.
 */
import type { Recipe } from '../../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../../core/schema/policy.ts';
import { rollOut } from '../../../protocols/roll-out.ts';
import { smallSteps } from '../../../protocols/solver.ts';
import { composition } from '../../../worlds/composition/family.ts';
import { judge } from '../judge.ts';
import { rewards } from '../rewards.ts';
import { evaluate } from './evaluate.ts';
import { learn, payProposals } from './learn.ts';
import { propose, ruleState, VARIANTS } from './propose.ts';

const at = (maxNew: number) => ({ maxNew, temperature: 1 });

export const trioComposition: Recipe = {
  name: 'trio-composition',
  title: 'Trio on compositions: a proposer at the solver’s frontier',
  paper: {
    title:
      'rollmesh’s flagship in a world with headroom; after RL Tango, R-Zero and From f(x) and g(x) to f(g(x))',
    year: 2026,
  },
  summary:
    'One policy composes functions into tasks, works the tasks out call by call, and marks the steps of the solutions. The proposer is paid for tasks that half of the solutions get right, the solver for right answers, the judge for agreeing with the exact checker. Every function is known at the start; what is learnt is to compose them, one depth after the other.',
  method: {
    setting:
      'Sixteen functions with opaque names on strings of four letters. The start applies each of them without fault, reads out the calls of a question in their order, and has seen two nested calls of one half of the functions. Nothing deeper was shown solved.',
    roles:
      'The proposer writes tasks until the round has as many as it wants; a task must keep to the grammar, have at most five calls, must not be held out, must not repeat one of the round, and must have no shortcut: no way that stops early may give its answer. The solver answers each task several times. The judge marks each step of a solution and the whole.',
    rewards:
      'The proposer earns 1 - 2|p - 1/2|, where p is the share of right answers to its task, less the share of the round’s other proposals that make the same calls; a text that cannot be used earns 0, a held-out task nothing at all. The solver earns 1 for the right answer. The judge earns 1 where its verdict on the whole is that of the exact checker.',
    credit:
      'Advantages are computed role by role. The proposer’s rewards are whitened over the round, the solver’s are centred and scaled by their group (GRPO), the judge’s are balanced over right and wrong solutions.',
    objective:
      'The sum of the three roles’ clipped policy gradients (ratios in [0.8, 1.28]), each a mean over its own tokens that have an advantage; proposer and judge count half. There is no KL term.',
    schedule: 'Each round samples with the newest version and makes two steps on the shared weights.',
  },
  differences: [
    'R-Zero trains challenger and solver in turns, with votes for labels and penalties for repetition by similarity; here both are trained in every update, by an exact checker, and what is penalised is the same sequence of calls.',
    'The functions are not learnt by rejection fine-tuning on a large model but by pretraining a small one, which reads out calls without applying them before it composes any.',
  ],
  figures: {
    depth:
      'Mean number of calls of the round’s tasks; after an evaluation, the share of greedy answers with every step right, by the number of calls.',
    written: 'Share of the round’s tasks with so many calls.',
    live: 'Share of the round’s tasks that some answers get right and some do not: the others teach the solver nothing.',
    rightSteps: 'Share of greedy answers to held-out tasks in which every step and the answer are right.',
  },
  startPolicy: 'composition',
  taskName: composition.name,
  stop: composition.stop,
  tasks: 24,
  groupSize: 8,
  rewards: { gold: rewards.gold!, judge: rewards.judge!, random: rewards.random! },
  variants: VARIANTS,
  state: ruleState,
  sets: {
    [MAIN_SET]: {
      optimizer: smallSteps({ learningRate: 2e-4, warmup: 10, weightDecay: 0, minibatches: 2 }),
    },
  },
  roles: {
    proposer: { description: 'composes functions into tasks', sampling: at(composition.maxNew.proposer) },
    solver: { description: 'works the tasks out, call by call', sampling: at(composition.maxNew.solver) },
    judge: {
      description: 'marks every step and the whole',
      sampling: at(composition.maxNew.judge),
      usesGold: true,
    },
  },
  freezable: ['proposer', 'judge'],
  propose,
  rollOut: (context, tasks) => rollOut({ family: composition }, context, tasks),
  judge: (context, groups) => judge(composition, context, groups),
  payProposals,
  learn,
  evaluate,
  describe: { difficulty: composition.difficulty },
};
