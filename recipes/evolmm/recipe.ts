/** EvoLMM: a proposer asks about pictures and a solver answers, and both are paid by how far the solver's answers agree. */
import * as v from 'valibot';
import type { Game } from '../../core/game/game.ts';
import type {
  LearnTools,
  ProposalTools,
  RoundRecords,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered, type Solution } from '../../core/recipe/task-family.ts';
import { exponentialKlWeight, klTokens } from '../../core/rl/corrections/index.ts';
import { batchBaseline } from '../../core/rl/estimators/index.ts';
import { positionsByKey } from '../../core/rl/groups.ts';
import { entropyBand, entropyOfCounts } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { admit } from '../../core/round/admit.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { finite } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, Proposals, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerEvidence,
  type AnswerReward,
  formatReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { BLIND, OTHER_PICTURES, otherPictures } from '../../protocols/evaluate/other-pictures.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { nearStart } from '../../protocols/objectives.ts';
import { passed, requestsLike, writeTasks } from '../../protocols/proposals.ts';
import { answer, rollOut } from '../../protocols/roll-out.ts';
import {
  describedBy,
  ofFamily,
  policyUpdate,
  rewardNamed,
  rewardOf,
  SOLVER,
  smallSteps,
  withAdvantages,
} from '../../protocols/solver.ts';
import { voteFigures, votesOf } from '../../protocols/votes.ts';
import { askedCanvases } from '../../worlds/canvas/asking.ts';
import { LARGEST_CANVAS } from '../../worlds/canvas/scene.ts';

const PROPOSER = 'proposer';
const SETS = { [SOLVER]: MAIN_SET, [PROPOSER]: PROPOSER } as const;
type Role = keyof typeof SETS;
const ROLES: readonly Role[] = [SOLVER, PROPOSER];
/** The proposer learns in every so manieth round. */
const PROPOSER_EVERY = 5;
/** Of the running means of rewards. */
const MOMENTUM = 0.9;
/** The weight of the KL term at first and its bounds, and the divergence that it is to bring about, nats a token. */
const KL = { weight: 1e-3, least: 1e-5, most: 1, target: 0.02 } as const;
/** The exponent of a share, and what words before an answer cost: nothing up to so many, all of it at twice as many. */
const SHARE_POWER = 0.7;
const WORDS = 6;
const WORDS_COST = 0.1;

/** `share`: that of the group's answers that are the same as this one. `words`: how many stand before it. */
export const agreementPay = (share: number, words: number): number =>
  share ** SHARE_POWER * (1 - WORDS_COST * Math.max(0, Math.min(1, (words - WORDS) / WORDS)));

/** The places of some answers, those of the same answer together; one that cannot be read is like no other. */
const alike = (answers: readonly (string | null)[]): number[][] => [
  ...positionsByKey(answers.map((one, i) => one ?? i)).values(),
];

/** The share of some answers that are the same as each [answers]. */
const sharesOf = (answers: readonly (string | null)[]): number[] => {
  const shares = answers.map(() => 0);
  for (const places of alike(answers)) for (const at of places) shares[at] = places.length / answers.length;
  return shares;
};

/** Entropy of some answers, nats. */
export const answerEntropy = (answers: readonly (string | null)[]): number =>
  entropyOfCounts(alike(answers).map((places) => places.length));

