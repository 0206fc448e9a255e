/** RS-EoT: a policy learns to look again and again from traces in which somebody who is blind asks somebody who sees, and then by rewards for boxes and choices. */
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import { playSeats } from '../../core/episodes/play-seats.ts';
import type { LearnTools, RoundRecords, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { inPhases, type PhasePlay } from '../../core/round/in-phases.ts';
import { phaseAt } from '../../core/round/phases.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { grpoByEpisode, returnOf, withEpisodeRewards } from '../../protocols/episode-credit.ts';
import { BLIND } from '../../protocols/evaluate/other-pictures.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import {
  BEGUN,
  evaluateLooker,
  HELD_OUT_LOOKS,
  LOOK_FIGURES,
  type Looking,
  lookAtHeldOut,
  lookFigures,
  MOST_LOOKS,
  meanRightness,
  rollLooks,
  shownIn,
  toldLookings,
} from '../../protocols/looker.ts';
import { nearStart, ppoClip, sftPart, updateOf } from '../../protocols/objectives.ts';
import { describedBy, ofFamily, policyUpdate, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import {
  BETWEEN,
  hasForm,
  heldOutMaps,
  lookAt,
  lookReply,
  type MapKind,
  mapPrompt,
  maps,
  mapTitle,
  randomMapTask,
  readFirst,
  readMap,
  readSight,
  reasonPrompt,
  rightnessOf,
  sightPrompt,
  VIEW,
} from '../../worlds/canvas/maps.ts';
import type { Scene } from '../../worlds/canvas/scene.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';

/** Reads the question and what was said, and asks; it sees nothing. */
const REASONER = 'reasoner';
/** Sees the part that is asked about, and says what it holds of what is asked for; it sees nothing else. */
const PERCEIVER = 'perceiver';

/** The weight of writing a box at all beside that of its overlap. */
const FORMAT = 0.1;
const KL = 0.01;
/** Passes over a round's traces. */
const PASSES = 2;

const SCHEDULE = {
  first: [
    { phase: 'traces', rounds: 4 },
    { phase: 'grounding', rounds: 8 },
  ],
  cycle: [{ phase: 'choices', rounds: 1 }],
} as const;
type PhaseName = 'traces' | 'grounding' | 'choices';

const VARIANTS = {
  'one-glance': 'of each trace the answer alone is taught, right after the glance',
  'no-traces': 'no traces: the rewards begin at once',
  'no-grounding': 'no stage of boxes: that of choices begins after the traces',
  binary: 'boxes and choices are paid where they are exact, and otherwise nothing',
  [BLIND]: 'control: another map is shown than the one that is asked about',
} as const;

/** What an answer earns. `rightness`: the overlap of the box, or the share of choices that are right, 0 to 1. */
export function evidencePay(kind: MapKind, rightness: number, variant?: string): number {
  const paid = variant === 'binary' ? Number(rightness === 1) : rightness;
  return kind === 'where' ? (1 - FORMAT) * paid + FORMAT : paid;
}

const rewards: Readonly<Record<string, RewardInfo>> = {
  evidence: {
    description: '0.9 times the overlap of the box and 0.1 for writing one, or the share of right choices',
    usesGold: true,
    ownScale: true,
  },
  format: { description: 'control: 1 for an episode that ends with an answer', usesGold: false },
  random: { description: 'control: a fair coin', usesGold: false },
};

function payOf(context: RoundContext, task: string, id: string, answer: string | null): number {
  const { rewardFunction, variant } = context.round.settings;
  if (rewardFunction === 'random') return Number(coinOf(id));
  if (rewardFunction === 'format') return Number(answer !== null);
  if (answer === null || !hasForm(task, answer)) return 0;
  return evidencePay(readMap(task)!.kind, sealedGold(context, rightnessOf(task, answer))(), variant);
}

const isExact = (task: string, answer: string | null): boolean =>
  answer !== null && maps.answerIsExact(task, { steps: [], answer });

const drawing =
  (...kinds: readonly MapKind[]): PhasePlay['propose'] =>
  async (context) =>
    drawnTasks(context, (random) => randomMapTask(random, random.pick(kinds)));

/** A conversation of the two after a text, and the text's outcome. A look after the last one ends it without an answer. */
export function spoken(before: Looking, text: string): { readonly now: Looking; readonly outcome: Outcome } {
  const over = { ...before, at: null, isOver: true };
  if (before.at !== null) {
    const said = readSight(text);
    if (!said.ok) return { now: over, outcome: said.reason };
    const looks = [...before.looks, { part: before.at, seen: said.value }];
    return { now: { ...before, at: null, looks }, outcome: 'ok' };
  }
  const read = readFirst(text);
  if (!read.ok) return { now: over, outcome: read.reason };
  if ('answer' in read.value) return { now: { ...over, answer: read.value.answer }, outcome: 'ok' };
  if (before.looks.length >= MOST_LOOKS) return { now: over, outcome: 'ok' };
  return { now: { ...before, at: read.value.look }, outcome: 'ok' };
}

/** Conversations about each task, `round.settings.groupSize` of each. */
async function converse(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const { groupSize } = settings;
  const played = await playSeats(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: groupSize }, (_, episode) => ({
        seats: Object.fromEntries(
          [REASONER, PERCEIVER].map((role) => [role, { role, id: rolloutId(group, role, episode) }]),
        ),
        episode,
        world: { task, shown: shownIn(context, { group, task }), looking: BEGUN },
      })),
    ),
    {
      maxTurns: 2 * MOST_LOOKS + 1,
      next: ({ task, shown, looking: { at, looks, isOver } }) => {
        if (isOver) return [];
        return at === null
          ? [{ seat: REASONER, reads: reasonPrompt(task, looks), anew: true }]
          : [{ seat: PERCEIVER, reads: sightPrompt(task, lookAt(shown, at), at), anew: true }];
      },
      answer: (world, [written]) => {
        const { now, outcome } = spoken(world.looking, written!.text);
        return { world: { ...world, looking: now }, outcomes: [outcome] };
      },
    },
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flatMap(({ turns }) => turns),
  }));
}

