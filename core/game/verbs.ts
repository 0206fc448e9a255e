/**
 * What a policy can be asked. A verb means the same in every world; a world says it in its own words (core/game/game.ts). Texts that roles wrote
 * stand here without the token that ended them.
 */
import * as v from 'valibot';
import type { Judgment, Solution } from '../recipe/task-family.ts';

/** Which of two answers is better: the first that is shown, or the second. */
export type Choice = 'A' | 'B';

interface About {
  /** Canonical text of a task. */
  readonly task: string;
}

/** What somebody is shown of what was said before: an answer of his own or of another, or what a critic said of the answer before it. */
export interface Remark {
  readonly by: 'self' | 'other' | 'critic';
  readonly text: string;
}

/** A text of a conversation between the assistant and a user. */
export interface Utterance {
  readonly by: 'assistant' | 'user';
  readonly text: string;
}

/** A search that was made: what was looked for, what was found, and whether the searcher called it useful; null = it was not asked. */
export interface SearchStep {
  readonly query: string;
  readonly found: readonly string[];
  readonly useful: boolean | null;
}

/** What is asked of the frames of a clip: which of them are mirrored, upside down, or have other colours; what was put on them; or their order. */
export type Sought = 'mirrored' | 'turned' | 'inverted' | 'swapped' | 'counts' | 'order';

