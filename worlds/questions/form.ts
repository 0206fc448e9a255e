/** The form of an answer in other people's texts: where it is marked, and ways to mark it wrongly. */
import { type Extraction, extractAnswer } from '../../core/checkers/extract.ts';
import type { Game } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';

/** Each way to mark an answer: what stands before it and after it, and where it is found. */
const MARKS = {
  boxed: { before: '\\boxed{', after: '}', found: /\\(?:boxed|fbox)\{((?:[^{}]|\{[^{}]*\})*)\}/g },
  answer: { before: '<answer>', after: '</answer>', found: /<answer>(.*?)(?:<\/answer>|$)/gis },
  hashes: { before: '#### ', after: '', found: /####[ \t]*(.*)/g },
} as const satisfies Partial<Record<Extraction, object>>;
type Marked = keyof typeof MARKS;

/** An answer is looked for in the marks, and then as the last number. */
const ANYWHERE = [...(Object.keys(MARKS) as Marked[]), 'last-number'] as const;

/** The text without the marks of answers. */
const unmarked = (text: string): string =>
  Object.values(MARKS)
    .reduce((left, { found }) => left.replace(found, '$1'), text)
    .trim();

/** The form that the first of these extractions reads; a box where none of them reads a mark. */
export function answerForm(extract: readonly Extraction[]): NonNullable<Game['form']> {
  const { before, after } = MARKS[extract.find((name): name is Marked => name in MARKS) ?? 'boxed'];
  const marked = (answer: string) => before + answer + after;
  const damages = [
    (text: string, answer: string) => `${text}\n${answer}`,
    (text: string, answer: string) => `${text}\n${marked('')} ${answer}`,
    (text: string, answer: string) => `${text}\n${answer}${after} ${before.trim()}`,
    (text: string, answer: string) => `${marked(answer)}\n${text}`,
    (text: string, answer: string) => `${text}\n${marked(answer)}\n${marked(answer)}`,
  ];
  return {
    read: (_, text, speaker) => {
      const renderer = speaker.renderer();
      const said = renderer.readText(text).text;
      const found = renderer.holdsControl(said) ? null : extractAnswer(said, ANYWHERE);
      return found?.ok ? ok({ steps: [said], answer: found.value }) : invalid('off-grammar');
    },
    pair: ({ steps, answer }, key) => {
      const text = unmarked(steps.join('\n'));
      const damage = new Random(`damage/${key}`).pick(damages);
      return { chosen: `${text}\n${marked(answer)}`, rejected: damage(text, answer) };
    },
  };
}
