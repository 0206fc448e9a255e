/**
 * The outcome of a text: `ok`, or why it is no valid output of its role. Records, rewards, monitors and the page share these outcomes; a
 * task family's `invalid` results name one of them, so that an unknown reason is a type error.
 */
import * as v from 'valibot';

/** Every outcome, with what it means for the text. */
export const OUTCOMES = {
  ok: 'it is a valid output of its role',
  'cut-off': 'it was not ended within its tokens',
  'off-grammar': 'it does not keep to the grammar of its role',
  'held-out': 'it is a task of the held-out side: recorded, neither used nor trained on',
  duplicate: 'it repeats a task of its round',
  unsupported: 'what its proposer read does not lead a reader to the answer',
  'no-question': 'the episode ended without a question',
  'no-search': 'it asks without having searched',
  'gives-away': 'the question names its answer',
  'empty-query': 'it searches for nothing',
  'repeated-query': 'it searches twice for the same',
  'unknown-relation': 'it names a relation that does not exist',
  'type-clash': 'it asks for a relation that things of this kind do not have',
  'partial-steps': 'it writes steps, but not one for each operation',
  'partial-check': 'it writes a check, but not of each operation',
  miscopied: 'it misquotes what it is about',
  'verdict-count': 'it has no verdict for each step',
  contradiction: 'its last verdict does not follow from its verdicts on the steps',
  'too-long': 'it is longer than the rules allow',
  'too-large': 'a number is larger than the rules allow',
  'too-many-actions': 'the turn has more actions than are allowed',
  unbalanced: 'its brackets do not match',
  underflow: 'the program takes more from its list than there is',
  overflow: 'the program makes a number that is too large',
  memory: 'the program makes a list that is too long',
  fuel: 'the program does not end in time',
  undefined: 'the program has no result on an input that it is given',
  trivial: 'its goal is its start: there is nothing to derive',
  'input-count': 'it does not have as many inputs as are asked for',
  'repeated-input': 'it gives an input twice',
  'no-kind': 'it is no question of a kind that the family has',
  'no-whole-root': 'the equation has no whole root',
  'not-unique': 'the question has not exactly one answer',
  'not-derivable': 'the goal cannot be derived',
  'no-derivation': 'it writes no derivation',
  'repeated-rule': 'it has a rule twice',
  'idle-rule': 'it has a rule that changes nothing',
  'no-failing-test': 'the test that it names passes all the same',
  'idle-edit': 'one of its edits can be taken back without repairing a test',
  unvaried: 'its instances or their answers are too much alike',
  'near-copy': 'it is too like an environment that is known',
  'no-perfect-response': 'no response can have every point',
} as const;
export type Outcome = keyof typeof OUTCOMES;
/** Why a text is no valid output. */
export type InvalidOutcome = Exclude<Outcome, 'ok'>;

const isOutcome = (value: unknown): value is Outcome =>
  typeof value === 'string' && Object.hasOwn(OUTCOMES, value);

export const outcome = v.custom<Outcome>(
  isOutcome,
  'Expected an outcome that this version knows (core/schema/outcome.ts); the record may be of another version',
);
