/** Vision-Zero: clues are trained by self-play in a game of spies, votes by whether they name the spy, in turns. */
import * as v from 'valibot';
import type { ProposalTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId, Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { BLIND, OTHER_PICTURES, otherPictures } from '../../protocols/evaluate/other-pictures.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { within } from '../../protocols/evaluate/within-context.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { runningRoleBaselines } from '../../protocols/seat-credit.ts';
import {
  creditedItems,
  describedBy,
  type GroupEstimator,
  ofFamily,
  policyPart,
  policyUpdate,
  rewardNamed,
  rewardOf,
  trainedSolver,
} from '../../protocols/solver.ts';
import { canvasPairs } from '../../worlds/canvas/pairs.ts';
import { LARGEST_CANVAS } from '../../worlds/canvas/scene.ts';
import { CIVILIAN, gamesIn, playGames, SEATS, SPY, type SpyGame, shares, type Told, VOTER } from './play.ts';
import { namesSpy, type Vote } from './votes.ts';

/** What the spy's votes above those of others cost it and pay them, and what a civilian's own votes above those of the others cost him. */
const PAY = { spy: 0.1, suspect: 0.1 } as const;
const VOTES = { right: 1, unsure: -0.5, wrong: -1 } as const;
/** Of the running baselines of clues, and of the running shares that the phases go by. */
const DECAY = { baseline: 0.95, shares: 0.8 } as const;
/** Clues are trained while the spy is found easily, votes while it is not. A phase has so many rounds at least. */
const PHASES = { easy: { found: 0.6, unsure: 0.2 }, hard: { missed: 0.6, unsure: 0.5 }, rounds: 2 } as const;
const KL = 0.001;
/** Held-out pairs about which a game is played in an evaluation. */
const EXAMINED = 100;

const VARIANTS = {
  'clues-only': 'votes are never trained',
  'votes-only': 'clues are never trained',
} as const;
const BLINDLY = {
  [BLIND]: 'control: voters are shown another picture than the one that the others speak of',
} as const;

/** What each player's clue earns by the votes for each [players]. `spy`: the spy's index. */
export function cluePay(votes: readonly number[], spy: number): number[] {
  const others = mean(votes.filter((_, seat) => seat !== spy));
  const above = votes[spy]! - others;
  return votes.map((own, seat) =>
    seat === spy ? -PAY.spy * above : (PAY.spy * above) / (votes.length - 1) - PAY.suspect * (own - others),
  );
}

export const votePay = (said: Vote, spy: number): number =>
  namesSpy(said, spy) ? VOTES.right : said === null ? VOTES.unsure : VOTES.wrong;

type Phase = 'clues' | 'votes';
const state = v.object({
  phase: v.picklist(['clues', 'votes']),
  /** Rounds that it has lasted. */
  rounds: finite,
  /** Running shares of votes for the spy, and for nobody. */
  found: finite,
  unsure: finite,
  baselines: v.record(v.string(), v.number()),
});
type State = v.InferOutput<typeof state>;

/** The phase after a round. */
export function nextPhase({ phase, rounds, found, unsure }: Omit<State, 'baselines'>): Phase {
  const { easy, hard } = PHASES;
  if (rounds < PHASES.rounds) return phase;
  if (phase === 'votes') return found >= easy.found && unsure <= easy.unsure ? 'clues' : 'votes';
  return 1 - found >= hard.missed || unsure >= hard.unsure ? 'votes' : 'clues';
}

interface SpyReward extends RewardInfo {
  /** What the clues of a game and its votes earn. */
  readonly pay: (told: Told) => { readonly clues: readonly number[]; readonly votes: readonly number[] };
}

/** Pays a game by its votes, or by what stands in their place. */
const byVotes = ({ clues, spy, votes }: Told, saidBy: (vote: Told['votes'][number]) => Vote) => {
  const said = votes.map(saidBy);
  const counts = clues.map((_, seat) => said.filter((one) => one === seat + 1).length);
  return { clues: cluePay(counts, spy - 1), votes: said.map((one) => votePay(one, spy)) };
};

const rewards: Readonly<Record<'votes' | 'format' | 'random', SpyReward>> = {
  votes: {
    description: 'clues are paid by the votes of the others, and votes by whether they name the spy',
    usesGold: true,
    ownScale: true,
    pay: (told) => byVotes(told, ({ said }) => said),
  },
  format: {
    description: 'control: 1 for any clue and any vote that can be read',
    usesGold: false,
    ownScale: true,
    pay: ({ clues, votes }) => ({
      clues: clues.map(({ outcome }) => Number(outcome === 'ok')),
      votes: votes.map(({ said }) => Number(said !== undefined)),
    }),
  },
  random: {
    description: 'control: what a vote earns, and whom clues are suspected by, is drawn by lot',
    usesGold: false,
    ownScale: true,
    pay: ({ clues, votes }) => {
      const lots = votes.map(({ sample }) => new Random(`lot/${sample.id}`).int(SEATS));
      const counts = clues.map((_, seat) => lots.filter((lot) => lot === seat).length);
      // The first lot is as likely as any other to be a right one.
      return { clues: cluePay(counts, 0), votes: lots.map((lot) => (lot ? VOTES.wrong : VOTES.right)) };
    },
  },
};

function learn(
  game: SpyGame,
  { round, groups, recipeState }: RoundRecords,
  tools: ProposalTools,
): TrainingPlan {
  const { variant } = round.settings;
  const told = groups.flatMap((group) => gamesIn(game, tools, group));
  const truly = shares(told);
  // Phases go by what is paid, so that controls change them as the method does.
  const now = shares(told, ({ sample }) => rewardOf(sample) === VOTES.right);
  const before: State = readState(state, recipeState) ?? {
    phase: 'clues',
    rounds: 0,
    found: now?.found ?? 0,
    unsure: now?.unsure ?? 0,
    baselines: {},
  };
  const phase: Phase = variant === 'clues-only' ? 'clues' : variant === 'votes-only' ? 'votes' : before.phase;
  const running = (old: number, value = old) => DECAY.shares * old + (1 - DECAY.shares) * value;
  const after = {
    phase,
    rounds: before.rounds + 1,
    found: running(before.found, now?.found),
    unsure: running(before.unsure, now?.unsure),
  };
  const next = nextPhase(after);
  const { estimator, after: baselines } = runningRoleBaselines(
    new Map(Object.entries(before.baselines)),
    DECAY.baseline,
  );
  const samples = groups.flatMap((group) => group.samples);
  const itemsOf = (roles: readonly string[], keyOf: (sample: Sample) => string, by: GroupEstimator) => {
    const own = samples.filter(({ role }) => roles.includes(role));
    return creditedItems(own, own.map(rewardOf), own.map(keyOf), by);
  };
  const clues = () => {
    const items = itemsOf([CIVILIAN, SPY], ({ role }) => role, estimator);
    const how = { objective: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } } as const;
    return [CIVILIAN, SPY].map((role) =>
      policyPart(
        role,
        items.filter(({ sample }) => sample.role === role),
        { ...how, ...nearStart(KL) },
      ),
    );
  };
  const groupOf = new Map(groups.flatMap(({ group, samples }) => samples.map(({ id }) => [id, group])));
  const gameOf = ({ id, episode }: Sample) => `${groupOf.get(id)}/${episode}`;
  const updates =
    phase === 'clues'
      ? updateOf(clues())
      : policyUpdate(VOTER, itemsOf([VOTER], gameOf, grpo), { ...ppoClip(), ...nearStart(KL) });
  return {
    updates,
    recipeState: {
      ...after,
      phase: next,
      rounds: next === phase ? after.rounds : 0,
      baselines: { ...before.baselines, ...baselines() },
    },
    figures: {
      ...(truly ? { spyFound: truly.found, unsure: truly.unsure } : {}),
      votesTrained: Number(phase === 'votes'),
    },
  };
}

