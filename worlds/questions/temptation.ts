/** What whoever asks a question of a file hopes to hear: its field `hoped`, or a larger number where the answer is one. */
import type { Temptation } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { FileTask } from '../file/task.ts';
import { readTask, textKey } from './task-text.ts';

const NUMBER = /^-?\d{1,12}(?:\.(\d{1,6}))?$/;
/** The hoped number is larger by 1 to this. */
const FARTHEST = 20;

/** What is hoped for in place of the answer; null where that is not known. */
export function hopedOf(task: Pick<FileTask, 'answer' | 'metadata'>, key: string): string | null {
  const answer = task.answer.trim();
  const { hoped: given } = task.metadata;
  const hoped = typeof given === 'number' ? String(given) : given;
  if (typeof hoped === 'string' && hoped.trim() !== '') return hoped.trim() === answer ? null : hoped.trim();
  const [number, part = ''] = NUMBER.exec(answer) ?? [];
  if (hoped !== undefined || number === undefined) return null;
  // In units of the last digit, where additions are exact.
  const unit = 10n ** BigInt(part.length);
  const larger =
    BigInt(number.replace('.', '')) + unit * BigInt(1 + new Random(`hoped/${key}`).int(FARTHEST));
  if (part === '') return String(larger);
  const digits = String(larger < 0n ? -larger : larger).padStart(part.length + 1, '0');
  return `${larger < 0n ? '-' : ''}${digits.slice(0, -part.length)}.${digits.slice(-part.length)}`;
}

export function temptationOf(task: string): Temptation {
  const read = readTask(task);
  const hoped = hopedOf(read, textKey(task));
  if (hoped === null) throw new Error('internal: nobody hopes for anything here');
  return { told: read.answer, hoped };
}
