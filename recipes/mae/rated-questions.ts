/**
 * The stages of Multi-Agent Evolve, in which one policy proposes questions, answers them and rates both. The game says how the policy is asked and
 * how its texts are parsed; the recipe says what each is paid, and which questions enter the store.
 */
import { asking, type Game } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { admit } from '../../core/round/admit.ts';
import { judgmentId, proposalId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { passed, writeTasks } from '../../protocols/proposals.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { questionStore } from './question-store.ts';

export interface RatedGame {
  readonly game: Game<'solve' | 'propose' | 'rate' | 'appraise'>;
  /** The content of the store before anything was added to it. */
  readonly seeds: (seed: number) => readonly string[];
  /** Whether the question has an answer, by the oracle; null where that is not known. */
  readonly isSound: (question: string) => boolean | null;
  /** Whether the answer is right, by the oracle; null where that is not known. */
  readonly isRight: (question: string, solution: Solution) => boolean | null;
}

/** The questions stored so far. */
export const storeOf = (game: RatedGame, recipeState: unknown, seed: number): readonly string[] =>
  readState(questionStore, recipeState) ?? game.seeds(seed);

/**
 * Proposes new questions, half of them variations of a known one, and adds as many known ones for the solver to be trained on. Where questions are
 * given they are known, too, and one that is to be written after no example is written after one of them.
 */
export async function proposeQuestions(rated: RatedGame, context: RoundContext): Promise<Proposals> {
  const { game } = rated;
  const { round } = context;
  const { tasks: count, seed } = round.settings;
  const drawn = game.byExample ? await game.tasks(context) : null;
  const given = (drawn?.tasks ?? []).map(({ task }) => task);
  const known = [...storeOf(rated, await context.recipeState(), seed), ...given];
  const random = new Random(`${round.id}/questions`);
  const varied = Array.from({ length: count }, () => (random.bool() ? random.pick(known) : null));
  const requests = varied.map((question, i) => ({
    on: { like: question ?? given[i % given.length] ?? null },
    sampleIds: [proposalId(round.id, 'proposer', i)],
  }));
  const proposed = await writeTasks(game, context, 'proposer', 'propose', requests);
  const stored = Array.from({ length: count }, () => ({ task: random.pick(known), proposal: null }));
  return {
    ...drawn,
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...passed(proposed), ...stored]),
  };
}

/** Answers a new question several times, to measure its difficulty, and a known question once, to be trained on. */
export async function answerQuestions(
  { game }: RatedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const samples = await samplePrompts(
    context,
    'solver',
    tasks.map(({ group, task, proposal }) => ({
      ...asking(game, context, 'solve', { task }),
      sampleIds: rolloutIds(group, 'solver', proposal ? round.settings.groupSize : 1),
    })),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

/** A rating above this, 5 on the scale of 1 to 10, says that a question is sound or an answer right. */
const MIDDLING = 4 / 9;

/** What the value of a rating, and the reward of the rated answer, may depend on. */
export interface RatingEvidence {
  /** 0 … 1; invalid where the judge wrote none, or where there is no answer to rate. */
  readonly rating: ParseResult<number>;
  /** Whether the question is sound, or the answer right, by the oracle. */
  readonly exact: () => boolean;
  readonly coin: boolean;
}

/**
 * Rates each new question `round.settings.groupSize` times, and each answer that parses once. Every judgment is recorded with whether it parses
 * (`reward`) and with its value for the recipe (`rating`). An answer that does not parse is not shown to the judge.
 */
export async function rateQuestions(
  { game, isSound, isRight }: RatedGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  value: (evidence: RatingEvidence) => number,
  solverReward: (rating: number) => number,
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = context;
  const { words } = game;
  const answers = groups.map(({ task, samples }) =>
    samples.map(({ ids, outcome }) =>
      outcome === 'ok' ? words.solve.read(tokenizer.decode(ids), { task }, context) : invalid(outcome),
    ),
  );
  const right = (question: string, answer: ParseResult<Solution>) =>
    answer.ok ? isRight(question, answer.value) : null;
  const asked = groups.flatMap(({ task, proposal, samples }, g) => {
    const question = {
      g,
      of: proposal!,
      ...asking(game, context, 'appraise', { task }),
      votes: round.settings.groupSize,
      exact: isSound(task),
    };
    const rated = samples.flatMap(({ id }, s) => {
      const answer = answers[g]![s]!;
      if (!answer.ok) return [];
      return [
        {
          g,
          of: id,
          ...asking(game, context, 'rate', { task, response: game.write(answer.value) }),
          votes: 1,
          exact: right(task, answer),
        },
      ];
    });
    return proposal ? [question, ...rated] : rated;
  });
  const prompts = asked.map(({ of, prompt, votes }) => ({
    ids: tokenizer.encode(prompt),
    sampleIds: Array.from({ length: votes }, (_, i) => judgmentId(of, 'judge', i)),
  }));
  const completions = await context.generate('judge', prompts);
  const judgments = asked.map(({ of, exact, parse }, a) =>
    completions[a]!.map((completion, i) => {
      const rating = completion.stopped ? parse(tokenizer.decode(completion.ids)) : invalid('cut-off');
      const { ids, sampleIds } = prompts[a]!;
      const id = sampleIds[i]!;
      const rewards = {
        reward: Number(rating.ok),
        rating: value({ rating, exact: sealedGold(context, exact === true), coin: coinOf(id) }),
      };
      return {
        ...sampleOf(context, 'judge', id, ids, completion, rating.ok ? 'ok' : rating.reason, rewards),
        ...besideOracle(exact, rating.ok ? rating.value > MIDDLING : null),
        of,
      };
    }),
  );
  return groups.map((group, g) => {
    const own = judgments.flatMap((ratings, a) => (asked[a]!.g === g ? ratings : []));
    const paid = new Map(own.map(({ of, rewards }) => [of, rewards.rating ?? null]));
    return {
      ...group,
      samples: group.samples.map((sample, s) => {
        // Nobody rates an answer that is not well-formed: it earns nothing, and solves nothing.
        if (!answers[g]![s]!.ok) return { ...sample, rewards: { reward: 0, passed: 0 } };
        const rating = paid.get(sample.id) ?? null;
        return {
          ...sample,
          rewards: { reward: rating === null ? null : solverReward(rating), passed: rating },
        };
      }),
      judgments: own,
      answersExact: answers[g]!.map((answer) => right(group.task, answer)),
      solutionsExact: answers[g]!.map((answer) => right(group.task, answer)),
    };
  });
}
