/**
 * π-Play: an examiner searches and writes questions, and what it found becomes the notes of a teacher who corrects each token of a student.
 * `valid`, the share of the examiner's questions that are admitted, has to be above 0, or nothing is learned; then sampled accuracy on your held-out questions should rise, and `hops` with it.
 */

import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { oneRight } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { episodeItems, grpoByEpisode, returnOf } from '../../protocols/episode-credit.ts';
import { EXAMINER, examine, examinedOf, examsOf } from '../../protocols/examiner.ts';
import { coinOf } from '../../protocols/gold.ts';
import { nearStart, ppoClip, updateOf } from '../../protocols/objectives.ts';
import {
  evaluateSearcher,
  rollSearch,
  SEARCHER,
  type Searching,
  searcherRole,
  type ToldSearch,
  toldSearches,
} from '../../protocols/searcher.ts';
import { ofFamily, policyPart, rewardNamed, trainedSolver } from '../../protocols/solver.ts';
import {
  slowTeacher,
  type TaughtSample,
  TEACHER_RATE,
  TEACHER_SET,
  teacherPass,
} from '../../protocols/teacher-pass.ts';
import { examining } from '../../worlds/knowledge/examining.ts';

const SEARCHING: Searching = { searches: 3 };
/** The teacher's weight beside the policy gradient in the first round, and the number of rounds over which it falls to zero. */
const WEIGHT = 1;
const FALLS_OVER = 50;

const VARIANTS = {
  'no-teacher': 'rewards alone: self-play without a teacher',
  'answer-teacher': 'the teacher is told the answer, and not what was found',
  'shuffled-path': 'the teacher is told what was found for the next question of the round',
} as const;

type PiGame = Game<'search' | 'examine' | 'recall'>;

interface GivenReward extends RewardInfo {
  readonly pay: (evidence: {
    readonly given: boolean;
    readonly answered: boolean;
    readonly coin: boolean;
  }) => boolean;
}

const rewards: Readonly<Record<string, GivenReward>> = {
  given: {
    description: 'the answer that the examiner gave with its question',
    usesGold: false,
    labelFree: true,
    pay: ({ given }) => given,
  },
  format: { description: 'control: any answer', usesGold: false, pay: ({ answered }) => answered },
  random: { description: 'control: a fair coin', usesGold: false, pay: ({ coin }) => coin },
};

/** What the teacher reads before a turn of an episode. */
function taughtPrompt(
  game: PiGame,
  speaker: Pick<RoundContext, 'renderer'>,
  { task, steps }: Pick<ToldSearch, 'task' | 'steps'>,
  turn: number,
  from: string,
  variant: string | undefined,
): string {
  const { path, answer } = examinedOf(game);
  return game.words.recall.ask(
    {
      task,
      steps: steps.slice(0, turn),
      last: turn >= SEARCHING.searches,
      ...(variant === 'answer-teacher'
        ? { path: [], answer: answer(from) }
        : { path: path(from), answer: null }),
    },
    speaker,
  );
}

/** Rewards by episode. `heard` is 1 for a turn that fits into the policy's context after the teacher's longer prompt: only such a turn is taught. */
function judgeGroup(game: PiGame, context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { rewardFunction, variant } = context.round.settings;
  const { pay } = rewardNamed(rewards, rewardFunction);
  const { tokenizer, contextLength, renderer } = context;
  const family = rendered(game.family, context);
  const told = toldSearches(game, { renderer, decode: tokenizer.decode }, group, SEARCHING);
  const answersExact: (boolean | null)[] = [];
  const samples = told.flatMap((search) => {
    const { turns, solution } = search;
    // Of a task that nobody examined there is no answer but a reference, which pays nothing here.
    const reward =
      group.proposal === null
        ? null
        : Number(
            pay({
              given: solution !== null && examinedOf(game).accepts(group.task, solution),
              answered: solution !== null,
              coin: coinOf(turns[0]!.id),
            }),
          );
    const known = solution !== null && !family.isUnlabelled?.(group.task);
    const exact = known ? family.answerIsExact(group.task, solution) : null;
    return turns.map((turn, t) => {
      answersExact.push(exact);
      if (reward === null) return { ...turn, rewards: { reward } };
      const read = tokenizer.encode(taughtPrompt(game, context, search, t, group.task, variant));
      const heard = Number(read.length + turn.ids.length <= contextLength);
      return { ...turn, rewards: { reward, heard } };
    });
  });
  return { ...group, samples, judgments: [], answersExact, solutionsExact: answersExact };
}

