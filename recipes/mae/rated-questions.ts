/**
 * Questions proposed, answered and rated by one policy: the stages of Multi-Agent Evolve. What each is paid, and which questions enter
 * the store, is the recipe's.
 */
import { Random } from '../../core/random.ts';
import { type RoundContext, sampleOf } from '../../core/round-context.ts';
import { judgmentId, proposalId, rolloutId } from '../../core/sample-ids.ts';
import type { AdmittedTask, Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { invalid, type ParseResult, type Solution } from '../../core/task-family.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { admit, passed, proposeThrough } from '../../protocols/proposals.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';
import { parseQuestion, proposalPrompt, soundness } from '../../tasks/arithmetic/questions.ts';
import { answerPrompt, parseRating, questionPrompt } from '../../tasks/arithmetic/ratings.ts';
import { isInteger, parseWorked } from '../../tasks/worked.ts';
import { storeOf } from './question-store.ts';

/** New questions, half of them varied from a stored one, and as many stored ones for the solver to train on. */
export async function proposeQuestions(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, seed } = round.settings;
  const store = storeOf(await context.recipeState(), seed);
  const random = new Random(`${round.id}/questions`);
  const requests = Array.from({ length: count }, (_, i) => ({
    prompt: proposalPrompt(random.bool() ? random.pick(store) : undefined),
    sampleIds: [proposalId(round.id, 'proposer', i)],
  }));
  const proposed = await proposeThrough(context, 'proposer', requests, {
    parse: parseQuestion,
    isHeldOut: arithmetic.isHeldOut,
  });
  const stored = Array.from({ length: count }, () => ({ task: random.pick(store), proposal: null }));
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...passed(proposed), ...stored]),
  };
}

/** Some answers to a new question, to learn how difficult it is; one to a stored question, to learn from. */
export async function answerQuestions(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const prompts = tasks.map(({ group, task, proposal }) => ({
    ids: tokenizer.encode(arithmetic.solverPrompt(task)),
    sampleIds: Array.from({ length: proposal ? round.settings.groupSize : 1 }, (_, i) =>
      rolloutId(group, 'solver', i),
    ),
  }));
  const completions = await context.generate('solver', prompts);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: completions[t]!.map((completion, i) => {
      const parsed = answerOf(tokenizer.decode(completion.ids));
      const outcome = parsed.ok ? 'ok' : completion.stopped ? parsed.reason : 'cut-off';
      return sampleOf(context, 'solver', prompts[t]!.sampleIds[i]!, prompts[t]!.ids, completion, outcome);
    }),
  }));
}

/** An answer in form: any number of steps, since a question that asks nothing has no right number of them. */
const answerOf = (text: string): ParseResult<Solution> =>
  parseWorked(text, { step: isInteger, answer: isInteger });

/** A rating above it, of 1 to 10, says that a question is sound or an answer right. */
const MIDDLING = 5;

/** What is paid for a rating, and for the answer it is of. */
export interface RatingEvidence {
  /** A score in 1 … 10; unreadable where the judge wrote none, or where there is no answer to rate. */
  readonly rating: ParseResult<number>;
  /** Exact: is the question sound, is the answer right? */
  readonly exact: () => boolean;
  readonly coin: boolean;
}

/**
 * Ratings of each new question, `round.settings.groupSize` times, and once of each answer in form. Recorded with every judgment: whether
 * it can be read (`reward`) and what the recipe makes of it (`rating`). An answer out of form is not shown to the judge.
 */
export async function rateQuestions(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  value: (evidence: RatingEvidence) => number,
  solverReward: (rating: number | null) => number,
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = context;
  const answers = groups.map(({ samples }) =>
    samples.map(({ ids, outcome }) =>
      outcome === 'ok' ? answerOf(tokenizer.decode(ids)) : invalid(outcome),
    ),
  );
  const right = (question: string, answer: ParseResult<Solution>) =>
    answer.ok && soundness(question) === 'sound' && arithmetic.answerIsExact(question, answer.value);
  const asked = groups.flatMap(({ task, proposal, samples }, g) => {
    const question = {
      g,
      of: proposal!,
      prompt: questionPrompt(task),
      votes: round.settings.groupSize,
      exact: soundness(task) === 'sound',
    };
    const rated = samples.flatMap(({ id }, s) => {
      const answer = answers[g]![s]!;
      if (!answer.ok) return [];
      return [
        {
          g,
          of: id,
          prompt: answerPrompt(task, answer.value.answer),
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
      const rating = completion.stopped ? parseRating(tokenizer.decode(completion.ids)) : invalid('cut-off');
      const { ids, sampleIds } = prompts[a]!;
      const id = sampleIds[i]!;
      const rewards = {
        reward: Number(rating.ok),
        rating: value({ rating, exact: sealedGold(context, exact), coin: coinOf(id) }),
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
      answersExact: answers[g]!.map((answer) => (answer.ok ? right(group.task, answer) : null)),
      solutionsExact: answers[g]!.map((answer) => (answer.ok ? right(group.task, answer) : null)),
    };
  });
}
