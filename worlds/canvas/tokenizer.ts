/** The tokenizer of the world `canvas`: one token for each word of its questions and for each answer. */
import { characterTokenizer } from '../../core/text/characters.ts';
import { STOP } from '../worked.ts';
import { ANSWERS, WORDS } from './questions.ts';

/** The token whose embedding every patch of an image begins with. */
export const PATCH_TOKEN = '<patch>';

export const canvasTokenizer = () =>
  characterTokenizer({
    control: ['<pad>', PATCH_TOKEN, STOP],
    unknown: '<pad>',
    words: [...WORDS, ...ANSWERS],
    characters: '',
  });