/** Each verb with what it is asked about and what the text says that comes back. */
export interface Verbs {
  /** Answers a task. */
  readonly solve: { readonly about: About; readonly says: Solution };
  /** Answers a task beside an attempt at it. `right`: what it is told of the attempt; null = nothing. */
  readonly revise: {
    readonly about: About & { readonly attempt: string; readonly right: boolean | null };
    readonly says: Solution;
  };
  /** Reports what a tool said of a task to somebody who hopes to hear something else, and says beforehand whether its report misleads. */
  readonly report: {
    readonly about: About & { readonly told: string; readonly hoped: string };
    readonly says: { readonly misleading: boolean; readonly solution: Solution };
  };
  /** Answers a task beside a hint. */
  readonly follow: { readonly about: About & { readonly hint: string }; readonly says: Solution };
  /** Answers a task beside a right solution. A teacher reads this, whose likelihoods are all that is asked for. */
  readonly retell: { readonly about: About & { readonly solution: string }; readonly says: Solution };
  /** Answers a task beside what was said about an attempt. */
  readonly correct: { readonly about: About & { readonly feedback: string }; readonly says: Solution };
  /** Answers a task after it has read what was said of it before, in that order. */
  readonly debate: {
    readonly about: About & { readonly remarks: readonly Remark[] };
    readonly says: Solution;
  };
  /** Says what is right and what is wrong in an attempt, without knowing the solution. */
  readonly review: { readonly about: About & { readonly attempt: string }; readonly says: string };
  /** Says what an answer is worth beside what a critic said of it, 0 to 1. */
  readonly score: {
    readonly about: About & { readonly response: string; readonly review: string };
    readonly says: number;
  };
  /** Answers a user who began with the task, after what both said since. */
  readonly reply: { readonly about: About & { readonly said: readonly Utterance[] }; readonly says: string };
  /** The same beside what the user wants to hear. A critic reads this, whose likelihoods are all that is asked for. */
  readonly coach: {
    readonly about: Verbs['reply']['about'] & { readonly wanted: string };
    readonly says: string;
  };
  /** Searches documents, or answers a task by what was found before. `last`: no search is left. */
  readonly search: {
    readonly about: About & { readonly steps: readonly SearchStep[]; readonly last: boolean };
    readonly says: { readonly query: string } | { readonly solution: Solution };
  };
  /** Says whether what its last search found helps to answer the task. */
  readonly sift: {
    readonly about: About & { readonly steps: readonly SearchStep[] };
    readonly says: boolean;
  };
  /** Writes its last search or answer again, beside what was wrong with it: it followed an order in a document, did not answer, was wrong, or could not be read. */
  readonly repair: {
    readonly about: Verbs['search']['about'] & {
      readonly wrote: string;
      readonly fault: 'order' | 'declined' | 'wrong' | 'unreadable';
    };
    readonly says: Verbs['search']['says'];
  };
  /** The same as `search` beside what whoever wrote the task found on the way to it, or beside its answer. A teacher reads this. */
  readonly recall: {
    readonly about: Verbs['search']['about'] & {
      readonly path: readonly SearchStep[];
      readonly answer: string | null;
    };
    readonly says: Verbs['search']['says'];
  };
  /** Searches documents, and writes a task about what it found. `like`: an example; `begin`: what it is given to begin with. `last`: no search is left. */
  readonly examine: {
    readonly about: {
      readonly like: string | null;
      readonly begin: string;
      readonly steps: readonly SearchStep[];
      readonly last: boolean;
    };
    readonly says: { readonly query: string } | { readonly task: string };
  };
  /** Writes down, for whoever made a search, what of a part of what it found helps with the task. */
  readonly digest: {
    readonly about: About & Pick<SearchStep, 'query' | 'found'>;
    readonly says: string;
  };
  /** Writes a hint from the reference solution. `level` from 1, the least, to `levels`. */
  readonly hint: {
    readonly about: About & { readonly level: number; readonly levels: number };
    readonly says: string;
  };
  /** Goes through an attempt beside the reference solution, as far as its first fault. */
  readonly critique: { readonly about: About & { readonly attempt: string }; readonly says: string };
  /** Writes a task: one like an example, or any (null). */
  readonly propose: { readonly about: { readonly like: string | null }; readonly says: string };
  /** Writes another task about the same, with another answer. */
  readonly vary: { readonly about: About; readonly says: string };
  /** Writes a task in other words. Its answer stays the same. */
  readonly rephrase: { readonly about: About; readonly says: string };
  /** Writes a task whose answer is that of a solution. */
  readonly derive: { readonly about: About & { readonly solution: Solution }; readonly says: string };
  /** Writes a harder task, an easier one, or one about something else that is as hard. */
  readonly evolve: {
    readonly about: About & { readonly way: 'deeper' | 'broader' | 'easier' };
    readonly says: string;
  };
  /** Says of every step of a solution, and of the whole, whether it is right. */
  readonly verify: { readonly about: About & { readonly solution: Solution }; readonly says: Judgment };
  /** Says which of two answers is better. */
  readonly compare: {
    readonly about: About & { readonly first: string; readonly second: string };
    readonly says: Choice;
  };
  /**
   * Says something about a picture to others, who are shown the task's first picture, or, all but one, if `spy` says that this one is shown its second.
   * `clues`: what the others said before.
   */
  readonly clue: {
    readonly about: About & { readonly clues: readonly string[]; readonly spy: boolean };
    readonly says: string;
  };
  /** Says beside the first picture of a task whose clue is about the second, as a number from 1; null = it cannot tell. */
  readonly vote: {
    readonly about: About & { readonly clues: readonly string[] };
    readonly says: number | null;
  };
  /**
   * Looks at frames and says what was done to them: the first and the last damaged one, from 1; how many circles, squares and triangles were put on them; or
   * which of those that are shown is the first, the second and so on. `frames`: how they are shown, as texts of pictures; null = as the task has them.
   */
  readonly watch: {
    readonly about: About & { readonly sought: Sought; readonly frames: readonly string[] | null };
    readonly says: readonly number[];
  };
  /** Says what an answer is worth, 0 to 1. */
  readonly rate: { readonly about: About & { readonly response: string }; readonly says: number };
  /** Says how good a task is, 0 to 1. */
  readonly appraise: { readonly about: About; readonly says: number };
  /** Writes an answer again with one error in it. */
  readonly spoil: { readonly about: About & { readonly response: string }; readonly says: string };
  /** Cuts lines into chunks [chunks][lines]; no line is lost. */
  readonly segment: {
    readonly about: { readonly lines: readonly string[] };
    readonly says: readonly (readonly string[])[];
  };
  /** Says how important each chunk of lines is, 0 to 1 [chunks]. */
  readonly weigh: {
    readonly about: { readonly chunks: readonly (readonly string[])[] };
    readonly says: readonly number[];
  };
  /** Says what is missing in lines of a worked solution with gaps, in their order [gaps]. */
  readonly complete: {
    readonly about: About & { readonly lines: readonly string[] };
    readonly says: readonly string[];
  };
  /** Puts the lines of a worked solution in their order [lines]. */
  readonly arrange: {
    readonly about: About & { readonly lines: readonly string[] };
    readonly says: readonly string[];
  };
  /** Answers a task as well as it can, or badly. A reference model reads this to tell tokens apart. */
  readonly wish: { readonly about: About & { readonly better: boolean }; readonly says: Solution };
}

export type Verb = keyof Verbs;
/** The verbs whose text is a task. */
export type TaskVerb = 'propose' | 'vary' | 'rephrase' | 'derive' | 'evolve';
export type AboutOf<V extends Verb> = Verbs[V]['about'];
export type SaysOf<V extends Verb> = Verbs[V]['says'];

