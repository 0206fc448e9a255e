/** Puts the turns of one conversation together again: a turn whose prompt continues an earlier turn belongs to it. */

import type { TokenIds } from '../../core/policy/policy.ts';
import type { HeldOutAnswer } from '../../core/recipe/held-out-answers.ts';
import { newIn } from './reader.ts';

export interface Conversation {
  readonly role: string;
  /** `seen`: what the role read before this turn and had not read before. */
  readonly turns: readonly {
    readonly seen: TokenIds;
    readonly ids: TokenIds;
    readonly logprobs: readonly number[];
  }[];
}

export function conversations(answers: readonly HeldOutAnswer[]): Conversation[] {
  const open: { role: string; last: HeldOutAnswer; turns: Conversation['turns'][number][] }[] = [];
  for (const answer of answers) {
    const before = open.find(
      ({ role, last }) =>
        role === answer.role &&
        answer.prompt.length > last.prompt.length &&
        newIn(answer.prompt, last) !== answer.prompt,
    );
    const turn = { seen: newIn(answer.prompt, before?.last), ids: answer.ids, logprobs: answer.logprobs };
    if (before) {
      before.turns.push(turn);
      before.last = answer;
    } else open.push({ role: answer.role, last: answer, turns: [turn] });
  }
  return open.map(({ role, turns }) => ({ role, turns }));
}
