/** Agent0-VL: a solver that looks at the parts of a map with a tool, and a verifier, the same policy, that looks again and says what each step is worth. */
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import { playSeats } from '../../core/episodes/play-seats.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { sameExp } from '../../core/same-exp.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { returnOf, spread, withEpisodeRewards } from '../../protocols/episode-credit.ts';
import { BLIND } from '../../protocols/evaluate/other-pictures.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import {
  BEGUN,
  evaluateLooker,
  HELD_OUT_LOOKS,
  isSeen,
  LOOK_FIGURES,
  type Looking,
  lookedOn,
  lookFigures,
  MOST_LOOKS,
  shownIn,
} from '../../protocols/looker.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import { describedBy, ofFamily, policyPart, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import {
  heldOutMaps,
  lookAt,
  lookedPrompt,
  mapPrompt,
  maps,
  mapTitle,
  randomMapTask,
  VIEW,
} from '../../worlds/canvas/maps.ts';
import type { Scene } from '../../worlds/canvas/scene.ts';
import {
  readVerdict,
  type Verdict,
  verifyAnswerPrompt,
  verifySightPrompt,
} from '../../worlds/canvas/verdicts.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';

const VERIFIER = 'verifier';
const ROLES = [SOLVER, VERIFIER] as const;
/** The weight of a tool that ran, the discount of a step, and what a repair costs. */
const PAY = { tool: 0.3, discount: 0.99, repair: 0.05 } as const;
/** How sure a verdict is, below what a step is repaired, and how sharply that is told. */
const CONFIDENCE = { sure: 0.9, unsure: 0.5, bound: 0.7, sharpness: 5 } as const;
const KL = 0.001;
const ENTROPY = 0.01;

const VARIANTS = {
  'text-audit': 'the verifier is shown no picture, and its looks earn nothing: it reads what was said alone',
  'no-repair': 'no step is written again',
  [BLIND]: 'control: another map is shown than the one that is asked about',
} as const;

const rewards: Readonly<Record<string, RewardInfo>> = {
  audit: {
    description: 'the verifier’s scores of all steps, each times how sure it is, and what its own looks earn',
    usesGold: false,
    labelFree: true,
    ownScale: true,
  },
  outcome: {
    description: 'the same, and 1 more for an exact answer',
    usesGold: true,
    ownScale: true,
  },
  format: { description: 'control: 1 for an episode that ends with an answer', usesGold: false },
  random: {
    description: 'control: a fair coin in place of each score; looks earn what they do',
    usesGold: false,
    ownScale: true,
  },
};

/** A step that was verified: what was said of a part, or the answer. */
export interface Step {
  /** null where it cannot be read. */
  readonly verdict: Pick<Verdict, 'right' | 'sure'> | null;
  /** Does what the verifier finds by its tool bear its verdict out? */
  readonly borneOut: boolean;
  readonly repaired: boolean;
}

const confidenceOf = ({ sure }: Pick<Verdict, 'sure'>): number =>
  sure ? CONFIDENCE.sure : CONFIDENCE.unsure;

/** What a step earns: λ · borne out + score · confidence, and for a repair less η · σ(κ (τ − confidence)). A verdict that cannot be read scores 0. */
export function stepPay({ verdict, borneOut, repaired }: Step): number {
  const confidence = verdict ? confidenceOf(verdict) : CONFIDENCE.unsure;
  const score = verdict ? (verdict.right ? 1 : -1) : 0;
  const gate = 1 / (1 + sameExp(-CONFIDENCE.sharpness * (CONFIDENCE.bound - confidence)));
  return PAY.tool * Number(borneOut) + score * confidence - (repaired ? gate * PAY.repair : 0);
}

/** The return of an episode: Σ γ^(t − 1) of what its steps earn. */
export const returnOfSteps = (steps: readonly Step[]): number =>
  steps.reduce((sum, step, t) => sum + PAY.discount ** t * stepPay(step), 0);