interface Trace extends Looking {
  readonly turns: readonly Sample[];
}

/** The conversations of a group, told again from their texts. */
const tracesOf = (
  { samples }: Pick<RolloutGroup, 'samples'>,
  { decode }: Pick<LearnTools, 'decode'>,
): Trace[] =>
  wholeEpisodesOf(samples).map((turns) => {
    const told = turns.reduce((now, { ids }) => spoken(now, decode(ids)).now, BEGUN);
    return { ...told, turns, answer: turns.at(-1)!.outcome === 'ok' ? told.answer : null };
  });

/** A conversation as one policy would have it with itself: a turn of it for each time that it looks or answers. */
export function selfTalk(
  task: string,
  shown: Scene,
  turns: readonly Pick<Sample, 'role' | 'ids'>[],
  { encode, decode }: Pick<LearnTools, 'encode' | 'decode'>,
): SftPart['items'] {
  const items: { prompt: number[]; ids: number[] }[] = [];
  let prompt = encode(mapPrompt(task, shown));
  let seen: number[] = [];
  for (const { role, ids } of turns) {
    // Without what ends it.
    if (role === PERCEIVER) seen = [...ids.slice(0, -1), ...encode(BETWEEN)];
    else {
      const whole = [...seen, ...ids];
      items.push({ prompt, ids: whole });
      const read = readFirst(decode(ids));
      if (read.ok && 'look' in read.value)
        prompt = [...prompt, ...whole, ...encode(lookReply(shown, read.value.look))];
    }
  }
  return items;
}

