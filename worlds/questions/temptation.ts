/** What whoever asks a question of a file hopes to hear: its field `hoped`, or a larger number where the answer is one. */
import type { Temptation } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { FileTask } from '../file/task.ts';
import { readTask, textKey } from './task-text.ts';

const NUMBER = /^-?\d{1,12}(?:\.\d{1,6})?$/;
/** The hoped number is larger by 1 to this. */
const FARTHEST = 20;

/** What is hoped for in place of the answer; null where that is not known. */
export function hopedOf(task: Pick<FileTask, 'answer' | 'metadata'>, key: string): string | null {
  const { hoped } = task.metadata;
  const answer = task.answer.trim();
  if (typeof hoped === 'string' && hoped.trim() !== '') return hoped.trim() === answer ? null : hoped.trim();
  if (hoped !== undefined || !NUMBER.test(answer)) return null;
  const [whole = '', part] = answer.split('.');
  const larger = String(Number(whole) + 1 + new Random(`hoped/${key}`).int(FARTHEST));
  return part === undefined ? larger : `${larger}.${part}`;
}

export function temptationOf(task: string): Temptation {
  const read = readTask(task);
  const hoped = hopedOf(read, textKey(task));
  if (hoped === null) throw new Error('internal: nobody hopes for anything here');
  return { told: read.answer, hoped };
}
