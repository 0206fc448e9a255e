/** Whether the token ids of one policy mean the same to another: a teacher reads its student's ids, and their distributions are compared token by token. */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import type { PolicyRef } from '../policy/policy.ts';
import { sha256Hex } from '../random.ts';
import { finite } from '../schema/numbers.ts';
import type { VersionFiles } from '../schema/policy.ts';

/** What a version's files say of its tokens. */
export interface Tokens {
  /** The sha256 of its tokenizer.json; absent where it has none, so that it takes ids only. */
  readonly tokenizer: string | undefined;
  readonly config: Uint8Array | undefined;
}

/** Of the files of a version. */
export const tokensOf = (files: VersionFiles): Tokens => {
  const tokenizer = files['tokenizer.json'];
  return { tokenizer: tokenizer && sha256Hex(tokenizer), config: files['config.json'] };
};

const vocabulary = v.looseObject({ vocab_size: finite });

const vocabularyOf = ({ config }: Tokens): number | undefined =>
  config && v.parse(vocabulary, JSON.parse(new TextDecoder().decode(config))).vocab_size;

/** Throws `policy.tokens` where the teacher's tokens are not those of the policy that is trained. */
export function expectSameTokens(
  student: Tokens,
  teacher: Tokens,
  { name, version }: Pick<PolicyRef, 'name' | 'version'>,
): void {
  const refuse = (what: string, expected: string) =>
    wrongInput('policy.tokens', what, {
      expected,
      next: 'Choose a teacher of the same family of models, or train a policy that has the teacher’s tokens.',
    });
  if (student.tokenizer && teacher.tokenizer && student.tokenizer !== teacher.tokenizer)
    throw refuse(
      `The tokenizer of the teacher ${name}@${version} is not that of the policy that is trained.`,
      'the same tokenizer.json: the teacher reads the student’s token ids',
    );
  const [ours, theirs] = [vocabularyOf(student), vocabularyOf(teacher)];
  if (ours !== undefined && theirs !== undefined && ours !== theirs)
    throw refuse(
      `The teacher ${name}@${version} has a vocabulary of ${theirs} tokens, and the policy that is trained one of ${ours}.`,
      'the same tokens: whole distributions are compared, token by token',
    );
}
