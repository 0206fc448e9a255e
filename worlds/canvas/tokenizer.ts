/** The tokenizer of the world `canvas`: one token for each word of its questions and for each answer; and how a policy that has it is asked in messages. */
import { characterTokenizer } from '../../core/text/characters.ts';
import { STOP } from '../worked.ts';
import { ANSWERS, WORDS } from './questions.ts';

const PAD = '<pad>';
/** The token whose embedding every patch of an image begins with. */
export const PATCH_TOKEN = '<patch>';

/** One question, as the world asks it: its last word ends with a space. */
const TEMPLATE = `
{%- if messages[0].role != 'user' or messages | length > 2 or (messages | length == 2 and messages[1].role != 'assistant') %}
    {{- raise_exception('this policy is asked one question, without a system message') }}
{%- endif %}
{{- messages[0].content | trim + ' ' }}
{%- if messages | length == 2 %}
    {{- messages[1].content + '${STOP}' }}
{%- endif %}`;

/** `more`: words that are not of its questions. */
export const canvasTokenizer = (more: readonly string[] = []) => ({
  ...characterTokenizer({
    control: [PAD, PATCH_TOKEN, STOP],
    unknown: PAD,
    words: [...WORDS, ...ANSWERS, ...more],
    characters: '',
  }),
  config: {
    tokenizer_class: 'PreTrainedTokenizerFast',
    chat_template: TEMPLATE,
    eos_token: STOP,
    pad_token: PAD,
    clean_up_tokenization_spaces: false,
  },
});
