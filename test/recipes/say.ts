/** Questions that ask for a word, and the text of a policy with a chat template that is asked them. */
import { textOf } from '../../core/renderer/policy-text.ts';
import { QWEN_TEMPLATE, versionFiles } from '../core/renderer/checkpoints.ts';

export const sayTask = (question: string, answer: string, line: number) => ({
  messages: [{ role: 'user' as const, content: question }],
  answer,
  metadata: {},
  difficulty: null,
  file: 'f',
  line,
});

/** Two questions to train on and one that is held out, but for the recipe. */
export const SAY = {
  name: 'say',
  start: 's',
  checker: 'exact',
  extract: ['answer', 'whole'],
  sources: [{ weight: 1, tasks: [sayTask('Say one', 'one', 1), sayTask('Say two', 'two', 2)] }],
  heldOut: [sayTask('Say three', 'three', 3)],
  settings: { maxNew: 24 },
};

/** `more`: of its config, such as how it sees. */
export const chatOf = (positions: number, more: object = {}) =>
  textOf(
    versionFiles(
      { eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE },
      { config: { max_position_embeddings: positions, ...more } },
    ),
    'p',
  );
