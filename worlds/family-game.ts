/** A task family as a game in its own notation. */
import { familyWords, type Game, type Wording, type Wordings } from '../core/game/game.ts';
import type { Datum, Verb } from '../core/game/verbs.ts';
import type { TaskFamily } from '../core/recipe/task-family.ts';
import { beginning } from './arithmetic/aided.ts';
import { familyTasks } from './drawn-tasks.ts';
import { writeSolution } from './worked.ts';

interface FamilyGame<V extends Verb>
  extends Partial<
    Pick<
      Game,
      | 'tasks'
      | 'tests'
      | 'draws'
      | 'example'
      | 'reference'
      | 'write'
      | 'steps'
      | 'stepEnds'
      | 'readVerdict'
      | 'byRule'
      | 'unused'
      | 'form'
      | 'library'
      | 'needsOf'
      | 'temptation'
      | 'question'
      | 'otherPicture'
      | 'frames'
    >
  > {
  /** What it can be asked beside `solve` and `verify`. */
  readonly words?: Wordings<V>;
  /** What its data have beside answers. */
  readonly data?: readonly Datum[];
  /** Longest answer in tokens; default the family's. */
  readonly maxNew?: number;
}

/** By default tasks are drawn, and solutions are written in tags. */
export const familyGame = <V extends Verb = never>(
  family: TaskFamily,
  {
    words,
    data = [],
    maxNew = family.maxNew.solver,
    tasks = familyTasks(family),
    write = writeSolution,
    tests = (asked) => family.heldOut(asked),
    ...more
  }: FamilyGame<V> = {},
): Game<V | 'solve' | 'verify'> => {
  const usual = familyWords(family);
  return {
    family,
    // The words that are given come last: they may say `verify` in another way.
    words: { ...usual, solve: { ...usual.solve, maxNew }, ...words } as Wordings<V | 'solve' | 'verify'>,
    data: ['answer', 'generator', ...data],
    tasks,
    gate: () => ({ isHeldOut: family.isHeldOut, refuse: () => null }),
    said: (text) => (text.endsWith(family.stop) ? text.slice(0, -family.stop.length) : text),
    write,
    tests,
    reasoning: { lines: ({ steps }) => steps, write: beginning },
    blank: '',
    question: (task) => task,
    ...more,
  };
};

/** A proposer that writes a task from one prompt. */
export const freely = (family: TaskFamily): Wording<'propose'> => ({
  maxNew: family.maxNew.proposer,
  ask: () => family.proposerPrompt(),
  read: (text) => family.parseProposal(text),
});