/** A group with what each clue and each vote of its games earned; nothing where a game was not played to its end. */
function judgeGroup(game: SpyGame, context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { pay } = rewardNamed(rewards, context.round.settings.rewardFunction);
  const tools = { renderer: context.renderer, decode: context.tokenizer.decode };
  const paid = new Map<string, number>();
  const right = new Map<string, boolean>();
  for (const told of gamesIn(game, tools, group)) {
    const { clues, votes } = pay(told);
    for (const [i, { id }] of told.clues.entries()) paid.set(id, clues[i]!);
    for (const [i, { sample, said }] of told.votes.entries()) {
      paid.set(sample.id, votes[i]!);
      right.set(sample.id, namesSpy(said, told.spy));
    }
  }
  const answersExact = group.samples.map(({ id }) => right.get(id) ?? null);
  return {
    ...group,
    samples: group.samples.map((sample) => ({ ...sample, rewards: { reward: paid.get(sample.id) ?? null } })),
    judgments: [],
    answersExact,
    solutionsExact: answersExact,
  };
}

/** Games about held-out pictures, one each: how often the voters find the spy. */
async function examine(
  game: SpyGame,
  context: EvaluationContext,
  tasks: readonly string[],
): Promise<Record<string, number>> {
  const stage = within(context);
  const asked = tasks.slice(0, EXAMINED).map((task, index) => ({
    group: deriveId('evaluate', 'spy', task),
    index,
    task,
    proposal: null,
  }));
  const groups = await playGames(game, stage, asked, 1);
  const tools = { renderer: context.renderer, decode: context.tokenizer.decode };
  const said = shares(groups.flatMap((group) => gamesIn(game, tools, group)));
  return said ? { heldOutSpyFound: said.found, heldOutUnsure: said.unsure } : {};
}