/** How the answer in a text may be marked. */
const MARK = /<answer>|\\boxed\s*\{/;
/** Words before the answer in the text of a solution. */
function wordsBefore({ steps, answer }: Solution): number {
  const text = steps.join('\n');
  const at = MARK.exec(text)?.index ?? text.lastIndexOf(answer);
  return (text.slice(0, at < 0 ? text.length : at).match(/\S+/g) ?? []).length;
}

/** Rewards of a group's answers by `pay`, of the share that gives each answer and of the words before it. */
const byShare = (description: string, pay: (share: number, words: number) => number): AnswerReward => ({
  description,
  usesGold: false,
  labelFree: true,
  ownScale: true,
  pay: ({ answers, solutions }: AnswerEvidence) =>
    sharesOf(answers).map((share, i) => {
      const solution = solutions[i]!;
      return pay(share, solution.ok ? wordsBefore(solution.value) : 0);
    }),
});

const agreement = byShare('the share of the answers that are the same, to the power 0.7', agreementPay);
const discrete = byShare('1 for the answer that more than half give', (share) => Number(share > 1 / 2));

const rewards = {
  agreement,
  format: { ...formatReward, ownScale: true },
  random: { ...randomReward, ownScale: true },
} as const;

const VARIANTS = {
  discrete:
    'the solver earns 1 for the answer that more than half give, and the proposer 1 for a question on which more than half and not all agree',
  'given-questions': 'no proposer: questions are drawn with the pictures',
  'fixed-kl': 'the weight of the KL term stays as it is at first',
} as const;
const BLINDLY = {
  [BLIND]: 'control: the solver is shown another picture than the one that is asked about',
} as const;

/** Running mean of a role's rewards, null before the first, and its weight of the KL term. */
const roleState = v.object({ baseline: v.nullable(finite), klWeight: finite });
const state = v.object({ [SOLVER]: roleState, [PROPOSER]: roleState });
type RoleState = v.InferOutput<typeof roleState>;
const FIRST: RoleState = { baseline: null, klWeight: KL.weight };

type EvoGame = Game<'solve' | 'propose'>;

/** Questions of the proposer about given pictures; given ones where it has written none that can be read. */
async function propose(game: EvoGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const given = await game.tasks(context);
  if (round.settings.variant === 'given-questions') return given;
  const examples = given.tasks.map(({ task }) => task);
  const requests = requestsLike(context, PROPOSER, examples.length, game.byExample ? examples : null);
  const proposed = await writeTasks(game, context, PROPOSER, 'propose', requests);
  const asked = passed(proposed);
  return {
    ...given,
    samples: proposed.map(({ sample }) => sample),
    // A round without tasks would fail: one that nobody wrote takes their place, and nobody is paid for it.
    tasks: admit(
      round,
      asked.length ? asked : examples.slice(0, 1).map((task) => ({ task, proposal: null })),
    ),
  };
}

async function attempt(
  game: EvoGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { otherPicture, family } = game;
  const { round } = context;
  if (round.settings.variant !== BLIND || !otherPicture) return rollOut(game, context, tasks);
  const { solverPrompt } = rendered(family, context);
  const samples = await answer(
    family,
    context,
    SOLVER,
    tasks.map(({ group, task }) => ({
      group,
      task,
      prompt: solverPrompt(otherPicture(task, group)),
      count: round.settings.groupSize,
    })),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

/** The answers to each question [groups][samples]; null where a text holds none. */
const answersIn = (game: EvoGame, groups: RoundRecords['groups'], tools: ProposalTools) => {
  const family = rendered(game.family, tools);
  return groups.map(({ task, samples }) =>
    samples.map(({ ids, outcome }) => {
      const read = outcome === 'ok' ? family.parseSolution(task, tools.decode(ids)) : null;
      return read?.ok ? read.value.answer : null;
    }),
  );
};

/** What a question is worth by the answers to it. */
export function questionPay(answers: readonly (string | null)[], variant?: string): number {
  if (variant !== 'discrete') return entropyBand(answerEntropy(answers));
  const most = Math.max(...sharesOf(answers));
  return Number(most > 1 / 2 && most < 1);
}

function payProposals(
  game: EvoGame,
  { round, proposals, groups }: RoundRecords,
  tools: ProposalTools,
): ReadonlyMap<string, Maybe> {
  const answers = answersIn(game, groups, tools);
  const worth = new Map(
    groups.map(({ proposal }, i) => [proposal, questionPay(answers[i]!, round.settings.variant)]),
  );
  return new Map(
    proposals.samples.map(({ id, outcome }) => {
      if (outcome === 'held-out') return [id, null];
      return [id, outcome === 'ok' ? (worth.get(id) ?? null) : 0];
    }),
  );
}

/** Mean divergence of some samples' tokens from the start, nats, as k3 estimates it. */
async function divergence(samples: readonly Sample[], set: string, { score }: LearnTools): Promise<number> {
  const atStart = await score(
    set,
    samples.map(({ prompt, ids }) => ({ prompt, ids })),
    0,
  );
  return mean(
    samples.flatMap(({ logprobs, ids }, i) =>
      klTokens(
        'k3',
        logprobs,
        atStart[i]!,
        ids.map(() => 1),
      ),
    ),
  );
}

/** Within bounds, since a single far round would multiply it by hundreds. */
const nextWeight = (weight: number, kl: number): number =>
  Math.min(KL.most, Math.max(KL.least, exponentialKlWeight(weight, { kl, target: KL.target })));

/** The update of a role by its samples, and what it carries on. */
async function trainRole(
  role: Role,
  samples: readonly Sample[],
  { baseline, klWeight }: RoleState,
  isFixed: boolean,
  tools: LearnTools,
): Promise<{ readonly updates: Update[]; readonly next: RoleState; readonly kl: number }> {
  const rewards = samples.map(rewardOf);
  const known = rewards.filter((reward) => reward !== null);
  if (!known.length) return { updates: [], next: { baseline, klWeight }, kl: 0 };
  const before = baseline ?? mean(known);
  const { advantages, baseline: after } = batchBaseline(rewards, before, MOMENTUM);
  const kl = await divergence(samples, SETS[role], tools);
  return {
    updates: policyUpdate(
      role,
      withAdvantages(samples, advantages),
      {
        objective: { kind: 'reinforce' },
        aggregation: { mode: 'seq-mean-token-mean' },
        ...nearStart(klWeight, SETS[role]),
      },
      SETS[role],
    ),
    next: {
      baseline: after,
      klWeight: isFixed ? klWeight : nextWeight(klWeight, kl),
    },
    kl,
  };
}

async function learn(
  game: EvoGame,
  { round, proposals, groups, recipeState }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const carried = readState(state, recipeState) ?? { [SOLVER]: FIRST, [PROPOSER]: FIRST };
  const isFixed = round.settings.variant === 'fixed-kl';
  const samplesOf = {
    [SOLVER]: groups.flatMap(({ samples }) => samples),
    [PROPOSER]: round.index % PROPOSER_EVERY === 0 ? proposals.samples : [],
  } as const;
  const updates: Update[] = [];
  const next = { ...carried };
  const figures: Record<string, number> = {};
  for (const role of ROLES) {
    const trained = await trainRole(role, samplesOf[role], carried[role], isFixed, tools);
    updates.push(...trained.updates);
    next[role] = trained.next;
    if (trained.updates.length) {
      figures[`kl.${role}`] = trained.kl;
      figures[`klWeight.${role}`] = trained.next.klWeight;
    }
  }
  const { family } = game;
  const answerable = groups.map(({ task }) => Number(!family.isUnlabelled?.(task)));
  return {
    updates,
    recipeState: next,
    figures: {
      ...figures,
      ...voteFigures(family, votesOf(rendered(family, tools), groups, tools.decode)),
      entropy: mean(answersIn(game, groups, tools).map(answerEntropy)),
      // Where no oracle knows anything of a proposer's question, nothing is said of its sense.
      ...(answerable.includes(1) ? { answerable: mean(answerable) } : {}),
    },
  };
}

const described = {
  name: 'evolmm',
  title: 'A proposer and a solver of pictures, both paid by how far answers agree',
  paper: arXiv('2511.16672', 'EvoLMM: Self-Evolving Large Multimodal Models with Continuous Rewards'),
  summary:
    'A proposer is shown a picture and writes a question about it, and a solver answers it five times. Nobody knows an answer: the solver is paid by the share of its answers that say the same, and the proposer most where the answers are neither all alike nor all different.',
  method: {
    setting:
      'Pictures are drawn: two to six coloured shapes on canvases of 24 to 48 pixels in height and width. The start policy, which sees patches of 8 × 8 pixels, answers little more than half of the questions of a program, and a part of the questions that it writes have no answer on their picture.',
    roles:
      'The proposer sees a picture alone and asks one question. The solver sees the picture and the question, and answers five times. Each has weights of its own; both begin as copies of one policy.',
    rewards:
      'An answer that a share p of the five give earns p^0.7, less up to a tenth of that for more than six words before it. A question earns exp(−(H − 0.9)²/(2 · 0.35²)), where H is the entropy of the five answers in nats, and 0 where it cannot be read. An answer that cannot be read counts as one that nobody else gives.',
    credit:
      'The advantage is the reward less a running mean of the role’s rewards, which follows the batches by a tenth each (momentum 0.9).',
    objective:
      'REINFORCE, as a mean over the tokens of each text and then over texts, plus β times a k3 estimate of the KL divergence to version 0. After each update β is multiplied by exp(0.1 · (KL − 0.02)/0.02); it begins at 0.001 and stays between 0.00001 and 1.',
    schedule: 'The solver is trained in every round, the proposer in every fifth.',
  },
  differences: [
    'Drawn shapes and a policy of 1.2 million parameters stand in for photographs, charts and a model of 7 billion. Both roles are trained whole, where the paper trains two adapters on one frozen model; `--set adapter.rank` gives them adapters.',
    'The proposer writes no rationale beside its question, and answers of the small policy are one word, so that the cost of words before an answer is seen on other models alone.',
    'The KL term is k3 on the sampled tokens, where the paper sums over the whole vocabulary, and its weight has bounds. A running mean begins with the first batch and not at 0, since a run has tens of rounds and not thousands of steps.',
    'How the paper pays the proposer in its discrete baseline could not be checked.',
  ],
  figures: {
    ...OTHER_PICTURES,
    agreement: 'Mean share of the answers to a question that give its most frequent one.',
    difficulty: 'Mean difficulty of the round’s questions: the number of shapes on a canvas.',
    labelAccuracy: 'Share of the questions with a known answer whose most frequent answer is exact.',
    entropy: 'Mean entropy of the answers to a question, nats; ln 5 = 1.61 at most.',
    answerable: 'Share of the round’s questions that have an answer on their picture.',
    kl: 'Mean divergence of the role’s tokens from version 0 before the update, nats, as k3 estimates it.',
    klWeight: 'Weight of the role’s KL term after the round.',
  },
  state,
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 4e-5, warmup: 5, minibatches: 2 }) },
    [PROPOSER]: { optimizer: smallSteps({ learningRate: 4e-5, warmup: 1, minibatches: 1 }) },
  },
} satisfies Described;