function learnTraces({ round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const traces = groups.flatMap((group) =>
    tracesOf(group, tools).map((trace) => ({ ...trace, group, reward: returnOf(trace.turns) })),
  );
  const kept = traces.filter(({ reward }) => reward === 1);
  const isGlance = round.settings.variant === 'one-glance';
  const items = kept.flatMap(({ group, turns }) => {
    const { task } = group;
    const shown = shownIn({ round }, group);
    return isGlance
      ? [{ prompt: tools.encode(mapPrompt(task, shown)), ids: turns.at(-1)!.ids }]
      : selfTalk(task, shown, turns, tools);
  });
  return {
    updates: updateOf([sftPart(SOLVER, items)], { epochs: PASSES }),
    figures: {
      accepted: traces.length ? mean(traces.map(({ reward }) => Number(reward === 1))) : 0,
      ...(kept.length ? { traceLooks: mean(kept.map(({ looks }) => looks.length)) } : {}),
    },
  };
}

const traces: PhasePlay = {
  propose: drawing('where', 'which'),
  rollOut: converse,
  // Who verifies does not see either: a trace is right where its answer is.
  judge: async (context, groups) =>
    groups.map((group) =>
      withEpisodeRewards(
        group,
        tracesOf(group, context.tokenizer).map(({ turns, answer }) => {
          const paid = payOf(context, group.task, turns[0]!.id, answer);
          return { turns, rewards: { reward: Number(paid >= 1) }, exact: isExact(group.task, answer) };
        }),
      ),
    ),
  learn: learnTraces,
};

function learnByRewards({ groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const told = groups.map((group) => toldLookings(group, tools));
  const isDead = (episodes: (typeof told)[number]) =>
    new Set(episodes.map(({ turns }) => returnOf(turns))).size < 2;
  return {
    updates: policyUpdate(SOLVER, grpoByEpisode(groups), { ...ppoClip(), ...nearStart(KL) }),
    figures: {
      ...lookFigures(
        told.flat(),
        told.flatMap((episodes, g) => episodes.map(() => groups[g]!.task)),
      ),
      deadGroups: mean(told.map((episodes) => Number(isDead(episodes)))),
    },
  };
}

const looking = (kind: MapKind): PhasePlay => ({
  propose: drawing(kind),
  rollOut: rollLooks,
  judge: async (context, groups) =>
    groups.map((group) =>
      withEpisodeRewards(
        group,
        toldLookings(group, context.tokenizer).map(({ turns, answer }) => ({
          turns,
          rewards: { reward: payOf(context, group.task, turns[0]!.id, answer) },
          exact: isExact(group.task, answer),
        })),
      ),
    ),
  learn: learnByRewards,
});

/** The phase of a round, which a variant may leave out. */
export function phaseOf({ index, settings: { variant } }: Pick<RoundSpec, 'index' | 'settings'>): PhaseName {
  const { phase } = phaseAt<PhaseName>(SCHEDULE, index);
  if (phase === 'traces' && variant === 'no-traces') return 'grounding';
  return phase === 'grounding' && variant === 'no-grounding' ? 'choices' : phase;
}

export const rsEot: WithoutSetup = {
  ...ofFamily(maps),
  ...inPhases(phaseOf, { traces, grounding: looking('where'), choices: looking('which') }),
  name: 'rs-eot',
  title: 'Looking again and again at a map, learnt from a blind reasoner who asks (stand-in)',
  paper: arXiv('2511.22396', 'Asking like Socrates: Socrates helps VLMs understand remote sensing images'),
  summary:
    'A policy sees a blurred map and may look at its parts before it answers. It first learns from conversations in which one who sees nothing asks one who sees a part at a time; then it is paid for boxes around what is asked for, and for choices among descriptions.',
  method: {
    setting:
      'A map is a canvas of 48 × 48 pixels with two to five coloured shapes. The policy is shown it at half of its size, where shapes are blurred, and may look at its four quarters as they are, up to four times. The start policy knows how to look and mostly answers after the glance.',
    roles:
      'In a conversation the reasoner reads the question and what was said, and names a part to look at, or answers; it sees nothing. The perceiver sees that part alone and says what it holds of what is asked for. The solver does both by itself: it looks, says what the part holds, and looks again or answers. All are one policy. Each task is played eight times.',
    rewards:
      'A conversation is kept where its answer is exact. A box earns 0.9 times its intersection over union with the right one, in cells, plus 0.1. Of three descriptions, a choice y′ earns 1 − mean |y − y′|, the share that is rightly called there or not. An episode that ends with neither earns 0.',
    credit:
      'The reward of an episode minus the mean of its group, divided by the group’s deviation (GRPO), for all its turns.',
    objective:
      'Conversations are retold as the solver’s own words and taught by likelihood, in two passes. Then a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.01 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Four rounds of conversations, eight of boxes, and then rounds of choices.',
  },
  differences: [
    'Drawn maps and a policy of 190 thousand parameters stand in for satellite images and a model of 7 billion. The reasoner’s question is the number of a part, of which the perceiver answers the whole question; the paper’s asks for single facts in words of its own.',
    'A look shows a part of the picture anew; the paper’s model says in words where it looks, and its picture stays the same.',
    'One policy plays reasoner and perceiver, where the paper asks larger models, and a comparison with the reference verifies traces, as its verifier does without seeing.',
    'Questions with choices are drawn as such; the paper rewrites those of other data sets. The weights 0.9 and 0.1 and that of the KL term are those of its published code, which also tries boxes less what is earned by chance; that is left out.',
  ],
  needsOfTasks: {
    datum: 'looks',
    which: 'pictures that are looked at part by part, with a box or choices as answers',
  },
  figures: {
    ...LOOK_FIGURES,
    ...HELD_OUT_LOOKS,
    accepted: 'Share of the conversations whose answer is exact.',
    traceLooks: 'Mean number of looks in the conversations that are taught.',
    deadGroups: 'Share of the groups whose episodes earn all the same, of which nothing is learnt.',
    boxes: 'Mean overlap (IoU) of greedy boxes with the right ones on held-out maps.',
  },
  rewards,
  roles: {
    [REASONER]: role('asks about parts of a map that it does not see', 10, {
      shown: 'the number of each part that it asked about',
    }),
    [PERCEIVER]: role('says what a part of a map holds', 10, { shown: 'a part of a map' }),
    [SOLVER]: role('looks at a map part by part, and answers', maps.maxNew.solver, {
      shown: 'views of a map',
    }),
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 5, minibatches: 2 }),
  evaluate: async (context) => {
    const [which, where] = (['which', 'where'] as const).map((kind) =>
      heldOutMaps(kind)(context.evaluationTasks),
    ) as [readonly string[], readonly string[]];
    const boxes = meanRightness(await lookAtHeldOut(context, where, 0), where);
    return evaluateLooker(context, which, { boxes });
  },
  showsImages: VIEW,
  describe: { ...describedBy(maps), title: mapTitle },
};
