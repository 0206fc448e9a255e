/** Evaluation on a file of questions, asked verbatim: greedy answers of the solver, compared with the reference answers. */
import type { Policy } from '../policy.ts';
import { deriveId } from '../random.ts';
import { extractAnswer, isRight, type Question } from '../text/answers.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';

export interface QuestionFigures {
  readonly n: number;
  /** Shares of all questions: right answers, completions that hold an answer, completions that write steps before it. */
  readonly accuracy: number;
  readonly answered: number;
  readonly worked: number;
}

/** Tokens of a completion; enough for a worked answer of many steps. */
export const MAX_NEW = 64;

export const solverPrompt = (question: string): string => `<solve>${question}<sep>`;

export async function answerQuestions(
  policy: Policy,
  tokenizer: Tokenizer,
  questions: readonly Question[],
): Promise<QuestionFigures> {
  const completions = await policy.generate(
    questions.map(({ question }, i) => ({
      ids: tokenizer.encode(solverPrompt(question)),
      sampleIds: [deriveId('question', i)],
    })),
    { maxNew: MAX_NEW, temperature: 0, stop: [tokenizer.id('<eos>')] },
  );
  const texts = completions.map(([completion]) => tokenizer.decode(completion!.ids));
  const answers = texts.map((text) => extractAnswer(text));
  const share = (test: (i: number) => boolean) =>
    questions.filter((_, i) => test(i)).length / questions.length;
  return {
    n: questions.length,
    accuracy: share((i) => answers[i] !== null && isRight(questions[i]!, answers[i]!.answer)),
    answered: share((i) => answers[i] !== null),
    worked: share((i) => answers[i]?.before.includes('<step>') ?? false),
  };
}
