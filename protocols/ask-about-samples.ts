/** Asks a role about samples, several times each where votes are wanted. The prompts of a whole stage share one batch. */
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import { invalid, type ParseResult } from '../core/recipe/task-family.ts';
import { judgmentId } from '../core/round/sample-ids.ts';
import type { Sample } from '../core/schema/sample.ts';

/** A question to the role about one sample. */
export interface Question<T> {
  /** The id of the sample that is judged. */
  readonly of: string;
  /** What the ids of the answers are derived from, which differs from `of` where several questions are about one sample; default `of`. */
  readonly key?: string;
  /** What the question is about, beside the sample: recorded with its answers. */
  readonly about?: string;
  readonly prompt: string;
  /** Parses an answer with its stop token. */
  readonly parse: (text: string) => ParseResult<T>;
}

export interface Answer<T> {
  /** The answer as a sample, without rewards; its `of` is the sample that the question was about. */
  readonly sample: Sample;
  readonly parsed: ParseResult<T>;
}

/** Samples `votes` answers of a role to each question [questions][votes]. */
export async function ask<T>(
  context: RoundContext,
  role: string,
  questions: readonly Question<T>[],
  votes: number,
): Promise<Answer<T>[][]> {
  const { tokenizer } = context;
  const prompts = questions.map(({ of, key = of, prompt }) => ({
    ids: tokenizer.encode(prompt),
    sampleIds: Array.from({ length: votes }, (_, i) => judgmentId(key, role, i)),
  }));
  const completions = votes > 0 ? await context.generate(role, prompts) : questions.map(() => []);
  return questions.map(({ of, about, parse }, q) =>
    completions[q]!.map((completion, i) => {
      const parsed = completion.stopped ? parse(tokenizer.decode(completion.ids)) : invalid('cut-off');
      const outcome = parsed.ok ? 'ok' : parsed.reason;
      const { ids, sampleIds } = prompts[q]!;
      const sample = sampleOf(context, role, sampleIds[i]!, ids, completion, outcome);
      return { sample: { ...sample, of, ...(about === undefined ? {} : { about }) }, parsed };
    }),
  );
}
