/** The tokenizer of the world `composition`: one token for each word of its texts, each function and each letter. */
import { characterTokenizer } from '../../core/text/characters.ts';
import { STOP } from '../worked.ts';
import { FUNCTIONS, LETTERS } from './functions.ts';
import { START, VERDICTS, WORDS } from './text.ts';

export const compositionTokenizer = () =>
  characterTokenizer({
    control: ['<pad>', START, STOP, ...VERDICTS],
    unknown: '<pad>',
    words: [...WORDS, ...FUNCTIONS],
    characters: LETTERS,
  });
