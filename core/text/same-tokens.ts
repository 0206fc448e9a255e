/** Whether the token ids of one policy mean the same to another: a teacher or a reward model reads the ids of the policy that is trained. */
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

/** Throws `policy.tokens` where the tokens of a version that reads the policy's ids are not those of the policy that is trained. */
export function expectSameTokens(
  student: Tokens,
  reader: Tokens,
  { name, version }: Pick<PolicyRef, 'name' | 'version'>,
): void {
  const refuse = (what: string, expected: string) =>
    wrongInput('policy.tokens', what, {
      expected,
      next: 'Choose a version of the same family of models, or train a policy that has its tokens.',
    });
  if (student.tokenizer && reader.tokenizer && student.tokenizer !== reader.tokenizer)
    throw refuse(
      `The tokenizer of ${name}@${version} is not that of the policy that is trained.`,
      'the same tokenizer.json: it reads the policy’s token ids',
    );
  const [ours, theirs] = [vocabularyOf(student), vocabularyOf(reader)];
  if (ours !== undefined && theirs !== undefined && ours !== theirs)
    throw refuse(
      `${name}@${version} has a vocabulary of ${theirs} tokens, and the policy that is trained one of ${ours}.`,
      'the same tokens: it reads the policy’s token ids',
    );
}