/** What is asked next: the solver goes on, or the verifier judges what was said of a part, or the answer. */
type Asks = 'solve' | 'sight' | 'answer';

/** An episode. A turn of the solver is kept back until the verifier has judged what it says of a part. */
interface Serc {
  readonly looking: Looking;
  /** The episode as it is if the turn that is judged is kept. */
  readonly written: Looking | null;
  readonly repaired: boolean;
  readonly steps: readonly Step[];
  readonly next: Asks | null;
}

const BEGIN: Serc = { looking: BEGUN, written: null, repaired: false, steps: [], next: 'solve' };

/** What is done after a turn is kept. */
function goneOn(serc: Serc, looking: Looking): Serc {
  const next = looking.answer !== null ? 'answer' : looking.isOver ? null : 'solve';
  return { ...serc, looking, written: null, repaired: false, next };
}

/** How steps are verified: whether one may be written again, and whether the verifier looks. */
interface Auditing {
  readonly repairs: boolean;
  readonly looks: boolean;
}

const auditingIn = ({ round: { settings } }: Pick<RoundContext, 'round'>): Auditing => ({
  repairs: settings.variant !== 'no-repair',
  looks: settings.variant !== 'text-audit',
});

/** The episode after a text of whoever was asked. */
function sercAfter(
  serc: Serc,
  text: string,
  { repairs, looks }: Auditing,
): { readonly serc: Serc; readonly outcome: Outcome } {
  if (serc.next === 'solve') {
    const { now, outcome } = lookedOn(serc.looking, text);
    // The first look says nothing that could be judged, and a text that cannot be read ends the episode.
    const isSaid = now.looks.length > serc.looking.looks.length;
    return {
      serc: isSaid ? { ...serc, written: now, next: 'sight' } : goneOn(serc, now),
      outcome,
    };
  }
  const read = readVerdict(text);
  const verdict = read.ok ? read.value : null;
  const outcome = read.ok ? 'ok' : read.reason;
  if (serc.next === 'answer') {
    const step = { verdict, borneOut: false, repaired: false };
    return { serc: { ...serc, steps: [...serc.steps, step], next: null }, outcome };
  }
  const isLow = verdict !== null && confidenceOf(verdict) < CONFIDENCE.bound;
  if (isLow && repairs && !serc.repaired)
    return { serc: { ...serc, written: null, repaired: true, next: 'solve' }, outcome };
  const isSame = verdict?.found === serc.written!.looks.at(-1)!.seen;
  const step = { verdict, borneOut: looks && verdict?.right === isSame, repaired: serc.repaired };
  return { serc: goneOn({ ...serc, steps: [...serc.steps, step] }, serc.written!), outcome };
}

/** What the one who is asked next reads. */
function promptOf(task: string, shown: Scene, { looking, written, next }: Serc, isShown: boolean): string {
  if (next === 'sight') {
    const look = written!.looks.at(-1)!;
    return verifySightPrompt(task, isShown ? lookAt(shown, look.part) : '', look);
  }
  const { looks, at, answer } = looking;
  if (next === 'answer') return verifyAnswerPrompt(task, looks, answer!);
  return at === null ? mapPrompt(task, shown) : lookedPrompt(task, shown, looks, at);
}

async function rollOut(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const { groupSize } = settings;
  const auditing = auditingIn(context);
  const played = await playSeats(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: groupSize }, (_, episode) => ({
        seats: Object.fromEntries(ROLES.map((role) => [role, { role, id: rolloutId(group, role, episode) }])),
        episode,
        world: { task, shown: shownIn(context, { group, task }), serc: BEGIN },
      })),
    ),
    {
      // After each look a step, its verdict, and both once more; before them the first look, after them the verdict on the answer.
      maxTurns: 4 * MOST_LOOKS + 2,
      next: ({ task, shown, serc }) => {
        if (serc.next === null) return [];
        const seat = serc.next === 'solve' ? SOLVER : VERIFIER;
        return [{ seat, reads: promptOf(task, shown, serc, auditing.looks), anew: true }];
      },
      answer: (world, [written]) => {
        const { serc, outcome } = sercAfter(world.serc, written!.text, auditing);
        return { world: { ...world, serc }, outcomes: [outcome] };
      },
    },
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
  }));
}

