/**
 * What a policy answers to questions with reference answers: one greedy answer to each, and several samples. Every answer is kept with its text and
 * its outcome, so that all figures can be computed again from the record.
 */
import type { Checker } from '../../core/checkers/checker.ts';
import type { Extraction } from '../../core/checkers/extract.ts';
import type { Completion, Policy, TokenIds } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { type CheckedAnswer, checkAnswer } from '../../worlds/questions/check-answer.ts';

export interface QuestionSettings {
  readonly checker: Checker;
  /** Where to look for the answer in the text, in this order. */
  readonly extract: readonly Extraction[];
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
  /** Sampled answers to each question, beside the greedy one; may be 0. */
  readonly samples: number;
  readonly temperature: number;
  /** Another seed draws other samples. */
  readonly seed: number;
}

export interface AnsweredQuestion {
  readonly task: PlacedTask;
  readonly greedy: CheckedAnswer;
  readonly samples: readonly CheckedAnswer[];
  /** The tokens of the question and of each sample, for those who score them. */
  readonly tokens: { readonly prompt: TokenIds; readonly samples: readonly TokenIds[] };
}

/** The questions whose prompts leave room for an answer in the model's context, and how many do not. */
export function fitting(
  tasks: readonly PlacedTask[],
  renderer: Renderer,
  { maxPositions, maxNew }: { readonly maxPositions: number; readonly maxNew: number },
): { readonly fit: readonly PlacedTask[]; readonly tooLong: number } {
  const fit = tasks.filter(({ messages }) => renderer.begin(messages).ids.length + maxNew <= maxPositions);
  return { fit, tooLong: tasks.length - fit.length };
}

/** Answers, in the order of the questions. The samples depend only on the seed, the question's place and the sample's number. */
export async function answerQuestions(
  policy: Pick<Policy, 'generate'>,
  renderer: Renderer,
  tasks: readonly PlacedTask[],
  settings: QuestionSettings,
): Promise<AnsweredQuestion[]> {
  const { checker, extract, maxNew, samples, temperature, seed } = settings;
  const prompts = tasks.map(({ messages }) => renderer.begin(messages).ids);
  const ask = (name: string, count: number, at: number) =>
    count === 0
      ? Promise.resolve(tasks.map((): Completion[] => []))
      : policy.generate(
          prompts.map((ids, i) => ({
            ids,
            sampleIds: Array.from({ length: count }, (_, s) => deriveId('question', name, seed, i, s)),
          })),
          { ...renderer.ends(), maxNew, temperature: at },
        );
  const greedy = await ask('greedy', 1, 0);
  const sampled = await ask('sampled', samples, temperature);

  return tasks.map((task, i) => {
    const check = checker.prepare(task);
    const checked = ({ ids }: Completion): CheckedAnswer => {
      const read = renderer.read(prompts[i]!, ids);
      return { text: read.text, tokens: ids.length, ...checkAnswer(read, check, extract) };
    };
    const tokens = { prompt: prompts[i]!, samples: sampled[i]!.map(({ ids }) => ids) };
    return { task, greedy: checked(greedy[i]![0]!), samples: sampled[i]!.map(checked), tokens };
  });
}