const written: RecipeOver<'solve' | 'propose'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'propose'], data: ['answer'] },
  over: (game) => {
    const { family, words, tests } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      ...(game.otherPicture ? { variants: { ...VARIANTS, ...BLINDLY } } : {}),
      roles: {
        [PROPOSER]: role('asks about a picture', words.propose.maxNew, {
          set: PROPOSER,
          shown: 'a picture',
        }),
        [SOLVER]: role('answers, and agrees with itself or not', words.solve.maxNew, {
          shown: 'a picture',
        }),
      },
      freezable: [PROPOSER, SOLVER],
      propose: (context) => propose(game, context),
      rollOut: (context, tasks) => attempt(game, context, tasks),
      judge: async (context, groups) => {
        const { rewardFunction, variant } = context.round.settings;
        const named = rewardNamed<AnswerReward>(rewards, rewardFunction);
        const reward = named === agreement && variant === 'discrete' ? discrete : named;
        return groups.map((group): ScoredGroup => payAnswers(family, reward, context, group));
      },
      payProposals: (records, tools) => payProposals(game, records, tools),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: async (context) => {
        const tasks = tests(context.evaluationTasks);
        return evaluation(
          await evaluateSolver(context, { family, role: SOLVER, temperature: 1, tasks }),
          await otherPictures(game, context, SOLVER, tasks),
        );
      },
    };
  },
  elsewhere: {
    differences: [
      'The proposer is shown a question of the files with its picture and writes another about the same picture, where the paper’s sees a picture alone. It writes no rationale. The files’ reference answers are used by the evaluation alone; questions without pictures are asked in the same way.',
      ...described.differences.slice(2),
    ],
  },
  ownReward: 'the agreement of its solver’s answers is the reward',
  ownOrder: 'the files’ questions are examples for its proposer',
};

export const evolmm = played(written, askedCanvases, {
  showsImages: LARGEST_CANVAS,
  describe: {
    ...describedBy(askedCanvases.family),
    title: (task) => [{ kind: 'text', text: askedCanvases.question(task) }],
  },
});