const rightIn = ({ samples }: ScoredGroup): { right: number; of: number } => {
  const paid = episodesOf(samples).flatMap((turns) => returnOf(turns) ?? []);
  return { right: paid.filter((reward) => reward === 1).length, of: paid.length };
};

/** What each examiner earned, by the id of its first turn: most where one answer is the given one, nothing for a refused question; a held-out one and one without attempts have no reward. */
function payProposals({ proposals, groups }: RoundRecords): ReadonlyMap<string, Maybe> {
  const of = new Map(groups.map((group) => [group.proposal, rightIn(group)]));
  return new Map(
    examsOf(proposals).map(({ turns, outcome }): [string, Maybe] => {
      const { id } = turns[0]!;
      if (outcome === 'held-out') return [id, null];
      if (outcome !== 'ok') return [id, 0];
      const answered = of.get(id);
      return [id, answered?.of ? oneRight(answered.right, answered.of) : null];
    }),
  );
}

/** The teacher's weight in a round, from 1 on. */
export const weightAt = (index: number): number => WEIGHT * Math.max(0, 1 - (index - 1) / FALLS_OVER);

/** The turns that a teacher corrects, each with what it reads. */
function taught(
  game: PiGame,
  groups: readonly ScoredGroup[],
  tools: LearnTools,
  variant: string | undefined,
): TaughtSample[] {
  return groups.flatMap((group, g) => {
    const from = variant === 'shuffled-path' ? groups[(g + 1) % groups.length]! : group;
    return toldSearches(game, tools, group, SEARCHING).flatMap((search) =>
      search.turns.flatMap((sample, t): TaughtSample[] =>
        sample.rewards.heard === 1
          ? [{ sample, context: tools.encode(taughtPrompt(game, tools, search, t, from.task, variant)) }]
          : [],
      ),
    );
  });
}

function learn(
  game: PiGame,
  { round, proposals, groups, version }: RoundRecords,
  tools: LearnTools,
): TrainingPlan {
  const { variant } = round.settings;
  const exams = examsOf(proposals);
  // Questions that took as many searches are compared with each other.
  const examiner = episodeItems(
    exams.map(({ turns, searches }) => ({ group: String(searches), samples: turns })),
    grpo,
  );
  const weight = weightAt(round.index);
  const attempts = variant === 'no-teacher' || weight === 0 ? [] : taught(game, groups, tools, variant);
  const how = { ...ppoClip(), ...nearStart(0.001) };
  const judged = exams.filter(({ outcome }) => outcome !== 'held-out');
  const admitted = exams.filter(({ outcome }) => outcome === 'ok');
  const answered = groups.map(rightIn).filter(({ of }) => of > 0);
  return {
    updates: updateOf([
      policyPart(EXAMINER, examiner, how),
      policyPart(SEARCHER, grpoByEpisode(groups), how),
      teacherPass(attempts, {
        set: TEACHER_SET,
        version,
        role: SEARCHER,
        weight,
        divergence: { kind: 'reverse-kl' },
      }),
    ]),
    figures: {
      weight,
      ...(judged.length ? { valid: mean(judged.map(({ outcome }) => Number(outcome === 'ok'))) } : {}),
      ...(admitted.length ? { hops: mean(admitted.map(({ searches }) => searches)) } : {}),
      ...(answered.length ? { studentReward: mean(answered.map(({ right, of }) => right / of)) } : {}),
    },
  };
}