interface Told extends Serc {
  readonly turns: readonly Sample[];
  /** What the verifier judged, with its verdicts, in their order. */
  readonly judged: readonly { readonly by: Sample; readonly verdict: Verdict; readonly right: boolean }[];
}

/** The episodes of a group, told again from their texts, with what the oracle says of what was judged. */
const toldIn = (
  { task, samples }: Pick<RolloutGroup, 'task' | 'samples'>,
  auditing: Auditing,
  { decode }: Pick<LearnTools, 'decode'>,
): Told[] =>
  wholeEpisodesOf(samples).map((turns) => {
    let serc = BEGIN;
    const judged: { by: Sample; verdict: Verdict; right: boolean }[] = [];
    for (const turn of turns) {
      const text = decode(turn.ids);
      const read = serc.next === 'solve' ? null : readVerdict(text);
      if (read?.ok) {
        const right =
          serc.next === 'answer'
            ? maps.answerIsExact(task, { steps: [], answer: serc.looking.answer! })
            : isSeen(task, serc.written!.looks.at(-1)!);
        judged.push({ by: turn, verdict: read.value, right });
      }
      serc = sercAfter(serc, text, auditing).serc;
    }
    return { ...serc, turns, judged };
  });

/** Scores that a fair coin gives in place of the verifier. */
const byCoin = (steps: readonly Step[], id: string): Step[] =>
  steps.map((step, t) => ({
    ...step,
    verdict: { right: coinOf(`${id}/${t}`), sure: step.verdict?.sure ?? false },
  }));

function judgeGroup(context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { rewardFunction } = context.round.settings;
  const rated = toldIn(group, auditingIn(context), context.tokenizer).map(({ turns, steps, looking }) => {
    const { answer } = looking;
    const exact = answer !== null && maps.answerIsExact(group.task, { steps: [], answer });
    const pay = () => {
      if (rewardFunction === 'format') return Number(answer !== null);
      if (rewardFunction === 'random') return returnOfSteps(byCoin(steps, turns[0]!.id));
      const outcome = rewardFunction === 'outcome' ? Number(sealedGold(context, exact)()) : 0;
      return returnOfSteps(steps) + outcome;
    };
    return { turns, rewards: { reward: pay() }, exact };
  });
  return withEpisodeRewards(group, rated);
}

function learn({ round, groups }: RoundRecords, { decode }: LearnTools): TrainingPlan {
  const told = groups.flatMap((group) =>
    toldIn(group, auditingIn({ round }), { decode }).map((episode) => ({ ...episode, group })),
  );
  const advantages = grpo(
    told.map(({ turns }) => returnOf(turns)),
    told.map(({ group }) => group.group),
  );
  const items = told.flatMap(({ turns }, e) => {
    const advantage = advantages[e] ?? null;
    return advantage === null ? [] : spread(turns, advantage);
  });
  const judged = told.flatMap((episode) => episode.judged);
  const share = (of: (one: (typeof judged)[number]) => boolean) => mean(judged.map((one) => Number(of(one))));
  return {
    updates: updateOf(
      ROLES.map((role) =>
        policyPart(
          role,
          items.filter(({ sample }) => sample.role === role),
          { ...ppoClip(), ...nearStart(KL), entropy: ENTROPY },
        ),
      ),
    ),
    figures: {
      ...lookFigures(
        told.map(({ looking }) => looking),
        told.map(({ group }) => group.task),
      ),
      repairs: mean(told.map(({ steps }) => steps.filter(({ repaired }) => repaired).length)),
      ...(judged.length
        ? {
            approved: share(({ verdict }) => verdict.right),
            judgedRight: share(({ right }) => right),
            agreement: share(({ verdict, right }) => verdict.right === right),
          }
        : {}),
    },
  };
}