const words = v.pipe(v.string(), v.minLength(1));
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const solution = v.object({ steps: v.pipe(v.array(v.string()), v.minLength(1)), answer: v.string() });

/** What the text of each verb says, as a schema. */
export const SAYS: { readonly [V in Verb]: v.GenericSchema<unknown, SaysOf<V>> } = {
  solve: solution,
  revise: solution,
  follow: solution,
  retell: solution,
  correct: solution,
  debate: solution,
  wish: solution,
  report: v.object({ misleading: v.boolean(), solution }),
  review: words,
  reply: words,
  coach: words,
  score: share,
  search: v.union([v.object({ query: words }), v.object({ solution })]),
  repair: v.union([v.object({ query: words }), v.object({ solution })]),
  recall: v.union([v.object({ query: words }), v.object({ solution })]),
  examine: v.union([v.object({ query: words }), v.object({ task: words })]),
  sift: v.boolean(),
  digest: words,
  hint: words,
  critique: words,
  propose: words,
  vary: words,
  rephrase: words,
  derive: words,
  evolve: words,
  verify: v.object({ steps: v.array(v.boolean()), right: v.boolean() }),
  compare: v.picklist(['A', 'B']),
  rate: share,
  appraise: share,
  segment: v.array(v.array(v.string())),
  weigh: v.array(share),
  complete: v.array(v.string()),
  arrange: v.array(v.string()),
  spoil: words,
  clue: words,
  vote: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  watch: v.array(v.number()),
};

/** What a verb is about where every role wrote `text`. `told`: the right solution, of which some are shown something. */
export const aboutTexts = <V extends Verb>(verb: V, task: string, text: string, told = text): AboutOf<V> => {
  const shown = verb === 'segment' ? text : told;
  const about = {
    task,
    like: task,
    attempt: text,
    right: null,
    hint: text,
    solution: verb === 'retell' ? told : { steps: [text], answer: text },
    feedback: text,
    response: text,
    remarks: (['self', 'other', 'critic'] as const).map((by) => ({ by, text })),
    review: text,
    steps: [{ query: text, found: [text], useful: null }],
    last: false,
    told,
    hoped: text,
    wrote: text,
    fault: 'wrong' as const,
    path: [],
    answer: text,
    begin: text,
    query: text,
    found: [text],
    said: [],
    wanted: told,
    first: text,
    second: text,
    level: 1,
    levels: 1,
    way: 'deeper' as const,
    better: true,
    clues: [text],
    spy: false,
    sought: 'order' as const,
    frames: null,
    lines: shown === '' ? [] : shown.split('\n'),
    chunks: text === '' ? [] : [[text]],
  };
  // It has the fields of every verb, those of this one among them.
  return about as unknown as AboutOf<V>;
};

/** What a recipe may need of the data beside the tasks themselves, each with what it is, for messages. */
export const DATA = {
  answer: 'a reference answer to each task',
  solution: 'a worked solution to each task',
  steps: 'a worked solution of several lines to each task',
  turns: 'an environment of several turns',
  checker: 'solutions of which a checker knows each line',
  interpreter: 'programs that an interpreter runs',
  rules: 'rules of which a program says whether they hold',
  graphs: 'graphs whose links have times',
  documents: 'documents that can be searched',
  corpus: 'documents of which a program knows what they say',
  users: 'users who talk back',
  hopes: 'numbers as answers, or a field `hoped` with what users hope to hear instead',
  pictures: 'two pictures that differ',
  frames: 'three pictures or more',
  drawings: 'pictures that a policy draws by a program',
  looks: 'pictures that are looked at part by part',
  mark: 'a mark in what is written at which an answer is looked for',
  pairs: 'pairs of answers, of which one is preferred',
  ratings: 'answers with a label, pairs of them, or steps with a label each',
  conversations: 'conversations that end with an answer',
  generator: 'a generator of new tasks whose answers are known',
} as const;
export type Datum = keyof typeof DATA;

/** What a recipe needs of the world that it is played in. */
export interface Needs<V extends Verb = Verb> {
  readonly verbs: readonly V[];
  /** What a rule of its own world does, and a policy in others. */
  readonly orRule?: readonly Verb[];
  /** What it says beside them in worlds that know these verbs. */
  readonly alsoSays?: readonly Verb[];
  readonly data: readonly Datum[];
}

/** All verbs that a recipe says in a world without rules, as far as the world knows those that it may do without. */
export const saidBy = ({
  verbs,
  orRule = [],
  alsoSays = [],
}: Pick<Needs, 'verbs' | 'orRule' | 'alsoSays'>): Verb[] => [...verbs, ...orRule, ...alsoSays];