const described = {
  name: 'pi-play',
  title: 'Self-play in which what the examiner found corrects the student',
  paper: arXiv(
    '2604.14054',
    'π-Play: Multi-Agent Self-Play via Privileged Self-Distillation without External Data',
  ),
  summary:
    'An examiner searches documents and writes questions about what it found, with answers; a student has to find these by searches of its own. A teacher, the student’s moving average, reads what the examiner had found beside the question, and what it would have written is taught to the student token by token.',
  method: {
    setting:
      'A fictional world of 720 one-line documents can be searched; a search gives the one that shares most words with it. No questions are given, only names that are to be answers. The start policy’s student often searches again for what it has found, and often takes the second document for the last, but for one that reads notes of the documents on the way; its examiner seldom asks about three. A teacher reads what was found as such notes.',
    roles:
      'The examiner is given a name, makes up to three searches and writes a question whose answer it is. A question is admitted where the documents lead to the answer, and the question does not name it, repeats no other and followed a search. The student makes up to three searches and answers, eight episodes a question. The teacher writes nothing. Examiner and student share their weights.',
    rewards:
      'The student earns 1 for the examiner’s answer. The examiner earns 1 where exactly one episode gives it, less the more do, in a straight line to 0 where all do; and 0 where none does or the question was refused. A held-out question has no reward.',
    credit:
      'The student’s episodes are compared within a question, and the examiner’s with those that made as many searches: minus their mean, divided by their deviation (GRPO). All turns of an episode have the same advantage.',
    objective:
      'For both a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0; and for the student λ times KL(student‖teacher) over the whole vocabulary, as a mean over its tokens.',
    schedule:
      'Each round goes once over its batch with all of it, in four optimiser steps; then the teacher’s weights move by a twentieth of their distance to the policy’s for each of them. λ falls from 1 in the first round in a straight line to 0 after the fiftieth.',
  },
  differences: [
    'Examiner and student learn in the same rounds; the paper takes turns of fifty steps. It has released no code for training: λ, how it falls, the weight of the KL term and the admission of questions could not be checked.',
    'A question is admitted where its answer stands in what was found. In its own world an exact reader of the documents has to come to it, too.',
    'A turn is not taught where it does not fit into the policy’s context after the teacher’s longer prompt.',
    'Examiners make as many episodes as the round has tasks, one question each, and the places of refused ones stay empty. Where all are refused a question of the files or of the world is asked, which pays nothing.',
  ],
  figures: {
    weight: 'Weight λ of the teacher beside the policy gradient.',
    valid: 'Share of the examiner’s episodes that end in a question that is admitted, without held-out ones.',
    hops: 'Mean number of searches behind an admitted question.',
    studentReward:
      'Share of the student’s episodes that give the examiner’s answer, or what a control pays, mean over questions.',
    heldOutSearches: 'Mean number of searches in greedy episodes of held-out questions.',
  },
  variants: VARIANTS,
  sets: { ...trainedSolver({ warmup: 10 }), [TEACHER_SET]: slowTeacher(TEACHER_RATE) },
} satisfies Described;

const written: RecipeOver<'search' | 'examine' | 'recall'> = {
  // The answers of the files are read by the evaluation alone.
  needs: { verbs: ['search', 'examine', 'recall'], data: ['answer', 'documents'] },
  over: (game) => {
    const { family, words } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [EXAMINER]: role('searches and writes questions', words.examine.maxNew, {
          speaksAs: 'proposer',
          // In its own world it is told the answer that it is to ask for.
          ...(game.byExample ? {} : { seesGold: true as const }),
        }),
        ...searcherRole(game, 'the student: searches and answers'),
      },
      freezable: [EXAMINER, SEARCHER],
      propose: (context) => examine(game, context, SEARCHING.searches),
      rollOut: (context, tasks) => rollSearch(game, context, tasks, SEARCHING),
      judge: async (context, groups) => groups.map((group) => judgeGroup(game, context, group)),
      payProposals,
      learn: async (records, tools) => learn(game, records, tools),
      evaluate: (context) => evaluateSearcher(game, context, SEARCHING),
    };
  },
  elsewhere: {
    method: {
      roles:
        'The examiner is shown a document and a question as an example, makes up to three searches and writes a question with its answer. A question is admitted where its answer stands in what was shown or found, and where the question does not name it, repeats no other and followed a search. The student makes up to three searches and answers. The teacher writes nothing. Examiner and student share their weights.',
    },
  },
  ownReward: 'the answers that it pays are the examiner’s own',
  ownOrder: 'its questions are its own',
};

export const piPlay = played(written, examining);