export const agent0Vl: WithoutSetup = {
  ...ofFamily(maps),
  name: 'agent0-vl',
  title: 'A solver that looks with a tool, scored by itself as a verifier that looks again (stand-in)',
  paper: arXiv(
    '2511.19900',
    'Agent0-VL: Exploring Self-Evolving Agent for Tool-Integrated Vision-Language Reasoning',
  ),
  summary:
    'A policy counts shapes on a map that it sees blurred, and looks at parts of it with a tool. The same policy verifies each step: it uses the tool itself, scores what was said and tells how sure it is. Nobody else pays, and a step of which it is unsure is written again.',
  method: {
    setting:
      'A map is a canvas of 48 × 48 pixels with two to five coloured shapes, and the question how many of a kind there are. The policy is shown it at half of its size, where shapes are blurred; the tool shows one of four quarters as it is. The start policy often answers after the glance, and says some of what it sees wrongly.',
    roles:
      'The solver looks at a part, says how many of the kind it holds, and looks again or answers. After each step the verifier, the same weights, is shown the part by a call of its own, says what it holds, whether the step is right, and whether it is sure; of the answer it says whether it follows from what was said. A step of which it is unsure is written again, once. Each task is played eight times.',
    rewards:
      'A step earns 0.3 where what the verifier finds by its own look bears its verdict out, plus score · confidence (score 1 or −1, confidence 0.9 where it is sure and 0.5 where not), less 0.05 · σ(5 (0.7 − confidence)) where it was written again. An episode earns Σ 0.99^(t − 1) of its steps t, and no reference is used.',
    credit:
      'The return of an episode minus the mean of its group, divided by the group’s deviation (GRPO), for all turns of both roles.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0, less 0.01 times the entropy.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'Drawn maps and a policy of 190 thousand parameters stand in for geometry and charts, and for a model of 7 billion; a tool that shows a part of the picture stands in for programs and vision tools.',
    'What the verifier says that it finds stands in for a critique, and a comparison of this text with the step’s for a tool’s result; the paper pays tools that ran. A step is written again from the same prompt.',
    'The divergence between the two roles, by which the paper lowers a step’s reward (0.01 times), is left out.',
    'The published code adds 1 for an exact answer; here that is `--reward outcome`, so that the default has no reward from outside, as the paper says. All constants are those of that code.',
  ],
  needsOfTasks: { datum: 'looks', which: 'pictures that a tool shows part by part' },
  figures: {
    ...LOOK_FIGURES,
    ...HELD_OUT_LOOKS,
    repairs: 'Mean number of steps that an episode writes again.',
    approved: 'Share of the verdicts that call a step or an answer right.',
    judgedRight: 'Share of what was judged that is right, by the oracle.',
    agreement: 'Share of the verdicts that agree with the oracle.',
  },
  rewards,
  roles: {
    [SOLVER]: role('looks at a map part by part, and answers', maps.maxNew.solver, {
      shown: 'views of a map',
    }),
    [VERIFIER]: role('looks again, and says whether a step is right', maps.maxNew.judge, {
      shown: 'a part of a map',
    }),
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 5, minibatches: 2 }),
  propose: async (context) => drawnTasks(context, (random) => randomMapTask(random, 'count')),
  rollOut,
  judge: async (context, groups) => groups.map((group) => judgeGroup(context, group)),
  learn,
  evaluate: (context) => evaluateLooker(context, heldOutMaps('count')(context.evaluationTasks)),
  showsImages: VIEW,
  describe: { ...describedBy(maps), title: mapTitle },
};
