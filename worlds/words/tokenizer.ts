/** The tokenizer of the policy `words`: byte-level BPE over the texts that it is pre-trained on, with its chat template. */
import { Random } from '../../core/random.ts';
import { bytePairTokenizer } from '../../core/text/byte-pairs.ts';
import { demonstrateWords } from './demonstrations.ts';
import { CONTROL_TOKENS, END, MARKS, WORDS_TEMPLATE } from './template.ts';

const VOCABULARY = 1024;
/** Demonstrations whose words are counted. */
const TEXTS = 6000;

export function wordsTokenizer() {
  const random = new Random('words/tokenizer');
  const texts = Array.from({ length: TEXTS }, () => {
    const { prompt, completion } = demonstrateWords(random);
    return prompt + completion;
  });
  return {
    vocabSize: VOCABULARY,
    json: bytePairTokenizer({ texts, vocabSize: VOCABULARY, control: CONTROL_TOKENS, marks: MARKS }),
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      chat_template: WORDS_TEMPLATE,
      eos_token: END,
      pad_token: CONTROL_TOKENS[0],
      clean_up_tokenization_spaces: false,
    },
  };
}
