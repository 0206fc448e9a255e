/** Pairs that differ in their form alone: a policy’s own right answer as it should be written, and the same with its form damaged in one of five ways. */
import { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { arithmetic, writeSolution } from './family.ts';

/** Each keeps every total and the answer, and none parses. */
export const DAMAGES = {
  /** A step begins with a letter in place of its tag. */
  letter: (text: string) => text.replace('<step>', 'x'),
  /** Marks that state nothing before the answer. */
  marks: (text: string) => text.replace('<answer>', '<ok><ok><answer>'),
  /** The answer has the tag of a step. */
  'no answer tag': (text: string) => text.replace('<answer>', '<step>'),
  /** The answer comes before the steps. */
  'answer first': (text: string) => text.replace(/^(.*)(<answer>.*)$/s, '$2$1'),
  /** The answer comes twice. */
  'answer twice': (text: string) => text.replace(/(<answer>.*)$/s, '$1$1'),
} as const satisfies Readonly<Record<string, (text: string) => string>>;

export interface FormatPair {
  /** Texts with their stop token. */
  readonly chosen: string;
  readonly rejected: string;
}

/** The damage is drawn for each sample. */
export function formatPair(solution: Solution, sample: string): FormatPair {
  const text = writeSolution(solution);
  const damage =
    DAMAGES[new Random(`damage/${sample}`).pick(Object.keys(DAMAGES) as (keyof typeof DAMAGES)[])];
  return { chosen: text + arithmetic.stop, rejected: damage(text) + arithmetic.stop };
}
