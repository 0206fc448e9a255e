/** `policy eval`: greedy answers to a file of questions, asked as they stand there, compared with the reference answers. */

import type { GatewayClient } from '../../api/gateway-client.ts';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import {
  answerQuestions,
  MAX_NEW,
  type QuestionFigures,
  solverPrompt,
} from '../../core/roles/answer-questions.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { configOf, openPolicy } from './live-policy.ts';
import { readQuestions } from './question-lines.ts';
import { fetchVersion } from './stored-version.ts';

export interface EvalRequest {
  readonly tasks: string;
  readonly limit?: number;
}

export interface Evaluated extends QuestionFigures {
  /** Questions that were not asked, because the model cannot take so many tokens; no part of n. */
  readonly tooLong: number;
}

export async function evaluateTasks(
  gateway: GatewayClient,
  ref: PolicyRef,
  { tasks, limit }: EvalRequest,
): Promise<Evaluated> {
  const questions = await readQuestions(tasks, limit);
  const { files } = await fetchVersion(gateway, ref);
  const tokenizer = tokenizerOf(files, ref.name);
  // A tokenizer without the roles' tags would ask something else than was meant.
  for (const tag of ['<solve>', '<sep>', '<eos>']) tokenizer.id(tag);
  const room = configOf(files).maxPositions - MAX_NEW;
  const asked = questions.filter(({ question }) => tokenizer.encode(solverPrompt(question)).length <= room);
  if (!asked.length)
    throw wrongInput('tasks.too-long', `None of the ${questions.length} questions fits the model.`, {
      expected: `at most ${room} tokens, so that ${MAX_NEW} are left for the answer`,
      next: 'Choose shorter questions or a model with more positions.',
    });
  const policy = await openPolicy(ref, files);
  try {
    const figures = await answerQuestions(policy, tokenizer, asked);
    return { ...figures, tooLong: questions.length - asked.length };
  } finally {
    await policy.dispose();
  }
}