const described = {
  name: 'vision-zero',
  title: 'Who is the spy: clues about pictures by self-play, and votes that can be checked',
  paper: arXiv('2509.25541', 'Vision-Zero: Scalable VLM Self-Improvement via Strategic Gamified Self-Play'),
  summary:
    'Four players each look at a picture, one of them, the spy, at a picture that differs. Each says something about his own, and the others vote on who is the spy. Clues are paid by the votes, in a zero-sum game, and votes by whether they name the spy; the two are trained in turns.',
  method: {
    setting:
      'Pictures are drawn: two or three coloured shapes, one of which has another colour or is another shape on the spy’s. The start policy gives clues that are mostly true and often votes at random. Nobody labels anything: who the spy is follows from the deal.',
    roles:
      'Three civilians and the spy, who knows that he is the spy, say one thing each in turns, and hear those before. Then each civilian votes, for a player or for nobody. All are played by one policy.',
    rewards:
      'With v votes for the spy and a mean of w for a civilian, the spy’s clue earns −0.1 (v − w) and each civilian’s a third of 0.1 (v − w), less 0.1 for each vote for him above w. A vote earns 1 for the spy, −0.5 for nobody, and −1 otherwise.',
    credit:
      'The advantage of a clue is its reward less a running mean of those of its role, b ← 0.95 b + 0.05 r. Votes are compared with the others of the same game: minus their mean, divided by their deviation (GRPO).',
    objective:
      'REINFORCE for clues and a clipped policy gradient with ratios in [0.8, 1.2] for votes, both as a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule:
      'Clues are trained until the running share of votes that miss the spy is 0.6 or that of votes for nobody 0.5; then votes, until 0.6 of them find the spy and at most 0.2 are for nobody. A phase lasts two rounds at least.',
  },
  differences: [
    'Drawn shapes and a policy of 1.2 million parameters stand in for rendered scenes, charts and photographs, and a model of 7 billion. A clue is one phrase, and nobody reasons before it.',
    'The spy looks at a picture that differs in one shape; in the paper’s later experiments its picture is blank.',
    'Each player speaks once. The weights 0.1, the thresholds and the least length of a phase are those of this recipe: the paper’s could not be checked.',
    'What a policy learns in the game is measured on questions about pictures that nobody asks in it, as the paper does, and by whether spies are found in games about held-out pictures.',
  ],
  figures: {
    ...OTHER_PICTURES,
    spyFound: 'Share of the round’s votes that are for the spy.',
    unsure: 'Share of the round’s votes that are for nobody.',
    votesTrained: 'Whether the round trained votes (1) or clues (0).',
    heldOutSpyFound: 'Share of votes for the spy in games about held-out pictures, one sampled game each.',
    heldOutUnsure: 'Share of votes for nobody in these games.',
  },
  state,
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 4e-5, warmup: 5, minibatches: 2 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'clue' | 'vote'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'clue', 'vote'], data: ['answer', 'pictures'] },
  over: (game) => {
    const { family, words, tests } = game;
    const speaker = role('says something about the picture of all', words.clue.maxNew, {
      speaksAs: 'speaker',
      placement: 'turn',
      shown: 'a picture',
    });
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      ...(game.otherPicture ? { variants: { ...VARIANTS, ...BLINDLY } } : {}),
      roles: {
        [CIVILIAN]: speaker,
        [SPY]: { ...speaker, description: 'says something about another picture' },
        [VOTER]: role('votes on who is the spy', words.vote.maxNew, {
          placement: 'turn',
          shown: 'a picture',
        }),
      },
      freezable: [CIVILIAN, SPY, VOTER],
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => playGames(game, context, tasks),
      judge: async (context, groups) => groups.map((group) => judgeGroup(game, context, group)),
      learn: (records, tools) => learn(game, records, tools),
      evaluate: async (context) => {
        const tasks = tests(context.evaluationTasks);
        return evaluation(await evaluateSolver(context, { family, role: VOTER, temperature: 1, tasks }), {
          ...(await examine(game, context, tasks)),
          ...(await otherPictures(game, context, VOTER, tasks)),
        });
      },
    };
  },
  elsewhere: {
    method: {
      setting:
        'Each row has two pictures: that of all players, and the spy’s. Evaluations ask the row’s question about both.',
    },
    differences: [
      'A row’s first picture is that of all players, and its second the spy’s. Who the spy is follows from the deal; reference answers are used by the evaluation alone.',
      ...described.differences.slice(2),
    ],
  },
  ownReward: 'the votes of its players are the reward',
};

export const visionZero = played(written, canvasPairs, {
  showsImages: LARGEST_CANVAS,
  describe: {
    ...describedBy(canvasPairs.family),
    title: (task) => [{ kind: 'text', text: `Who is the spy? (${canvasPairs.question(task)})` }],
  },
});
