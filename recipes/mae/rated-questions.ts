/**
 * The stages of Multi-Agent Evolve, in which one policy proposes questions, answers them and rates both. The game says how the policy is asked and
 * how its texts are parsed; the recipe says what each is paid, and which questions enter the store.
 */
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { judgmentId, proposalId, rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { admit, type Proposal, passed, type Request } from '../../protocols/proposals.ts';
import { questionStore } from './question-store.ts';

/** How a policy is asked to answer and to rate, and how its texts, with their stop tokens, are parsed. */
export interface RatedTexts {
  readonly solverPrompt: (question: string) => string;
  readonly parseAnswer: (question: string, text: string) => ParseResult<Solution>;
  readonly questionPrompt: (question: string) => string;
  readonly answerPrompt: (question: string, solution: Solution) => string;
  /** A score in 1 … 10. */
  readonly parseRating: (text: string) => ParseResult<number>;
}

export interface RatedGame {
  readonly texts: (context: Pick<RoundContext, 'renderer'>) => RatedTexts;
  /** The content of the store before anything was added to it. */
  readonly seeds: (seed: number) => readonly string[];
  /** Questions that need no proposer, which are varied and answered beside the stored ones. */
  readonly given?: (context: RoundContext) => Proposals;
  /**
   * Asks the proposer for new questions, one for each entry of `varied`: a variation of that question, or an independent one where the entry is null.
   */
  readonly propose: (
    context: RoundContext,
    varied: readonly (string | null)[],
    sampleIds: readonly string[],
  ) => Promise<Proposal<Request>[]>;
  /** Whether the question has an answer, by the oracle; null where that is not known. */
  readonly isSound: (question: string) => boolean | null;
  /** Whether the answer is right, by the oracle; null where that is not known. */
  readonly isRight: (question: string, solution: Solution) => boolean | null;
}

/** The questions stored so far. */
export const storeOf = (game: RatedGame, recipeState: unknown, seed: number): readonly string[] =>
  readState(questionStore, recipeState) ?? game.seeds(seed);

/** Proposes new questions, half of them variations of a known one, and adds as many known ones for the solver to be trained on. */
export async function proposeQuestions(game: RatedGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, seed } = round.settings;
  const { tasks: given = [], leftOut } = game.given?.(context) ?? {};
  const known = [...storeOf(game, await context.recipeState(), seed), ...given.map(({ task }) => task)];
  const random = new Random(`${round.id}/questions`);
  const varied = Array.from({ length: count }, () => (random.bool() ? random.pick(known) : null));
  const sampleIds = varied.map((_, i) => proposalId(round.id, 'proposer', i));
  const proposed = await game.propose(context, varied, sampleIds);
  const stored = Array.from({ length: count }, () => ({ task: random.pick(known), proposal: null }));
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...passed(proposed), ...stored]),
    ...(leftOut ? { leftOut } : {}),
  };
}

/** Answers a new question several times, to measure its difficulty, and a known question once, to be trained on. */
export async function answerQuestions(
  game: RatedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const texts = game.texts(context);
  const prompts = tasks.map(({ group, task, proposal }) => ({
    ids: tokenizer.encode(texts.solverPrompt(task)),
    sampleIds: Array.from({ length: proposal ? round.settings.groupSize : 1 }, (_, i) =>
      rolloutId(group, 'solver', i),
    ),
  }));
  const completions = await context.generate('solver', prompts);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: completions[t]!.map((completion, i) => {
      const parsed = texts.parseAnswer(task.task, tokenizer.decode(completion.ids));
      const outcome = parsed.ok ? 'ok' : completion.stopped ? parsed.reason : 'cut-off';
      return sampleOf(context, 'solver', prompts[t]!.sampleIds[i]!, prompts[t]!.ids, completion, outcome);
    }),
  }));
}

/** A rating above this, on the scale of 1 to 10, says that a question is sound or an answer right. */
const MIDDLING = 5;

/** What the value of a rating, and the reward of the rated answer, may depend on. */
export interface RatingEvidence {
  /** A score in 1 … 10; invalid where the judge wrote none, or where there is no answer to rate. */
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
  game: RatedGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  value: (evidence: RatingEvidence) => number,
  solverReward: (rating: number | null) => number,
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = context;
  const texts = game.texts(context);
  const answers = groups.map(({ task, samples }) =>
    samples.map(({ ids, outcome }) =>
      outcome === 'ok' ? texts.parseAnswer(task, tokenizer.decode(ids)) : invalid(outcome),
    ),
  );
  const right = (question: string, answer: ParseResult<Solution>) =>
    answer.ok ? game.isRight(question, answer.value) : null;
  const asked = groups.flatMap(({ task, proposal, samples }, g) => {
    const question = {
      g,
      of: proposal!,
      prompt: texts.questionPrompt(task),
      votes: round.settings.groupSize,
      exact: game.isSound(task),
    };
    const rated = samples.flatMap(({ id }, s) => {
      const answer = answers[g]![s]!;
      if (!answer.ok) return [];
      return [
        {
          g,
          of: id,
          prompt: texts.answerPrompt(task, answer.value),
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
  const judgments = asked.map(({ of, exact }, a) =>
    completions[a]!.map((completion, i) => {
      const rating = completion.stopped
        ? texts.parseRating(tokenizer.decode(completion.ids))
        : invalid('cut-off');
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
      samples: group.samples.map((sample) => {
        const rating = paid.get(sample.id) ?? null;
        return { ...sample, rewards: { reward: solverReward(rating), passed: rating ?? 0 } };
      }),
      judgments: own,
      answersExact: answers[g]!.map((answer) => right(group.task, answer)),
      solutionsExact: answers[g]!.map((answer) => right(group.task, answer)),
    };
  });
}
